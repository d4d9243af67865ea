package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ken/internal/agenthook"
	"ken/internal/repo"
)

// sessionsDir holds what the sessions of a worktree saw and were told, in one file per
// session. It is a cache: without it, ken does not know what an agent read.
const sessionsDir = "ken/cache/sessions"

// sessionLifetime is how long ken keeps the file of a session after its last change.
const sessionLifetime = 14 * 24 * time.Hour

// A sessionFile is the path of the memory of one session; "" stores nothing.
type sessionFile string

func sessionIn(gitDir, session string) sessionFile {
	if session = sessionID(session); session == "" {
		return ""
	}
	return sessionFile(filepath.Join(gitDir, filepath.FromSlash(sessionsDir), digest(session)))
}

// digest returns a short hash of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// load reads the memory. A file that cannot be read counts as empty.
func (f sessionFile) load() *agenthook.Memory {
	if f == "" {
		return agenthook.ParseMemory(nil)
	}
	info, err := os.Lstat(string(f))
	if err != nil || !info.Mode().IsRegular() || info.Size() > agenthook.MaxMemory {
		return agenthook.ParseMemory(nil)
	}
	lines, err := os.ReadFile(string(f))
	if err != nil {
		return agenthook.ParseMemory(nil)
	}
	return agenthook.ParseMemory(lines)
}

// add appends lines in one write, so that hooks at the same time lose nothing.
func (f sessionFile) add(lines string) error {
	if f == "" || lines == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o777); err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	if info, err := os.Lstat(string(f)); err == nil && (!info.Mode().IsRegular() || info.Size()+int64(len(lines)) > agenthook.MaxMemory) {
		if err := os.Remove(string(f)); err != nil {
			return fmt.Errorf("remove the session file: %w", err)
		}
	}
	out, err := os.OpenFile(string(f), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write the session file: %w", err)
	}
	_, err = out.WriteString(lines)
	return errors.Join(err, out.Close())
}

// removeOldSessions removes expired session files, at most 1000 at a time.
func removeOldSessions(gitDir string, now time.Time) {
	dir, err := os.Open(filepath.Join(gitDir, filepath.FromSlash(sessionsDir)))
	if err != nil {
		return
	}
	defer dir.Close()
	entries, err := dir.ReadDir(1000)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > sessionLifetime {
			_ = os.Remove(filepath.Join(dir.Name(), e.Name()))
		}
	}
}

// seen returns the content of a path that the current session saw last.
func (w *workspace) seen(p repo.Path) repo.ID {
	w.memoryOnce.Do(func() { w.memory = sessionIn(w.git.GitDir(), session()).load() })
	id, _ := w.memory.Seen(p)
	return id
}
