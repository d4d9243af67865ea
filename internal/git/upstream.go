package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ken/internal/git/config"
	"ken/internal/repo"
)

// Upstream returns the upstream of the branch of s.Head, as last fetched, and how many commits they differ by. It
// does not use the network.
//
// Known is false, without an error, if HEAD is detached or has no commit, if the branch has no upstream, if the
// upstream is gone, or if the history is missing in a shallow clone. If HEAD and the upstream are the same as in
// an earlier result (known, knownHead), Upstream returns the counts of that result.
func (r *Repo) Upstream(ctx context.Context, s *repo.Snapshot, known repo.Upstream, knownHead repo.ID) (repo.Upstream, error) {
	branch, ok := strings.CutPrefix(s.Head.Branch, "refs/heads/")
	if !ok || s.Head.Commit.IsZero() {
		return repo.Upstream{}, nil
	}
	cfg, err := r.repoConfig(ctx)
	if err != nil {
		return repo.Upstream{}, err
	}
	up := repo.Upstream{Ref: trackingRef(cfg, branch)}
	if up.Ref == "" {
		return repo.Upstream{}, nil
	}
	if up.Commit, ok, err = r.ResolveRef(ctx, up.Ref); err != nil || !ok {
		return repo.Upstream{Ref: up.Ref}, err
	}
	if up.Commit == s.Head.Commit {
		up.Known = true
		return up, nil
	}
	if known.Known && known.Commit == up.Commit && knownHead == s.Head.Commit {
		up.Known, up.Ahead, up.Behind = true, known.Ahead, known.Behind
		return up, nil
	}
	if shallow, err := r.isShallow(); err != nil || shallow {
		return up, err
	}
	// Without the commit of the upstream, the commits cannot be counted.
	if _, here, err := r.Tree(ctx, up.Commit); err != nil || !here {
		return up, err
	}
	out, err := r.git().Read(ctx, nil, "rev-list", "--left-right", "--count", s.Head.Commit.String()+"..."+up.Commit.String(), "--")
	if err != nil {
		return repo.Upstream{}, fmt.Errorf("compare with %s: %w", up.Ref, err)
	}
	if up.Ahead, up.Behind, err = parseCounts(out); err != nil {
		return repo.Upstream{}, err
	}
	up.Known = true
	return up, nil
}

// isShallow reports whether this is a shallow clone.
func (r *Repo) isShallow() (bool, error) {
	info, err := os.Stat(filepath.Join(r.common, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a shallow history: %w", err)
	}
	return info.Size() > 0, nil
}

// parseCounts parses the output of `git rev-list --left-right --count`.
func parseCounts(out string) (left, right int, err error) {
	l, r, ok := strings.Cut(strings.TrimSuffix(out, "\n"), "\t")
	if ok {
		left, err = strconv.Atoi(l)
		if err == nil {
			right, err = strconv.Atoi(r)
		}
	}
	if !ok || err != nil || left < 0 || right < 0 {
		return 0, 0, fmt.Errorf("git rev-list: cannot read the counts %q", out)
	}
	return left, right, nil
}

// trackingRef returns the local ref of the branch's upstream, "" if the branch has none.
func trackingRef(cfg config.Settings, branch string) string {
	remote, ok := cfg.Last("branch." + branch + ".remote")
	merge := cfg.All("branch." + branch + ".merge")
	if !ok || len(merge) == 0 {
		return ""
	}
	if remote == "." {
		return merge[0]
	}
	return mapRef(cfg.All("remote."+remote+".fetch"), merge[0])
}

// mapRef returns the local ref to which the refspecs fetch a ref, "" if there is none.
func mapRef(refspecs []string, ref string) string {
	for _, spec := range refspecs {
		if src, negative := strings.CutPrefix(spec, "^"); negative {
			if _, hit := matchGlob(src, ref); hit {
				return ""
			}
		}
	}
	for _, spec := range refspecs {
		src, dst, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if !ok || strings.HasPrefix(spec, "^") {
			continue
		}
		if star, hit := matchGlob(src, ref); hit {
			return strings.Replace(dst, "*", star, 1)
		}
	}
	return ""
}

// matchGlob matches a ref with a pattern that has at most one star, and returns the text that the star matches.
func matchGlob(pattern, ref string) (star string, ok bool) {
	before, after, glob := strings.Cut(pattern, "*")
	if !glob {
		return "", pattern == ref
	}
	if len(ref) < len(before)+len(after) || !strings.HasPrefix(ref, before) || !strings.HasSuffix(ref, after) {
		return "", false
	}
	return ref[len(before) : len(ref)-len(after)], true
}
