package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/suggest"
)

// A reviewSpan is the reviewed change.
type reviewSpan struct {
	from    repo.ID
	to      repo.ID // zero for the work tree
	base    string  // the branch or revision of from
	unknown *fault.Unknown
}

func (s *reviewSpan) end() string {
	if s.to.IsZero() {
		return Worktree
	}
	return s.to.String()
}

// reviewRange parses a range. "" is the work tree since its merge base with the main branch, REV the work tree
// since its merge base with REV. A..B and A...B are the commits of B since its merge base with A.
func (r *Reviewer) reviewRange(ctx context.Context, text string) (reviewSpan, error) {
	a, b, both := strings.Cut(text, "..")
	if both {
		return r.reviewCommits(ctx, cmp.Or(a, "HEAD"), cmp.Or(strings.TrimPrefix(b, "."), "HEAD"))
	}
	head, err := r.Workspace.Git.Head(ctx)
	if err != nil {
		return reviewSpan{}, err
	}
	if head.Commit.IsZero() {
		return reviewSpan{}, &fault.Error{Kind: fault.Usage, Hint: "make the first one: git commit", Err: errors.New("nothing to compare with: the branch has no commits yet")}
	}
	span := reviewSpan{base: text}
	var start repo.ID
	if text == "" {
		span.base, start, err = r.reviewBase(ctx, head)
	} else {
		start, err = r.reviewCommit(ctx, text)
	}
	if err != nil {
		return span, err
	}
	return r.sinceMergeBase(ctx, span, start, head.Commit, "HEAD")
}

// reviewBase returns the main branch and its commit. On the main branch itself it returns the same branch of the
// remote, or HEAD. In a clone without a remote it returns main or master.
func (r *Reviewer) reviewBase(ctx context.Context, head repo.Head) (string, repo.ID, error) {
	name, commit, err := r.Workspace.Git.Mainline(ctx, r.Main)
	if err != nil {
		return "", repo.ID{}, err
	}
	onMain := head.Branch == "refs/heads/"+name
	if !onMain && name != "" && !commit.IsZero() {
		return name, commit, nil
	}
	if remote, ok, err := r.Workspace.Git.ResolveRef(ctx, "refs/remotes/origin/"+name); err == nil && ok && name != "" {
		return "origin/" + name, remote, nil
	}
	if r.Main != "" {
		return "HEAD", head.Commit, nil
	}
	// Without a remote, the branch of the main checkout counts as the main branch.
	for _, usual := range []string{"main", "master"} {
		id, ok, err := r.Workspace.Git.ResolveRef(ctx, "refs/heads/"+usual)
		if err == nil && ok && usual != name {
			return usual, id, nil
		}
		if usual == name {
			break
		}
	}
	return "HEAD", head.Commit, nil
}

func (r *Reviewer) reviewCommits(ctx context.Context, a, b string) (reviewSpan, error) {
	from, err := r.reviewCommit(ctx, a)
	if err != nil {
		return reviewSpan{}, err
	}
	to, err := r.reviewCommit(ctx, b)
	if err != nil {
		return reviewSpan{}, err
	}
	return r.sinceMergeBase(ctx, reviewSpan{base: a, to: to}, from, to, b)
}

// sinceMergeBase starts a span at the merge base of two commits. If there is none, the error depends on the clone:
// a shallow one may lack it, in others the range is invalid.
func (r *Reviewer) sinceMergeBase(ctx context.Context, span reviewSpan, a, b repo.ID, name string) (reviewSpan, error) {
	base, ok, err := r.Workspace.Git.MergeBase(ctx, a, b)
	if err != nil {
		return span, err
	}
	if ok {
		span.from = base
		return span, nil
	}
	shallow, err := r.Workspace.Git.Shallow()
	if err != nil {
		return span, err
	}
	if shallow {
		span.unknown = &fault.Unknown{
			Why:     fmt.Sprintf("the clone is shallow and does not have the merge base of %s and %s", span.base, name),
			Command: "git fetch --unshallow",
		}
		return span, nil
	}
	return span, &fault.Error{
		Kind: fault.Usage, Hint: "name a commit that the change starts from, for example: ken review HEAD~1",
		Err: fmt.Errorf("%s and %s have no common commit", span.base, name),
	}
}

// reviewCommit returns the commit of a revision. The error for an unknown revision suggests similar names.
func (r *Reviewer) reviewCommit(ctx context.Context, rev string) (repo.ID, error) {
	commit, ok, err := r.Workspace.Git.Resolve(ctx, rev)
	if err != nil || ok {
		return commit, err
	}
	hint := "check it with: git log -1 " + fault.Quote(rev)
	names, err := r.Workspace.Git.RefNames(ctx)
	if err != nil {
		return commit, err
	}
	if near := nearestRef(rev, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if shallow, err := r.Workspace.Git.Shallow(); err == nil && shallow {
		hint = shallowHint(rev)
	}
	return commit, &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("no such commit: %q", rev)}
}

// expression matches a revision that git fetch does not accept: one with an operator, such as HEAD~1, or a short
// commit id.
var expression = lazyPattern(`[~^:{]|^[0-9a-f]{4,39}$`)

// lazyPattern returns a function that compiles a pattern once, when it is needed.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// shallowHint returns the git fetch command that adds a revision to a shallow clone.
func shallowHint(rev string) string {
	if expression().MatchString(rev) {
		return "the clone is shallow; fetch more history: git fetch --deepen=100"
	}
	return "fetch it first: git fetch origin " + fault.Quote(strings.TrimPrefix(rev, "origin/"))
}

// nearestRef returns the name that is most similar to a mistyped one; "" if none is similar. The branch of a
// remote is similar if only the remote is missing.
func nearestRef(rev string, names []string) string {
	best, fewest := "", 1000
	for _, name := range names {
		if slices.Contains([]string{"origin/" + rev, strings.TrimPrefix(rev, "origin/")}, name) {
			return name
		}
		if n, ok := suggest.TypoDistance(rev, name); ok && n < fewest {
			best, fewest = name, n
		}
	}
	return best
}
