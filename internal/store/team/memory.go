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

// A memory is what this user's machine remembers of a way to a base: when it was gone last,
// and how that went. Losing it costs a visit.
type memory struct {
	At       time.Time     `json:"at"`   // of the last visit
	Took     time.Duration `json:"took"` // how long it was
	Failures int           `json:"failures,omitempty"`
}

// recent reports whether the base was visited so recently that what came then is new enough.
func (m memory) recent(now time.Time) bool {
	since := now.Sub(m.At)
	return since >= 0 && since < max(every, timesAsLong*m.Took) // a clock that was put back proves nothing
}

// away reports whether the base did not answer, and is left alone.
func (m memory) away(now time.Time) bool {
	if m.Failures == 0 {
		return false
	}
	wait := longAway
	if n := m.Failures - 1; n < 5 {
		wait = min(away<<n, longAway)
	}
	since := now.Sub(m.At)
	return since >= 0 && since < wait
}

// dir is where all of it lies, "" for nowhere.
func (t *Team) dir() string {
	if t.opts.StateDir == "" {
		return ""
	}
	return filepath.Join(t.opts.StateDir, "ken", "team")
}

// file returns the name of a file about this clone and this base.
func (t *Team) file(kind string) string {
	sum := sha256.Sum256([]byte(t.opts.CommonDir + "\x00" + t.address.String()))
	return filepath.Join(t.dir(), hex.EncodeToString(sum[:8])+kind)
}

func (t *Team) recall() (m memory) {
	if t.dir() == "" {
		return m
	}
	b, err := os.ReadFile(t.file(".json"))
	if err != nil || json.Unmarshal(b, &m) != nil {
		return memory{}
	}
	return m
}

// keep remembers. Where that is not possible, the next command makes a visit of its own.
func (t *Team) keep() {
	if b, err := json.Marshal(t.memory); err == nil && t.dir() != "" {
		_ = replace(t.file(".json"), b) // see above
	}
}

// replace replaces a file that only its owner reads.
func replace(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(name, content, 0o600)
}

// A machine is who stands behind rows and baselines.
type machine struct {
	ID   string // drawn once, and kept with the user's state
	Host string // what people call it
}

// machine returns this one. Where nothing can be kept, the host's name has to do.
func (t *Team) machine() machine {
	m := machine{}
	m.Host, _ = os.Hostname() // without one it has none
	m.ID = "host " + m.Host
	if t.dir() == "" {
		return m
	}
	name := filepath.Join(t.dir(), "machine")
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		// Of two that draw at once, the one whose file is there has drawn.
		drawn := []byte(strings.ToLower(rand.Text()) + "\n")
		if first(name, drawn) == nil {
			b, err = os.ReadFile(name)
		}
	}
	if id := string(bytes.TrimSpace(b)); err == nil && id != "" {
		m.ID = id
	}
	return m
}

// first writes a file unless it is there.
func first(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has another name by then
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return os.Rename(f.Name(), name) // a file system without links
	}
	return nil
}
