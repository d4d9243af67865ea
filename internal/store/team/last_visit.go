package team

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
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

// visitFile returns the name of the file of the last visit, "" if there is no state directory.
func (t *Team) visitFile() string {
	if t.opts.StateDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(t.opts.CommonDir + "\x00" + t.address.String()))
	return filepath.Join(t.opts.StateDir, "ken", "team", hex.EncodeToString(sum[:8])+".json")
}

// loadLastVisit reads the last visit; it returns the zero value if it cannot.
func (t *Team) loadLastVisit() (v lastVisit) {
	name := t.visitFile()
	if name == "" {
		return v
	}
	b, err := os.ReadFile(name)
	if err != nil || json.Unmarshal(b, &v) != nil {
		return lastVisit{}
	}
	return v
}

// saveLastVisit writes the last visit, in a file that only its owner can read. It ignores errors: the next command
// then makes a visit.
func (t *Team) saveLastVisit() {
	name := t.visitFile()
	b, err := json.Marshal(t.last)
	if err != nil || name == "" {
		return
	}
	if os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		_ = atomicfile.Write(name, b, 0o600) // see above
	}
}
