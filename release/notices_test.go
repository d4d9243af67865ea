package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// An archive has the licence of every module that is linked into its program.
func TestArchiveHasLicences(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	t.Chdir("..")
	dist := t.TempDir()
	p := platform{runtime.GOOS, runtime.GOARCH}
	name, err := pack(t.Context(), p, "v0", dist, made, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, filepath.Join(dist, name))
	var program []byte
	for name, content := range files {
		if strings.HasPrefix(filepath.Base(name), "ken") && !strings.Contains(name, noticesName) {
			program = content
		}
	}
	built, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatalf("read the modules of the packed program: %v", err)
	}
	text := string(files["ken_0_"+p.os+"_"+p.arch+"/"+noticesName])
	if len(built.Deps) < 10 || text == "" {
		t.Fatalf("%d modules are linked, and %s has %d bytes; expected more", len(built.Deps), noticesName, len(text))
	}
	for _, m := range built.Deps {
		if !strings.Contains(text, "\n"+m.Path+" "+m.Version+": ") {
			t.Errorf("%s has no licence of %s %s", noticesName, m.Path, m.Version)
		}
		if !strings.Contains(text, "https://pkg.go.dev/"+m.Path+"@"+m.Version+"\n") {
			t.Errorf("%s does not say where the source of %s is", noticesName, m.Path)
		}
	}
	for _, part := range []string{"Mozilla Public License", "Copyright 2009 The Go Authors", "LICENSE-SQLITE"} {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q", noticesName, part)
		}
	}
}

func TestLicences(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"README.md", "copyright_test.go", "license.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := licences(dir); err == nil {
		t.Errorf("the licence files are %q; expected an error, since there is none", names)
	}
	want := []string{"COPYING", "LICENSE-SQLITE", "License.txt", "NOTICE"}
	for _, name := range want {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := licences(dir); err != nil || strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the licence files are %q, %v; expected %q", names, err, want)
	}
}

// unpack returns the files of an archive.
func unpack(t *testing.T, name string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.OpenReader(name)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = readAll(t, r)
			r.Close()
		}
		return files
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[head.Name] = readAll(t, r)
	}
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
