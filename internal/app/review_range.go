package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/suggest"
)

// A reviewSpan is the change that is reviewed.
type reviewSpan struct {
	from    repo.ID
	to      repo.ID // zero for the work tree
	base    string  // the name of what from belongs to
	unknown *review.Unknown
}

func (s *reviewSpan) end() string {
	if s.to.IsZero() {
		return review.Worktree
	}
	return s.to.String()
}

// reviewRange reads a range. "" is the work tree since its merge base with the main branch, REV the
// work tree since its merge base with REV, and A..B or A...B what B has of its own.
func (w *workspace) reviewRange(ctx context.Context, text string) (reviewSpan, error) {
	a, b, both := strings.Cut(text, "..")
	if both {
		return w.reviewCommits(ctx, cmp.Or(a, "HEAD"), cmp.Or(strings.TrimPrefix(b, "."), "HEAD"))
	}
	head, err := w.git.Head(ctx)
	if err != nil {
		return reviewSpan{}, err
	}
	if head.Commit.IsZero() {
		return reviewSpan{}, &fault.Error{Kind: fault.Usage, Hint: "make the first one: git commit", Err: errors.New("nothing to compare with: the branch has no commits yet")}
	}
	span := reviewSpan{base: text}
	var start repo.ID
	if text == "" {
		span.base, start, err = w.reviewBase(ctx, head)
	} else {
		start, err = w.reviewCommit(ctx, text)
	}
	if err != nil {
		return span, err
	}
	return w.sinceMergeBase(ctx, span, start, head.Commit, "HEAD")
}

// reviewBase returns the main branch and its commit. On the main branch itself it is the same branch
// of the remote, or HEAD. A clone without a remote compares with main or master.
func (w *workspace) reviewBase(ctx context.Context, head repo.Head) (string, repo.ID, error) {
	name, commit, err := w.git.Mainline(ctx, w.cfg.Spec.Main)
	if err != nil {
		return "", repo.ID{}, err
	}
	onMain := head.Branch == "refs/heads/"+name
	if !onMain && name != "" && !commit.IsZero() {
		return name, commit, nil
	}
	if remote, ok, err := w.git.ResolveRef(ctx, "refs/remotes/origin/"+name); err == nil && ok && name != "" {
		return "origin/" + name, remote, nil
	}
	if w.cfg.Spec.Main != "" {
		return "HEAD", head.Commit, nil
	}
	// Without a remote, the branch of the main checkout counts as the main one, whatever it is.
	for _, usual := range []string{"main", "master"} {
		id, ok, err := w.git.ResolveRef(ctx, "refs/heads/"+usual)
		if err == nil && ok && usual != name {
			return usual, id, nil
		}
		if usual == name {
			break
		}
	}
	return "HEAD", head.Commit, nil
}

func (w *workspace) reviewCommits(ctx context.Context, a, b string) (reviewSpan, error) {
	from, err := w.reviewCommit(ctx, a)
	if err != nil {
		return reviewSpan{}, err
	}
	to, err := w.reviewCommit(ctx, b)
	if err != nil {
		return reviewSpan{}, err
	}
	return w.sinceMergeBase(ctx, reviewSpan{base: a, to: to}, from, to, b)
}

// sinceMergeBase starts a span at the merge base of two commits. Without one, a shallow clone cannot
// tell, and elsewhere the range makes no sense.
func (w *workspace) sinceMergeBase(ctx context.Context, span reviewSpan, a, b repo.ID, name string) (reviewSpan, error) {
	base, ok, err := w.git.MergeBase(ctx, a, b)
	if err != nil {
		return span, err
	}
	if ok {
		span.from = base
		return span, nil
	}
	shallow, err := w.git.Shallow()
	if err != nil {
		return span, err
	}
	if shallow {
		span.unknown = &review.Unknown{
			Reason:  fmt.Sprintf("the clone is shallow and does not have the merge base of %s and %s", span.base, name),
			Command: "git fetch --unshallow",
		}
		return span, nil
	}
	return span, &fault.Error{
		Kind: fault.Usage, Hint: "name a commit that the change starts from, for example: ken review HEAD~1",
		Err: fmt.Errorf("%s and %s have no common commit", span.base, name),
	}
}

// reviewCommit returns the commit that a revision names. An unknown one is answered with the names
// that it may have been meant for.
func (w *workspace) reviewCommit(ctx context.Context, rev string) (repo.ID, error) {
	commit, ok, err := w.git.Resolve(ctx, rev)
	if err != nil || ok {
		return commit, err
	}
	hint := "check it with: git log -1 " + fault.Quote(rev)
	names, err := w.git.RefNames(ctx)
	if err != nil {
		return commit, err
	}
	if near := nearestRef(rev, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if shallow, err := w.git.Shallow(); err == nil && shallow {
		hint = shallowHint(rev)
	}
	return commit, &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("no such commit: %q", rev)}
}

// expression is a revision that git fetch does not accept: one with an operator, such as HEAD~1, or
// a short commit id.
var expression = regexp.MustCompile(`[~^:{]|^[0-9a-f]{4,39}$`)

// shallowHint names the fetch that brings a revision into a shallow clone.
func shallowHint(rev string) string {
	if expression.MatchString(rev) {
		return "the clone is shallow; fetch more history: git fetch --deepen=100"
	}
	return "fetch it first: git fetch origin " + fault.Quote(strings.TrimPrefix(rev, "origin/"))
}

// nearestRef returns the name that differs least from a mistyped one; "" if none is near. A branch of a
// remote is near if only the remote is missing.
func nearestRef(rev string, names []string) string {
	best, fewest := "", 1000
	for _, name := range names {
		if slices.Contains([]string{"origin/" + rev, strings.TrimPrefix(rev, "origin/")}, name) {
			return name
		}
		if n, ok := suggest.Slip(rev, name); ok && n < fewest {
			best, fewest = name, n
		}
	}
	return best
}
