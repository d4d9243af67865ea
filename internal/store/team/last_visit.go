package team

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ken/internal/atomicfile"
)

// A lastVisit records the last visit of a clone to its shared store. It is a file in the user's state
// directory. Without it the next command makes a visit.
type lastVisit struct {
	At       time.Time     `json:"at"`                 // when the visit ended
	Took     time.Duration `json:"took"`               // its duration
	Failures int           `json:"failures,omitempty"` // failed visits since the last success
}

// recent reports whether the last visit is too recent for another one.
func (v lastVisit) recent(now time.Time) bool {
	since := now.Sub(v.At) // negative if the clock was set back: then visit
	return since >= 0 && since < max(minInterval, intervalFactor*v.Took)
}

// mustWait reports whether the last visit failed and the wait after it is not over.
func (v lastVisit) mustWait(now time.Time) bool {
	if v.Failures == 0 {
		return false
	}
	wait := maxRetryWait
	if n := v.Failures - 1; n < 5 {
		wait = min(minRetryWait<<n, maxRetryWait)
	}
	since := now.Sub(v.At)
	return since >= 0 && since < wait
}

// dir returns the directory of this package's state files, "" if there is no state directory.
func (t *Team) dir() string {
	if t.opts.StateDir == "" {
		return ""
	}
	return filepath.Join(t.opts.StateDir, "ken", "team")
}

// file returns the name of a state file of this clone and shared store.
func (t *Team) file(kind string) string {
	sum := sha256.Sum256([]byte(t.opts.CommonDir + "\x00" + t.address.String()))
	return filepath.Join(t.dir(), hex.EncodeToString(sum[:8])+kind)
}

// loadLastVisit reads the last visit; it returns the zero value if it cannot.
func (t *Team) loadLastVisit() (v lastVisit) {
	if t.dir() == "" {
		return v
	}
	b, err := os.ReadFile(t.file(".json"))
	if err != nil || json.Unmarshal(b, &v) != nil {
		return lastVisit{}
	}
	return v
}

// saveLastVisit writes the last visit. It ignores errors: the next command then makes a visit.
func (t *Team) saveLastVisit() {
	b, err := json.Marshal(t.last)
	if err == nil && t.dir() != "" {
		_ = writePrivate(t.file(".json"), b) // see above
	}
}

// writePrivate writes or replaces a file that only its owner can read.
func writePrivate(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(name, content, 0o600)
}

// A machine identifies the owner of rows and baselines in the shared store.
type machine struct {
	ID   string // random, stored in the user's state directory
	Host string // the host name, for people
}

// machine returns this machine. If its ID cannot be stored, the ID is the host name.
func (t *Team) machine() machine {
	m := machine{}
	m.Host, _ = os.Hostname() // "" if the host has no name
	m.ID = "host " + m.Host
	if t.dir() == "" {
		return m
	}
	name := filepath.Join(t.dir(), "machine")
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		// Two processes may do this at the same time. Both then read the file of the first.
		id := []byte(strings.ToLower(rand.Text()) + "\n")
		if createFile(name, id) == nil {
			b, err = os.ReadFile(name)
		}
	}
	if id := string(bytes.TrimSpace(b)); err == nil && id != "" {
		m.ID = id
	}
	return m
}

// createFile writes a file unless it exists.
func createFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // fails if the file was renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(f.Name(), name) // the file system has no hard links
	}
	return nil
}
