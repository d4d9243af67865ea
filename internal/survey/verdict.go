package survey

import "fmt"

// A Verdict says whether the summary of a directory is fresh. The zero value is Unknown, so that a forgotten error
// never looks fresh.
type Verdict uint8

// The verdicts.
const (
	Unknown    Verdict = iota // ken could not read all of its basis
	Fresh                     // its basis matches what is there now
	StaleSelf                 // its own files changed
	StaleBelow                // only the summaries of subdirectories changed
	Incomplete                // it was written while subdirectories had no summary
	Partial                   // its author could not finish it
	None                      // there is no summary
	Excluded                  // the policy asks for no summary
	Failed                    // a model or agent failed to write one
)

var verdictNames = [...]string{"unknown", "fresh", "stale-self", "stale-below", "incomplete", "partial", "none", "excluded", "failed"}

func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// Word returns the verdict in one word for people. Reasons say which files or
// subdirectories changed.
func (v Verdict) Word() string {
	switch v {
	case StaleSelf, StaleBelow:
		return "stale"
	default:
		return v.String()
	}
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

// NeedsSummary reports whether the directory needs a new summary.
func (v Verdict) NeedsSummary() bool { return v != Fresh && v != Excluded && v != Unknown }
