package registry

import (
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Report is the answer of status and of verify: the entry state, and the verdict of every notable path.
type Report struct {
	// Clean is set if this verification was recorded and the next one will trust it.
	Clean bool `json:"-"`

	State        State       `json:"state"` // decided at entry
	Reasons      []Reason    `json:"reasons"`
	Head         repo.ID     `json:"head"` // when it was judged
	LastVerified repo.ID     `json:"last_verified_sha"`
	Upstream     Upstream    `json:"upstream"`
	Counts       Counts      `json:"counts"`
	Verdicts     []FileState `json:"verdicts"`
	Untracked    *Paths      `json:"untracked,omitempty"`
}

// An Upstream compares the branch with the one that it follows, as last fetched.
type Upstream struct {
	State  string `json:"state"` // known or unknown
	Ahead  int    `json:"ahead"`
	Behind int    `json:"behind"`
}

// Counts counts paths twice: by comparison, and by the state of their summaries. Fresh, Stale, Gone, None, Excluded,
// Unknown and Conflicted add up to Files. Missing also counts paths that are no longer tracked.
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
	Gone       int `json:"gone"` // summaries of tracked files that are deleted on disk
	None       int `json:"none"`
	Excluded   int `json:"excluded"`
}

// NeedsAttention reports whether a check should fail: a summary is stale, its file is deleted on disk, or a state is
// unknown. A file without a summary is no failure.
func (c Counts) NeedsAttention() bool { return c.Stale+c.Gone+c.Unknown+c.Conflicted > 0 }

// Paths is a counted list of paths.
type Paths struct {
	Count int             `json:"count"`
	Paths []repo.PathJSON `json:"paths"`
}

// A Comparison is the verdict about what the last check found at a path: fresh if the file has the same content, stale
// if it has another one, gone if it is missing in the index or on disk, none if the last check did not know the path.
type Comparison fresh.Verdict

// String returns the word for the comparison: match, mismatch, missing or new, the reason if there is one, or unknown.
func (c Comparison) String() string {
	switch {
	case c.Reason != "":
		return string(c.Reason)
	case c.State == fresh.Fresh:
		return "match"
	case c.State == fresh.Stale:
		return "mismatch"
	case c.State == fresh.Gone:
		return "missing"
	case c.State == fresh.None:
		return "new"
	default:
		return c.State.String()
	}
}

// MarshalText returns the word for the comparison.
func (c Comparison) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A FileState is the state of one path and of its summary.
type FileState struct {
	repo.PathJSON
	Content     Comparison  `json:"verdict"`
	MD5         repo.MD5    `json:"content_md5"` // null if the bytes were not read
	ID          repo.ID     `json:"content_id"`
	Summary     fresh.State `json:"summary"`
	Restored    bool        `json:"restored"` // a summary of this content was stored already
	PathChanged string      `json:"path_changed,omitempty"`
	ChangedB64  string      `json:"path_changed_b64,omitempty"`
	Kind        repo.Kind   `json:"kind"`
	Grade       fresh.Grade `json:"grade,omitempty"`
	Reason      string      `json:"reason,omitempty"`

	path, former repo.Path
	untracked    bool // git no longer tracks it
	lost         bool // deleted on disk, and has a summary
}

// RawPath returns the path as raw bytes.
func (v FileState) RawPath() repo.Path { return v.path }

// Lost reports whether the file has a summary and is deleted on disk.
func (v FileState) Lost() bool { return v.lost }

// Notable reports whether a list should show the path: it changed, or its summary does not hold.
func (v FileState) Notable() bool {
	changed := v.Content.State != fresh.Fresh || v.Content.Reason != ""
	return changed || v.Summary == fresh.Stale || v.Summary == fresh.Unknown
}

// add counts v, and lists it if it is notable or if all paths are wanted.
func (rep *Report) add(v FileState, all bool) {
	rep.tally(v)
	if all || v.Notable() {
		v.PathJSON = v.path.JSON()
		rep.Verdicts = append(rep.Verdicts, v)
	}
}

// list counts v, and lists it as the options say.
func (rep *Report) list(v FileState, opts VerifyOptions) {
	if opts.omits(v, rep.State) {
		rep.tally(v)
		return
	}
	rep.add(v, opts.All)
}

// matches adds the counts of rows that match.
func (rep *Report) matches(t store.FileCounts) {
	c := &rep.Counts
	c.Match += t.Files
	c.Fresh += t.Fresh
	c.Stale += t.Stale
	c.None += t.None
	c.Excluded += t.Excluded
}

// sort sorts the verdicts by path, in byte order.
func (rep *Report) sort() {
	slices.SortFunc(rep.Verdicts, func(a, b FileState) int { return strings.Compare(string(a.path), string(b.path)) })
}

// tally counts v.
func (rep *Report) tally(v FileState) {
	c := &rep.Counts
	switch v.Content.String() {
	case "match":
		c.Match++
	case "mismatch":
		c.Mismatch++
	case "missing":
		c.Missing++
	case "new":
		c.New++
	case "conflicted":
		c.Conflicted++
	case "sparse":
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
	case fresh.Gone:
		if v.lost {
			c.Gone++
		} else {
			c.None++
		}
	case fresh.None:
		c.None++
	case fresh.Excluded:
		c.Excluded++
	default:
	}
}
