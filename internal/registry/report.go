package registry

import (
	"fmt"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Report answers both status and verify: what a session found on entry, and
// the verdict of every path that is not plainly as it was.
type Report struct {
	// Step is what the verification has changed; nil when it changed nothing, or
	// others have too.
	Step *Step `json:"-"`

	State        State     `json:"state"` // decided at entry
	Reasons      []Reason  `json:"reasons"`
	Head         repo.ID   `json:"head"` // the commit judged at
	LastVerified repo.ID   `json:"last_verified_sha"`
	Upstream     Upstream  `json:"upstream"`
	Counts       Counts    `json:"counts"`
	Verdicts     []Verdict `json:"verdicts"`
	Untracked    *Paths    `json:"untracked,omitempty"`
}

// An Upstream says how the branch stands to the one it follows, as last fetched.
type Upstream struct {
	State  string `json:"state"` // known or unknown
	Ahead  int    `json:"ahead"`
	Behind int    `json:"behind"`
}

// Counts counts paths twice: by verdict, and by the state of their summaries. Fresh,
// Stale, None, Excluded and Unknown are the Files; of the verdicts, Missing also counts
// paths that are no longer tracked.
type Counts struct {
	Files      int `json:"files"`
	Match      int `json:"match"`
	Mismatch   int `json:"mismatch"`
	Missing    int `json:"missing"`
	New        int `json:"new"`
	Unknown    int `json:"unknown"`
	Conflicted int `json:"conflicted"`
	Sparse     int `json:"sparse"`
	Fresh      int `json:"fresh"`
	Stale      int `json:"stale"`
	None       int `json:"none"`
	Excluded   int `json:"excluded"`
}

// Wanting reports whether a check should fail: something known is stale, or
// something could not be known. A file without a summary is no failure.
func (c Counts) Wanting() bool { return c.Stale > 0 || c.Unknown > 0 || c.Conflicted > 0 }

// Paths is a counted list of paths.
type Paths struct {
	Count int             `json:"count"`
	Paths []repo.PathJSON `json:"paths"`
}

// A Finding is how a path compares with its row.
type Finding uint8

// The findings. The zero value is FoundUnknown.
const (
	FoundUnknown    Finding = iota // could not be read
	FoundMatch                     // same content
	FoundMismatch                  // other content
	FoundMissing                   // gone from the index or from the disk
	FoundNew                       // tracked, and not known before
	FoundConflicted                // unmerged
	FoundSparse                    // not checked out
)

var findingNames = [...]string{"unknown", "match", "mismatch", "missing", "new", "conflicted", "sparse"}

func (f Finding) String() string {
	if int(f) < len(findingNames) {
		return findingNames[f]
	}
	return fmt.Sprintf("Finding(%d)", uint8(f))
}

// MarshalText writes the finding's name.
func (f Finding) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the finding's name.
func (f *Finding) UnmarshalText(b []byte) error {
	for i, name := range findingNames {
		if name == string(b) {
			*f = Finding(i)
			return nil
		}
	}
	return fmt.Errorf("unknown finding %q", b)
}

// A Verdict is what is known of one path now.
type Verdict struct {
	repo.PathJSON
	Verdict     Finding     `json:"verdict"`
	MD5         repo.MD5    `json:"content_md5"` // null when the bytes were not read
	ID          repo.ID     `json:"content_id"`
	Summary     fresh.State `json:"summary"`
	Restored    bool        `json:"restored"` // a text for this content was known already
	PathChanged string      `json:"path_changed,omitempty"`
	ChangedB64  string      `json:"path_changed_b64,omitempty"`
	Kind        repo.Kind   `json:"kind"`
	Grade       fresh.Grade `json:"grade,omitempty"`
	Reason      string      `json:"reason,omitempty"`

	path, before repo.Path
	untracked    bool // it is none of the files any more
}

// PathBefore returns by its bytes the path that a renamed file had, "" for others.
func (v Verdict) PathBefore() repo.Path { return v.before }

// RawPath returns the path by its bytes.
func (v Verdict) RawPath() repo.Path { return v.path }

// Notable reports whether a reader should hear of the path at all: it is not
// plainly as it was, or what is known of it does not hold.
func (v Verdict) Notable() bool {
	return v.Verdict != FoundMatch || v.Summary == fresh.Stale || v.Summary == fresh.Unknown
}

// add counts v, and lists it if it is notable or all are wanted.
func (rep *Report) add(v Verdict, all bool) {
	rep.tally(v)
	if all || v.Notable() {
		v.PathJSON = v.path.JSON()
		rep.Verdicts = append(rep.Verdicts, v)
	}
}

// list counts v, and lists it as the options ask.
func (rep *Report) list(v Verdict, opts VerifyOptions) {
	if opts.omits(v, rep.State) {
		rep.tally(v)
		return
	}
	rep.add(v, opts.All)
}

// matches counts as many plain matches as t counts rows.
func (rep *Report) matches(t store.FileCounts) {
	c := &rep.Counts
	c.Match += t.Files
	c.Fresh += t.Fresh
	c.Stale += t.Stale
	c.None += t.None
	c.Excluded += t.Excluded
}

// sort puts the verdicts into byte order of their paths.
func (rep *Report) sort() {
	slices.SortFunc(rep.Verdicts, func(a, b Verdict) int { return strings.Compare(string(a.path), string(b.path)) })
}

// tally counts v.
func (rep *Report) tally(v Verdict) {
	c := &rep.Counts
	switch v.Verdict {
	case FoundMatch:
		c.Match++
	case FoundMismatch:
		c.Mismatch++
	case FoundMissing:
		c.Missing++
	case FoundNew:
		c.New++
	case FoundConflicted:
		c.Conflicted++
	case FoundSparse:
		c.Sparse++
	default:
		c.Unknown++
	}
	if v.untracked {
		return
	}
	switch v.Summary {
	case fresh.Fresh:
		c.Fresh++
	case fresh.Stale:
		c.Stale++
	case fresh.None:
		c.None++
	case fresh.Excluded:
		c.Excluded++
	default:
	}
}
