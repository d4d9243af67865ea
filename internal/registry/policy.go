package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// DefaultMaxBytes is the size above which a file needs no summary.
const DefaultMaxBytes = 1 << 20

// A Policy is the section registry of the configuration. It decides which files need a summary, and which changes make
// one stale. The zero value is the default policy.
type Policy struct {
	Exclude     []string      `yaml:"exclude"`      // globs of paths that need no summary
	Include     []string      `yaml:"include"`      // globs of paths that need one, regardless of kind and size
	MaxBytes    int64         `yaml:"max_bytes"`    // size limit; DefaultMaxBytes if zero
	StaleGrades []fresh.Grade `yaml:"stale_grades"` // grades that count besides content; all but format if nil
}

// Excluded returns why a file needs no summary, "" if it needs one. Include precedes Exclude, and both precede kind
// and size. Links have no content of their own and are always excluded.
func (p Policy) Excluded(path repo.Path, kind repo.Kind, size int64) string {
	if kind == repo.KindSymlink || kind == repo.KindGitlink {
		return kind.String()
	}
	if matches(p.Include, path) {
		return ""
	}
	if matches(p.Exclude, path) {
		return "policy"
	}
	switch kind {
	case repo.KindLockfile, repo.KindGenerated, repo.KindVendored, repo.KindBinary, repo.KindLFS:
		return kind.String()
	default:
	}
	limit := p.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if size > limit {
		return fmt.Sprintf("larger than %d bytes", limit)
	}
	return ""
}

func matches(globs []string, path repo.Path) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return doublestar.MatchUnvalidated(g, string(path)) })
}

// Validate returns an error for the first invalid glob or grade.
func (p Policy) Validate() error {
	for _, globs := range [][]string{p.Exclude, p.Include} {
		if err := repo.CheckGlobs(globs); err != nil {
			return err
		}
	}
	for _, g := range p.StaleGrades {
		if !slices.Contains(fresh.Grades, g) {
			return fmt.Errorf("unknown grade %q: want one of %q", g, fresh.Grades)
		}
	}
	if p.MaxBytes < 0 {
		return fmt.Errorf("max_bytes is %d: want a positive number", p.MaxBytes)
	}
	return nil
}

// Counts reports whether a change of this grade makes a summary stale. A change of unknown extent always does,
// since no policy can know that it is harmless.
func (p Policy) Counts(g fresh.Grade) bool {
	switch {
	case g == fresh.GradeContent:
		return true
	case p.StaleGrades == nil:
		return g != fresh.GradeFormat
	}
	return slices.Contains(p.StaleGrades, g)
}

// digest identifies the policy, the rules for grades, and the git attributes that the policy uses. Rows of another
// digest have to be classified again. The attributes come last, see sameAttributes.
func (p Policy) digest(grader, outside string, attributes []repo.Path, contents []repo.ID) string {
	rules := digestOf(struct {
		Policy Policy
		Grader string
	}{p, grader})
	return rules + " " + digestOf(struct {
		Outside  string
		Paths    []repo.Path
		Contents []repo.ID
	}{outside, attributes, contents})
}

// sameAttributes reports whether two digests have the same git attributes.
func sameAttributes(a, b string) bool {
	_, a, _ = strings.Cut(a, " ")
	_, b, _ = strings.Cut(b, " ")
	return a == b && a != ""
}

func digestOf(data any) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // plain data always encodes
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
