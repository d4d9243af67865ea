package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"
)

// A file is one of an archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

// tarred writes files below a directory as a compressed tar.
func tarred(dir string, files []file, made time.Time) func(*os.File) error {
	return func(to *os.File) error {
		z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
		if err != nil {
			return err
		}
		t := tar.NewWriter(z)
		for _, f := range files {
			head := &tar.Header{Name: path.Join(dir, f.name), Mode: f.mode, Size: int64(len(f.content)), ModTime: made.UTC(), Format: tar.FormatUSTAR}
			if err := t.WriteHeader(head); err != nil {
				return err
			}
			if _, err := t.Write(f.content); err != nil {
				return err
			}
		}
		return errors.Join(t.Close(), z.Close())
	}
}

// zipped writes files below a directory as a zip.
func zipped(dir string, files []file, made time.Time) func(*os.File) error {
	return func(to *os.File) error {
		z := zip.NewWriter(to)
		for _, f := range files {
			head := &zip.FileHeader{Name: path.Join(dir, f.name), Method: zip.Deflate, Modified: made.UTC()}
			head.SetMode(os.FileMode(f.mode))
			w, err := z.CreateHeader(head)
			if err != nil {
				return err
			}
			if _, err := w.Write(f.content); err != nil {
				return err
			}
		}
		return z.Close()
	}
}

// sums writes SHA256SUMS, in the form that sha256sum checks.
func sums(dir string, names []string) error {
	var list []byte
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		list = fmt.Appendf(list, "%x  %s\n", h.Sum(nil), name)
	}
	return write(filepath.Join(dir, "SHA256SUMS"), func(f *os.File) error {
		_, err := f.Write(list)
		return err
	})
}
