package prove

import (
	"slices"

	"ken/internal/repo"
)

// A Report is the result of a replay.
type Report struct {
	// Verdict has a sentence for each question.
	Verdict []string `json:"verdict"`
	Commits Commits  `json:"commits"`
	// Find is null if no commit makes a task, or if Unknown says why the index was not available.
	Find      *FindResult `json:"find"`
	Lifetimes Lifetimes   `json:"lasting"`
	Briefs    *Briefs     `json:"briefs"` // null like Found
	// Files and Directories count the summaries after the last commit.
	Files       int `json:"files"`
	Directories int `json:"directories"`

	Changes   Grades              `json:"changes"` // of all files whose bytes changed
	PerCommit CommitDistributions `json:"per_commit"`
	Unknown   []Unknown           `json:"unknown"` // questions that ken could not answer
	Method    string              `json:"method"`
	History   []Outcome           `json:"history"` // the oldest first
}

// An Unknown is a question without an answer.
type Unknown struct {
	Fact   string `json:"fact"` // find or briefs
	Reason string `json:"reason"`
}

// Commits counts the commits of a history.
type Commits struct {
	Asked    int     `json:"asked"`
	Replayed int     `json:"replayed"` // all but the unknown ones
	Unknown  int     `json:"unknown"`  // git lacks contents that the result depends on
	Cut      bool    `json:"cut"`      // a shallow clone has fewer than requested
	Whole    bool    `json:"whole"`    // the replay begins with the first commit of the repository
	Valid    int     `json:"valid"`    // commits that made nothing stale and added nothing to summarize
	First    repo.ID `json:"first"`
	Last     repo.ID `json:"last"`
}

// Briefs are the sizes of briefs, in tokens, beside the sizes of the files that they describe.
type Briefs struct {
	Files       BriefSize `json:"files"`
	Directories BriefSize `json:"directories"`
	Repository  BriefSize `json:"repository"`
}

// A BriefSize has the medians of some briefs and of the files that they describe.
type BriefSize struct {
	Sampled  int   `json:"sampled"`
	Brief    int64 `json:"brief_tokens"`
	Contents int64 `json:"content_tokens"`
}

// NewBriefSize returns the medians of the sizes of briefs and of the files that they describe.
func NewBriefSize(briefs, contents []int64) BriefSize {
	return BriefSize{Sampled: len(briefs), Brief: rank(briefs, 50), Contents: rank(contents, 50)}
}

// CommitDistributions describes the figures of single commits.
type CommitDistributions struct {
	Stale      Distribution `json:"stale"` // summaries of files and directories
	StaleFiles Distribution `json:"stale_files"`
	ByByte     Distribution `json:"by_byte"`
	StaleSelf  Distribution `json:"stale_self"`
	StaleBelow Distribution `json:"stale_below"`
}

// A Distribution describes a figure over all commits. Median and P90 are by nearest rank.
type Distribution struct {
	Median int64 `json:"median"`
	P90    int64 `json:"p90"`
	Max    int64 `json:"max"`
	Total  int64 `json:"total"`
}

func spread(list []Outcome, of func(*Outcome) int) Distribution {
	var s Distribution
	var values []int64
	for i := range list {
		if !list[i].Unknown {
			values = append(values, int64(of(&list[i])))
			s.Total += values[len(values)-1]
		}
	}
	s.Median, s.P90, s.Max = rank(values, 50), rank(values, 90), rank(values, 100)
	return s
}

// rank returns a percentile by nearest rank, 0 for an empty list.
func rank(values []int64, percent int) int64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)*percent+99)/100-1]
}

// sum adds the totals of the history.
func (r *Report) sum() {
	c := &r.Commits
	r.Unknown = []Unknown{}
	for i := range r.History {
		o := &r.History[i]
		c.Last = o.Commit
		if i == 0 {
			c.First = o.Commit
		}
		if o.Unknown {
			c.Unknown++
			continue
		}
		c.Replayed++
		if o.Valid() {
			c.Valid++
		}
		r.Changes = r.Changes.Add(o.Grades)
	}
	of := func(f func(*Outcome) int) Distribution { return spread(r.History, f) }
	r.PerCommit = CommitDistributions{
		Stale:      of((*Outcome).Stale),
		StaleFiles: of(func(o *Outcome) int { return o.StaleFiles }),
		ByByte:     of(func(o *Outcome) int { return o.ByChecksum }),
		StaleSelf:  of(func(o *Outcome) int { return o.StaleSelf }),
		StaleBelow: of(func(o *Outcome) int { return o.StaleBelow }),
	}
}
