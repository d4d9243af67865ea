package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Memory is a file in which the client of an agent keeps what it remembers about a repository. Git does not track it.
type Memory struct {
	Client  string // claude, codex, serena
	File    string // absolute
	Content []byte
	Time    time.Time // of its last change
	Err     error     // why it could not be read
}

// Path returns the file with slashes, which begins with one on every system: no tracked file has such a path.
func (m *Memory) Path() string { return "/" + strings.TrimPrefix(filepath.ToSlash(m.File), "/") }

// Limits on the memories of one client.
const (
	maxMemories    = 200
	maxMemoryBytes = 1 << 20
)

var (
	errLink    = errors.New("it is a link, and ken does not follow it")
	errForeign = errors.New("it belongs to another user")
)

// Memories returns what clients remember about the repository with these worktrees; the first one is that of the clone.
// client limits them to one client; "" means all.
func Memories(client string, worktrees []string) []Memory {
	var list []Memory
	for _, place := range memoryPlaces(worktrees) {
		if client != "" && place.client != client {
			continue
		}
		files, err := filepath.Glob(place.pattern)
		if err != nil {
			continue // a path with characters of a pattern
		}
		for i, file := range files {
			m := Memory{Client: place.client, File: file}
			if m.Err = fmt.Errorf("it is one of more than %d", maxMemories); i < maxMemories {
				m.Content, m.Time, m.Err = readMemory(file)
			}
			if !slices.ContainsFunc(list, func(o Memory) bool { return o.File == file }) {
				list = append(list, m)
			}
		}
	}
	return list
}

// A memoryPlace is a pattern of the files of a client.
type memoryPlace struct{ client, pattern string }

func memoryPlaces(worktrees []string) []memoryPlace {
	var list []memoryPlace
	home, err := os.UserHomeDir()
	for _, root := range worktrees {
		if err == nil {
			list = append(list, memoryPlace{"claude", filepath.Join(configDir("CLAUDE_CONFIG_DIR", home, ".claude"), "projects", dashed(root), "memory", "*.md")})
		}
		list = append(list,
			memoryPlace{"claude", filepath.Join(root, "CLAUDE.local.md")},
			memoryPlace{"serena", filepath.Join(root, ".serena", "memories", "*.md")})
	}
	if err == nil {
		list = append(list, memoryPlace{"codex", filepath.Join(configDir("CODEX_HOME", home, ".codex"), "memories", "*.md")})
	}
	return list
}

// configDir returns the directory that an environment variable names, or one below the home directory.
func configDir(variable, home, name string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home, name)
}

// dashed returns the name that Claude Code gives the directory of a project: its path with dashes.
func dashed(root string) string {
	return strings.Map(func(r rune) rune {
		isPlain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if isPlain {
			return r
		}
		return '-'
	}, root)
}

// readMemory reads a file that belongs to the user. It follows no link.
func readMemory(file string) ([]byte, time.Time, error) {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, time.Time{}, reasonOf(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, time.Time{}, errLink
	case !info.Mode().IsRegular():
		return nil, time.Time{}, errors.New("it is no regular file")
	case !ownedByUser(info):
		return nil, time.Time{}, errForeign
	case info.Size() > maxMemoryBytes:
		return nil, time.Time{}, fmt.Errorf("it has more than %d bytes", maxMemoryBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, time.Time{}, reasonOf(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxMemoryBytes))
	return content, info.ModTime(), err
}

// reasonOf returns an error without the path.
func reasonOf(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
