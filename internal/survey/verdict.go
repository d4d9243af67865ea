package survey

import "fmt"

// A Verdict is how far a directory's text can be trusted. Its zero value is Unknown,
// so that a forgotten error cannot pass for good news.
type Verdict uint8

// The verdicts.
const (
	Unknown    Verdict = iota // some of what it speaks of, or what lies below, could not be read
	Fresh                     // all it was written from is as it was
	StaleSelf                 // its own files have changed
	StaleBelow                // only what is said of its children has
	Incomplete                // it was written while children had no text
	Partial                   // its author could not finish
	None                      // there is no text
	Excluded                  // nobody is asked for one
	Failed                    // somebody was, and failed
)

var verdictNames = [...]string{"unknown", "fresh", "stale-self", "stale-below", "incomplete", "partial", "none", "excluded", "failed"}

func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the verdict's name.
func (v *Verdict) UnmarshalText(b []byte) error {
	for i, name := range verdictNames {
		if name == string(b) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q", b)
}

// Open reports whether the directory is to be worked on.
func (v Verdict) Open() bool { return v != Fresh && v != Excluded && v != Unknown }
