package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"ken/internal/repo"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

const cacheLimit = 64 << 20

func openCache(t testing.TB, path string, limit int64) *sqlite.Cache {
	t.Helper()
	c := sqlite.OpenCache(path, limit)
	t.Cleanup(c.Close)
	return c
}

func cachePath(t testing.TB) string {
	t.Helper()
	return filepath.Join(storetest.Dir(t), "cache", "outlines.db")
}

type bodies = map[repo.ID][]byte

func saves(t testing.TB, c *sqlite.Cache, maker string, made bodies) {
	t.Helper()
	if err := c.Save(t.Context(), maker, made); err != nil {
		t.Fatalf("Save returned the error %v", err)
	}
}

// loads verifies the entries for the contents of some texts.
func loads(t testing.TB, c *sqlite.Cache, maker string, want bodies, texts ...string) {
	t.Helper()
	var ids []repo.ID
	for _, text := range texts {
		ids = append(ids, storetest.ID(text))
	}
	got, err := c.Load(t.Context(), maker, ids)
	if err != nil || got == nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("entries for %v by %s: %q, %v; want %q", texts, maker, got, err, want)
	}
}

func one(text, body string) bodies { return bodies{storetest.ID(text): []byte(body)} }

func TestCache(t *testing.T) {
	path := cachePath(t)
	c := openCache(t, path, cacheLimit)
	loads(t, c, "m", nil, "a")
	saves(t, c, "m", nil)
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("loading created %s: %v", filepath.Dir(path), err)
	}
	saves(t, c, "m", bodies{storetest.ID("a"): []byte("A"), storetest.ID("b"): {}, {}: []byte("of nothing")})
	saves(t, c, "another", one("a", "another's"))
	for range 2 {
		loads(t, c, "m", bodies{storetest.ID("a"): []byte("A"), storetest.ID("b"): {}}, "a", "b", "c", "a")
		loads(t, c, "another", one("a", "another's"), "a", "b")
		loads(t, c, "nobody", nil, "a")
		loads(t, c, "m", nil)
		c.Close() // the next call opens it again
	}
	saves(t, c, "m", one("a", "better"))
	loads(t, c, "m", one("a", "better"), "a")

	long := storetest.ID256("a")
	saves(t, c, "m", bodies{long: []byte("by sha256")})
	if got, err := c.Load(t.Context(), "m", []repo.ID{long, {}}); err != nil || len(got) != 1 || string(got[long]) != "by sha256" {
		t.Errorf("Load returned %q, %v; want one body, by its sha256 id", got, err)
	}
	if got := shell(t, path, "PRAGMA journal_mode; PRAGMA user_version; PRAGMA integrity_check"); got != "wal\n2\nok" {
		t.Errorf("settings are %q", got)
	}
}

func TestCacheManyAtOnce(t *testing.T) {
	c := openCache(t, cachePath(t), cacheLimit)
	made, ids := benchOutlines(10_000, 0)
	saves(t, c, "m", made)
	got, err := c.Load(t.Context(), "m", ids)
	if err != nil || !reflect.DeepEqual(got, made) {
		t.Errorf("Load returned %d of %d outlines, %v", len(got), len(made), err)
	}
}

// A cache with a damaged file is empty, and Save replaces the file.
func TestCacheDamaged(t *testing.T) {
	whole := cachePath(t)
	c := openCache(t, whole, cacheLimit)
	made, ids := benchOutlines(2000, 0)
	saves(t, c, "m", made)
	c.Close()
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	noise := bytes.Repeat([]byte("\xde\xad"), len(good)/2)
	for name, damage := range map[string]func(path string) error{
		"another file":  func(path string) error { return os.WriteFile(path, []byte("not a database\n"), 0o666) },
		"noise":         func(path string) error { return os.WriteFile(path, noise, 0o666) },
		"an empty file": func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"truncated":     func(path string) error { return os.WriteFile(path, good[:len(good)/2], 0o666) },
		"cut in a page": func(path string) error { return os.WriteFile(path, good[:5000], 0o666) },
		"zeros": func(path string) error {
			return os.WriteFile(path, append(good[:4096:4096], make([]byte, len(good)-4096)...), 0o666)
		},
		"a noisy tail": func(path string) error { return os.WriteFile(path, append(good[:8192:8192], noise[8192:]...), 0o666) },
		"a noisy log": func(path string) error {
			return errors.Join(os.WriteFile(path, good, 0o666), os.WriteFile(path+"-wal", noise, 0o666))
		},
		"a newer one":      func(path string) error { shell(t, path, "PRAGMA user_version = 3"); return nil },
		"another's":        func(path string) error { shell(t, path, "PRAGMA application_id = 42"); return nil },
		"no tables":        func(path string) error { shell(t, path, "DROP TABLE made; DROP TABLE maker"); return nil },
		"a missing table":  func(path string) error { shell(t, path, "DROP TABLE made"); return nil },
		"a database of no": func(path string) error { os.Remove(path); shell(t, path, "CREATE TABLE t (x)"); return nil },
		"removed":          func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		for _, open := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, open %v", name, open), func(t *testing.T) {
				path := cachePath(t)
				c := openCache(t, path, cacheLimit)
				saves(t, c, "m", made)
				if !open {
					c.Close()
				}
				if err := damage(path); err != nil {
					t.Fatal(err)
				}
				got, err := c.Load(t.Context(), "m", ids)
				if err != nil {
					t.Errorf("Load returned the error %v", err)
				}
				for id, body := range got {
					if !bytes.Equal(body, made[id]) {
						t.Fatalf("the entry for %s is %q", id, body)
					}
				}
				saves(t, c, "m", one("a", "A"))
				saves(t, c, "m", one("b", "B"))
				loads(t, c, "m", one("b", "B"), "b")
				c.Close()
				loads(t, c, "m", one("b", "B"), "b")
				if got := shell(t, path, "PRAGMA integrity_check"); got != "ok" && !open {
					t.Errorf("PRAGMA integrity_check returned %q; want ok", got)
				}
			})
		}
	}
}

// The cache ignores entries with a wrong checksum.
func TestCacheChecksums(t *testing.T) {
	path := cachePath(t)
	for _, damage := range []string{
		"UPDATE made SET body = 'B'", "UPDATE made SET body = ''", "UPDATE made SET sum = sum + 1",
		"UPDATE maker SET name = CASE name WHEN 'm' THEN 'n' END",
	} {
		c := openCache(t, path, cacheLimit)
		saves(t, c, "m", one("a", "A"))
		loads(t, c, "m", one("a", "A"), "a")
		c.Close()
		shell(t, path, damage)
		loads(t, c, "m", nil, "a")
		loads(t, c, "n", nil, "a")
		saves(t, c, "m", one("a", "A"))
		loads(t, c, "m", one("a", "A"), "a")
		shell(t, path, "DELETE FROM maker; DELETE FROM made")
	}
}

// A cache whose file cannot be created stores nothing and returns no error.
func TestCacheCannotCreateFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "file", "outlines.db"), "/dev/null/outlines.db", strings.Repeat("x", 5000)} {
		c := openCache(t, path, cacheLimit)
		saves(t, c, "m", one("a", "A"))
		loads(t, c, "m", nil, "a")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v; want one entry", entries, err)
	}
}

// The file does not exceed its limit, and the oldest entries are deleted first.
func TestCacheLimit(t *testing.T) {
	const limit = 4 << 20
	path := cachePath(t)
	c := openCache(t, path, limit)
	for round := range 30 { // 30 MB
		made, ids := benchOutlines(1000, round)
		made[storetest.ID("too large")] = make([]byte, limit/16+1)
		saves(t, c, "m", made)
		got, err := c.Load(t.Context(), "m", ids)
		if err != nil || len(got) != 1000 {
			t.Fatalf("round %d: Load returned %d outlines, %v; want 1000", round, len(got), err)
		}
	}
	loads(t, c, "m", nil, "too large")
	_, oldest := benchOutlines(1000, 0)
	if got, err := c.Load(t.Context(), "m", oldest); err != nil || len(got) != 0 {
		t.Errorf("%d of the oldest entries are left, %v", len(got), err)
	}
	_, before := benchOutlines(1000, 28)
	if got, err := c.Load(t.Context(), "m", before); err != nil || len(got) != 1000 {
		t.Errorf("%d entries of the round before the last are left, %v", len(got), err)
	}
	c.Close()
	if file, err := os.Stat(path); err != nil || file.Size() > limit+2<<20 {
		t.Errorf("the file has %d bytes, %v", file.Size(), err)
	}
}

// Several processes can use the cache at the same time, even while it is replaced.
func TestCacheConcurrent(t *testing.T) {
	for _, damage := range []bool{false, true} {
		t.Run(fmt.Sprintf("damaged %v", damage), func(t *testing.T) {
			path := cachePath(t)
			if damage {
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, bytes.Repeat([]byte("noise"), 5000), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var all sync.WaitGroup
			for k := range 4 {
				all.Go(func() {
					c := sqlite.OpenCache(path, cacheLimit)
					defer c.Close()
					for i := range 20 {
						text := fmt.Sprint(k, " ", i)
						saves(t, c, "m", one(text, "body of "+text))
						got, err := c.Load(t.Context(), "m", []repo.ID{storetest.ID(text)})
						if body, ok := got[storetest.ID(text)]; err != nil || ok && string(body) != "body of "+text || !ok && !damage {
							t.Errorf("Load of %q returned %q, %v; want its body", text, got, err)
						}
					}
				})
			}
			all.Wait()
			c := openCache(t, path, cacheLimit)
			saves(t, c, "m", one("at last", "A"))
			loads(t, c, "m", one("at last", "A"), "at last")
		})
	}
}

func TestCacheCancelled(t *testing.T) {
	c := openCache(t, cachePath(t), cacheLimit)
	saves(t, c, "m", one("a", "A"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Load(ctx, "m", []repo.ID{storetest.ID("a")}); !errors.Is(err, context.Canceled) {
		t.Errorf("Load returned the error %v; want the cancellation", err)
	}
	if err := c.Save(ctx, "m", one("b", "B")); !errors.Is(err, context.Canceled) {
		t.Errorf("Save returned the error %v; want the cancellation", err)
	}
	loads(t, c, "m", one("a", "A"), "a", "b")
}
