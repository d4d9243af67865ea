package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
)

// stats hashes the stats of files.
type stats struct {
	sum  hash.Hash
	dirs []string // the directories of the files
}

func newStats() *stats { return &stats{sum: sha256.New()} }

func (s *stats) digest() string { return hex.EncodeToString(s.sum.Sum(nil)) }

func (s *stats) add(name string, info fs.FileInfo) {
	fmt.Fprintf(s.sum, "%q %d %d %o\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
}

// addFile adds the stat of a file, or its absence.
func (s *stats) addFile(name string) {
	s.dirs = append(s.dirs, filepath.Dir(name))
	info, err := os.Lstat(name)
	if err != nil {
		fmt.Fprintf(s.sum, "%q: none\n", name)
		return
	}
	s.add(name, info)
}

// addDir adds the stats of the entries of a directory.
func (s *stats) addDir(dir string) {
	s.dirs = append(s.dirs, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		fmt.Fprintf(s.sum, "%q: %t\n", dir, os.IsNotExist(err))
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			s.add(e.Name(), info)
		}
	}
}

// addTree adds the stats of everything below a directory.
func (s *stats) addTree(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(s.sum, "%q: %v\n", path, err)
			return nil
		}
		if d.IsDir() {
			s.dirs = append(s.dirs, path)
		}
		if info, err := d.Info(); err == nil {
			s.add(path, info)
		}
		return nil
	})
}
