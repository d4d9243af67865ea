package git

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/git/objects"
	"ken/internal/repo"
	"ken/internal/testrepo"
)

// Blobs returns the requested contents, and the beginning of a large one.
func TestBlobs(t *testing.T) {
	r := testrepo.New(t)
	texts := []string{"", "\n", "one", "two\nlines\n", "a blob 3\nabc\n", strings.Repeat("x", objects.MaxBlob), strings.Repeat("y", objects.MaxBlob+1), strings.Repeat("z", 2*objects.MaxBlob) + "\n"}
	var ids []repo.ID
	for i, text := range texts {
		name := string(rune('a' + i))
		r.Write(name, text)
		ids = append(ids, repo.SHA1.Blob([]byte(text)))
	}
	r.Commit("all")
	g, err := Open(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Blobs(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if want := text[:min(len(text), objects.MaxBlob)]; string(got[i]) != want {
			t.Errorf("Blobs returned %d bytes of a content of %d bytes", len(got[i]), len(text))
		}
	}
	if _, err := g.Blobs(t.Context(), []repo.ID{ids[0], repo.SHA1.Blob([]byte("absent"))}); err == nil {
		t.Error("Blobs returned no error for a missing content")
	}
	commit, err := repo.ParseID(strings.TrimSpace(r.Git("rev-parse", "HEAD")))
	if err != nil {
		t.Fatal(err)
	}
	asked := []repo.ID{ids[3], commit, ids[0], repo.SHA1.Blob([]byte("absent")), ids[2], ids[6]}
	var reported []string
	err = g.EachBlob(t.Context(), asked, func(i int, content []byte, size int64) {
		reported = append(reported, fmt.Sprintf("%d %q %t %d", i, content[:min(len(content), 20)], content == nil, size-int64(len(content))))
	})
	if want := `0 "two\nlines\n" false 0, 1 "" true -1, 2 "" false 0, 3 "" true -1, 4 "one" false 0, 5 "yyyyyyyyyyyyyyyyyyyy" false 1`; err != nil || strings.Join(reported, ", ") != want {
		t.Errorf("EachBlob reported %q, %v", reported, err)
	}
}

// EachBlob reports the missing contents of a partial clone in order, and fetches nothing.
func TestEachBlobPartial(t *testing.T) {
	r := testrepo.New(t)
	r.Git("config", "uploadpack.allowFilter", "true")
	var ids []repo.ID
	for i, text := range []string{"one\n", "two\n", "three\n"} {
		r.Write("a", text)
		r.Write("b", "same\n")
		r.Commit(fmt.Sprint(i))
		ids = append(ids, repo.SHA1.Blob([]byte(text)))
	}
	ids = append(ids, repo.SHA1.Blob([]byte("same\n")), ids[0])
	clone := r.Clone("--filter=blob:none")
	g, err := Open(t.Context(), clone.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first call must not fetch either
		var reported []string
		err = g.EachBlob(t.Context(), ids, func(i int, content []byte, size int64) {
			reported = append(reported, fmt.Sprintf("%d %q %d", i, content, size))
		})
		if want := `0 "" -1, 1 "" -1, 2 "three\n" 6, 3 "same\n" 5, 4 "" -1`; err != nil || strings.Join(reported, ", ") != want {
			t.Errorf("EachBlob reported %q, %v", reported, err)
		}
	}
}
