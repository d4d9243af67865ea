package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lifetime is how long ken keeps the file of a session after its last change.
const lifetime = 14 * 24 * time.Hour

// A Log is the name of the file of one session; "" stores nothing.
type Log string

// LogIn returns the file of a session in the worktree with a git directory, "" without a session.
func LogIn(gitDir, session string) Log {
	session = Clean(session)
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return Log(filepath.Join(directory(gitDir), hex.EncodeToString(sum[:12])))
}

func directory(gitDir string) string { return filepath.Join(gitDir, "ken", "cache", "sessions") }

// Read returns the lines of the file. A file that cannot be read, or has more than limit bytes, counts as empty.
func (l Log) Read(limit int64) []byte {
	if l == "" {
		return nil
	}
	info, err := os.Lstat(string(l))
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil
	}
	lines, err := os.ReadFile(string(l))
	if err != nil {
		return nil
	}
	return lines
}

// Append adds lines in one write, so that hooks that run at the same time lose nothing. A file that would grow beyond
// limit bytes starts again.
func (l Log) Append(lines string, limit int64) error {
	if l == "" || lines == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(l)), 0o777); err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	if info, err := os.Lstat(string(l)); err == nil && (!info.Mode().IsRegular() || info.Size()+int64(len(lines)) > limit) {
		if err := os.Remove(string(l)); err != nil {
			return fmt.Errorf("remove the session file: %w", err)
		}
	}
	out, err := os.OpenFile(string(l), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	_, err = out.WriteString(lines)
	return errors.Join(err, out.Close())
}

// RemoveOld removes expired files of a worktree, at most 1000 at a time.
func RemoveOld(gitDir string, now time.Time) {
	dir, err := os.Open(directory(gitDir))
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.ReadDir(1000)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > lifetime {
			_ = os.Remove(filepath.Join(dir.Name(), e.Name()))
		}
	}
}
