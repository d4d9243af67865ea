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

// sessionsDir is where a worktree keeps what sessions saw and were told, a file to a
// session. It is a cache: without it, nobody knows what an agent read.
const sessionsDir = "ken/cache/sessions"

// sessionLifetime is how long a session is remembered that does nothing any more.
const sessionLifetime = 14 * 24 * time.Hour

// A sessionFile keeps the memory of one session; one without a name keeps none.
type sessionFile string

func sessionIn(gitDir, session string) sessionFile {
	if session = sessionID(session); session == "" {
		return ""
	}
	return sessionFile(filepath.Join(gitDir, filepath.FromSlash(sessionsDir), digest(session)))
}

// digest is a short word for a text, that is no other's.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// remember reads what is kept. What cannot be read was not kept.
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

// add keeps lines, in one write behind what others add at the same time.
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

// removeOldSessions removes what is kept of sessions that are long over, a few at a time.
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

// seen is what the session that this process runs in saw last of a path.
func (w *workspace) seen(p repo.Path) repo.ID {
	w.memoryOnce.Do(func() { w.memory = sessionIn(w.git.GitDir(), session()).load() })
	id, _ := w.memory.Seen(p)
	return id
}
