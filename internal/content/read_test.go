package content_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ken/internal/content"
	"ken/internal/repo"
)

const buffer = 128 << 10 // bufferSize of the package

func TestReadAgreesWithGit(t *testing.T) {
	for _, format := range []struct {
		name string
		is   repo.ObjectFormat
	}{{"sha1", repo.SHA1}, {"sha256", repo.SHA256}} {
		t.Run(format.name, func(t *testing.T) {
			root := t.TempDir()
			git(t, root, "", "init", "-q", "--object-format="+format.name)
			texts := map[string]string{
				"empty": "", "one": "x", "dir/a\nb": "newline", `dir/"quoted"`: "quote", "dir/b\xff\xfe": "bytes",
				"dir/ space": " ", "ünïcode": "é",
			}
			for _, n := range []int{buffer - 1, buffer, buffer + 1, 2 * buffer, 3*buffer + 7} {
				texts[fmt.Sprint("size", n)] = strings.Repeat("0123456789abcde\n", n/16+1)[:n]
			}
			var wants []repo.ReadRequest
			for name, text := range texts {
				write(t, root, name, text)
				wants = append(wants, repo.ReadRequest{Path: repo.Path(name)})
			}
			got, err := content.Open(root, content.Options{Format: format.is, Now: later}).Read(t.Context(), wants)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range got {
				text := texts[string(wants[i].Path)]
				if g.Err != nil {
					t.Errorf("reading %s gave the error %v", wants[i].Path, g.Err)
				}
				if want := (repo.Content{ID: blob(t, root, text), MD5: sumOf(text)}); g.Raw != want {
					t.Errorf("the content of %s is %v; want %v", wants[i].Path, g.Raw, want)
				}
				if g.Size != int64(len(text)) || g.CRLF || !g.Converted.IsZero() {
					t.Errorf("%s: size %d, crlf %v, converted %v", wants[i].Path, g.Size, g.CRLF, g.Converted)
				}
				if g.Found != stat(t, root, string(wants[i].Path))[0] {
					t.Errorf("reading %s found %v; want the same as Stat", wants[i].Path, g.Found)
				}
			}
		})
	}
}

func TestReadLinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret", "s")
	write(t, root, "real/file", "f")
	for name, target := range map[string]string{
		"out": filepath.Join(outside, "secret"), "outdir": outside, "todir": "real", "loop": "loop", "crlf": "a\r\nb", "dangling": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		g := readOne(t, root, name, repo.ConvertText)
		if want := (repo.Content{ID: blob(t, root, target), MD5: sumOf(target)}); g.Err != nil || g.Raw != want {
			t.Errorf("%s: %v, %v, want the content of its target text", name, g.Raw, g.Err)
		}
		if g.Kind != repo.KindSymlink || g.Found.Presence != repo.Link || g.Found.Stat.IsZero() || !g.Converted.IsZero() {
			t.Errorf("reading the link %s gave %+v; want a symlink with its stat, not converted", name, g)
		}
	}
	for _, name := range []string{"outdir/secret", "todir/file", "loop/x", "real/file/x", "real/none", "none/x"} {
		g := readOne(t, root, name, repo.ConvertNone)
		if g.Found.Presence != repo.Absent || !errors.Is(g.Err, fs.ErrNotExist) || !g.Raw.ID.IsZero() {
			t.Errorf("%s: %+v, want absent", name, g)
		}
	}
	for _, name := range []string{"../x", "real/../real/file", ""} {
		if g := readOne(t, root, name, repo.ConvertNone); g.Found.Presence != repo.Unreadable || g.Err == nil || errors.Is(g.Err, fs.ErrNotExist) {
			t.Errorf("%q: %+v, want an error", name, g)
		}
	}
	if g := readOne(t, root, "real", repo.ConvertNone); g.Found.Presence != repo.Directory || g.Err == nil {
		t.Errorf("reading a directory gave %+v; want an error", g)
	}
}

// An unreadable file does not affect the other results.
func TestReadAfterUnreadableFile(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "a")
	write(t, root, "c", "c")
	got, err := content.Open(root, content.Options{}).Read(t.Context(), []repo.ReadRequest{{Path: "a"}, {Path: "b"}, {Path: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Raw.MD5 != sumOf("a") || got[1].Err == nil || got[2].Raw.MD5 != sumOf("c") {
		t.Errorf("Read returned %+v; want a and c read, and an error for b", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := content.Open(root, content.Options{}).Read(ctx, []repo.ReadRequest{{Path: "a"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Read with a cancelled context returned the error %v; want the cancellation", err)
	}
}

func TestRacyRule(t *testing.T) {
	root := t.TempDir()
	write(t, root, "f", "x")
	s := stat(t, root, "f")[0].Stat
	stamped := time.Unix(0, max(s.Mtime, s.Ctime))
	for _, c := range []struct {
		name    string
		now     time.Time
		trusted bool
	}{
		{"stamped this instant", stamped, false},
		{"a second ago", stamped.Add(time.Second), false},
		{"two seconds ago", stamped.Add(2 * time.Second), false},
		{"longer ago", stamped.Add(2*time.Second + 1), true},
		{"in the future", stamped.Add(-time.Hour), false},
	} {
		got, err := content.Open(root, content.Options{Now: func() time.Time { return c.now }}).Read(t.Context(), []repo.ReadRequest{{Path: "f"}})
		if err != nil || got[0].Err != nil {
			t.Fatalf("%s: Read returned the errors %v, %v", c.name, err, got[0].Err)
		}
		if trusted := got[0].Found.Stat == s; trusted != c.trusted || !trusted && !got[0].Found.Stat.IsZero() {
			t.Errorf("%s: the stat is %v; it should be trusted: %t", c.name, got[0].Found.Stat, c.trusted)
		}
	}
	// The mtime is in the future and the ctime is old.
	ahead := time.Now().Add(2 * time.Hour)
	if err := os.Chtimes(filepath.Join(root, "f"), ahead, ahead); err != nil {
		t.Fatal(err)
	}
	if g := readOne(t, root, "f", repo.ConvertNone); g.Err != nil || !g.Found.Stat.IsZero() {
		t.Errorf("mtime in the future: %+v", g)
	}
	// The mtime is old, but the file is racy by its ctime.
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(root, "f"), old, old); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" { // Windows has no ctime
		got, err := content.Open(root, content.Options{}).Read(t.Context(), []repo.ReadRequest{{Path: "f"}})
		if err != nil || !got[0].Found.Stat.IsZero() {
			t.Errorf("old mtime: %v, stat %v", err, got[0].Found.Stat)
		}
	}
}

// A hookContext calls a function on every call of Err. A reader calls Err between two pieces of a file.
type hookContext struct {
	context.Context
	meddle func()
}

func (h hookContext) Err() error {
	h.meddle()
	return h.Context.Err()
}

// A file that is written to throughout is an error. If the writer stops, Read returns the final content.
func TestReadWhileWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		stop int // the attempt before which the writer stops
	}{{"throughout", 4}, {"for a while", 3}} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			text := strings.Repeat("0123456789abcde\n", 3*buffer/16)
			write(t, root, "f", text)
			f, err := os.OpenFile(filepath.Join(root, "f"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			try := 0
			tree := content.Open(root, content.Options{Now: func() time.Time { try++; return later() }})
			ctx := hookContext{t.Context(), func() {
				if try > 0 && try < c.stop {
					text += "more\n"
					if _, err := f.WriteString("more\n"); err != nil {
						t.Error(err)
					}
				}
			}}
			got, err := tree.Read(ctx, []repo.ReadRequest{{Path: "f"}})
			if err != nil {
				t.Fatal(err)
			}
			g := got[0]
			if try != 3 {
				t.Errorf("the file was read %d times; want 3", try)
			}
			if c.stop > 3 {
				if g.Err == nil || !strings.Contains(g.Err.Error(), "changed while being read") || g.Raw != (repo.Content{}) || !g.Found.Stat.IsZero() {
					t.Errorf("reading a file that keeps changing gave %+v; want an error and no content", g)
				}
			} else if g.Err != nil || g.Raw.MD5 != sumOf(text) || g.Size != int64(len(text)) {
				t.Errorf("reading gave %+v; want the last content of %d bytes", g, len(text))
			}
		})
	}
}

// A change that keeps the size is detected by the mtime.
func TestReadWhileOverwritten(t *testing.T) {
	root := t.TempDir()
	write(t, root, "f", strings.Repeat("0123456789abcde\n", 3*buffer/16))
	full := filepath.Join(root, "f")
	stamp := time.Now().Add(-time.Hour)
	ctx := hookContext{t.Context(), func() {
		stamp = stamp.Add(time.Second)
		if err := os.Chtimes(full, stamp, stamp); err != nil {
			t.Error(err)
		}
	}}
	got, err := content.Open(root, content.Options{}).Read(ctx, []repo.ReadRequest{{Path: "f"}})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Err == nil || got[0].Raw != (repo.Content{}) {
		t.Errorf("reading gave %+v; want an error and no content", got[0])
	}
}

// Reading a large file needs little memory.
func TestReadStreams(t *testing.T) {
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "big"))
	if err != nil {
		t.Fatal(err)
	}
	const size = 256 << 20
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g := readOne(t, root, "big", repo.ConvertAuto)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("allocated %d bytes for a file of %d", grown, size)
	}
	if want := gitIDs(t, root, []string{"big"})[0]; g.Raw.ID != want || g.Size != size || g.Kind != repo.KindBinary {
		t.Errorf("%+v, want id %v", g, want)
	}
}

// The id of any mixture of line endings and control bytes is that of git, with text and text=auto, and with
// a CR at the end of the buffer.
func TestConversionAgreesWithGit(t *testing.T) {
	root := t.TempDir()
	git(t, root, "", "init", "-q")
	write(t, root, ".gitattributes", "*.text text\n*.auto text=auto\n*.none -text\n")
	var names, texts []string
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\r\n", "\r", "\n", "\r\r\n", "\r\n\r\n", "a", "line of text, long enough to weigh\r\n", "\x1a", "\x7f", "\x00", "\t\b\x1b\f", "\x01", "\xff\xfe"}),
		rapid.StringMatching(`[a-z]{1,200}`),
	)
	crlf := rapid.SampledFrom([]string{"\r\n", "line\r\n", strings.Repeat("plain text ", 20) + "\r\n", "x"})
	rapid.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(crlf, 0, 12).Draw(r, "text")
		if rapid.Bool().Draw(r, "odd") {
			pieces = append(pieces, rapid.SliceOfN(piece, 0, 12).Draw(r, "odd pieces")...)
		}
		text := strings.Join(pieces, "")
		if rapid.IntRange(0, 9).Draw(r, "size") == 0 { // exceed the buffer
			at := rapid.IntRange(-3, 3).Draw(r, "edge")
			pad := max(0, buffer-len(text)/2+at)
			text = strings.Repeat("0123456789abcde\n", pad/16+1)[:pad] + text
		}
		if rapid.Bool().Draw(r, "eof") {
			text += "\x1a"
		}
		texts = append(texts, text)
	})
	// Test the end of the buffer in any case.
	for _, end := range []string{"\r\n", "\r", "\rx\r\n", "\r\r\n", "\n"} {
		for back := range 3 {
			for _, tail := range []string{"", "tail\r\n", strings.Repeat("t", buffer) + "\r\n"} {
				texts = append(texts, strings.Repeat("y", buffer-back)+end+tail)
			}
		}
	}
	var wants []repo.ReadRequest
	var at []int
	for i, text := range texts {
		for _, c := range []struct {
			ext  string
			conv repo.Convert
		}{{"text", repo.ConvertText}, {"auto", repo.ConvertAuto}, {"none", repo.ConvertNone}} {
			name := fmt.Sprintf("f%d.%s", i, c.ext)
			write(t, root, name, text)
			names, at = append(names, name), append(at, i)
			wants = append(wants, repo.ReadRequest{Path: repo.Path(name), Convert: c.conv})
		}
	}
	got, err := content.Open(root, content.Options{}).Read(t.Context(), wants)
	if err != nil {
		t.Fatal(err)
	}
	converted := 0
	for i, want := range gitIDs(t, root, names) {
		g, text := got[i], texts[at[i]]
		id := g.Raw.ID
		if !g.Converted.IsZero() {
			converted++
			if id == g.Converted {
				t.Errorf("%s: the converted id equals the raw id", names[i])
			}
			id = g.Converted
		}
		if g.Err != nil || id != want {
			t.Fatalf("%s: %v (%v), git says %v for %.200q", names[i], id, g.Err, want, text)
		}
		if g.CRLF != strings.Contains(text, "\r\n") || g.Raw.MD5 != sumOf(text) {
			t.Fatalf("%s: crlf %v, md5 %v for %.200q", names[i], g.CRLF, g.Raw.MD5, text)
		}
	}
	t.Logf("%d texts, %d conversions", len(texts), converted)
	if converted < len(texts)/2 {
		t.Errorf("only %d conversions: the random texts cover too little", converted)
	}
}
