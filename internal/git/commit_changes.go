package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ken/internal/git/command"
	"ken/internal/git/objects"
	"ken/internal/repo"
)

// listFiles lists all files of a commit or tree as additions.
func (r *Repo) listFiles(ctx context.Context, tree repo.ID) ([]repo.Change, error) {
	var list []repo.Change
	var limit listingLimit
	err := r.splitLong(ctx, []string{"ls-tree", "-r", "-z", "--full-tree", tree.String()}, func(item string) error {
		f, err := objects.ParseTreeItem(item)
		if err == nil {
			err = limit.add(string(f.Path))
		}
		list = append(list, repo.Change{Path: f.Path, Kind: repo.Added, New: f.ID, NewMode: f.Mode})
		return err
	})
	return list, err
}

// A listingLimit stops a listing that has too many files. A few small trees that contain each
// other can list any number of files.
type listingLimit struct{ files, bytes int }

// The limits of a listing.
const (
	maxListed      = 1_000_000
	maxListedBytes = 128 << 20 // of all paths together
)

func (l *listingLimit) add(path string) error {
	l.files++
	l.bytes += len(path)
	if l.files > maxListed {
		return fmt.Errorf("the commit has more than %d files", maxListed)
	}
	if l.bytes > maxListedBytes {
		return fmt.Errorf("the paths of the commit have more than %d bytes", maxListedBytes)
	}
	return nil
}

// splitLong runs git and calls f with each item of its output. Its timeout counts only time without output.
func (r *Repo) splitLong(ctx context.Context, args []string, f func(string) error) error {
	return r.git().Split(ctx, command.Call{Args: args, IdleTimeoutOnly: true}, f)
}

// TreeChanges returns the files that differ between two commits. From the zero ID, every file
// is an addition. It fails on a commit with more than a million files.
func (r *Repo) TreeChanges(ctx context.Context, from, to repo.ID) ([]repo.Change, error) {
	if from == to {
		return nil, nil
	}
	if from.IsZero() {
		return r.listFiles(ctx, to)
	}
	// git diff-tree keeps all differences in memory before it prints the first, so ls-tree, which
	// prints at once, checks the limit.
	var limit listingLimit
	if err := r.splitLong(ctx, []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", to.String()}, limit.add); err != nil {
		return nil, err
	}
	var list []repo.Change
	entry := ""
	args := []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none", from.String(), to.String()}
	err := r.splitLong(ctx, args, func(item string) error {
		if entry == "" {
			entry = item
			return nil
		}
		c, err := parseRaw(entry)
		c.Path, entry = repo.Path(item), ""
		list = append(list, c)
		return err
	})
	if err == nil && entry != "" {
		err = errors.New("git diff-tree: truncated output")
	}
	return list, err
}

// parseRaw reads the modes, ids and letter before a path.
func parseRaw(entry string) (c repo.Change, err error) {
	word := strings.Split(strings.TrimPrefix(entry, ":"), " ")
	if len(word) != 5 {
		return c, fmt.Errorf("git diff-tree: cannot read %q", entry)
	}
	c.OldMode, c.NewMode = octal(word[0]), octal(word[1])
	if c.Old, err = repo.ParseID(word[2]); err != nil {
		return c, err
	}
	c.New, err = repo.ParseID(word[3])
	return c, err
}

// manyPaths is the number of paths from which listing all files is faster than asking for each.
const manyPaths = 2000

// HavePaths reports for each path whether at least one of the commits has it. Zero IDs are
// ignored.
func (r *Repo) HavePaths(ctx context.Context, paths []repo.Path, tips ...repo.ID) ([]bool, error) {
	have := make([]bool, len(paths))
	tips = slices.DeleteFunc(slices.Clone(tips), repo.ID.IsZero)
	slices.SortFunc(tips, func(a, b repo.ID) int { return strings.Compare(a.String(), b.String()) })
	if tips = slices.Compact(tips); len(paths) == 0 || len(tips) == 0 {
		return have, nil
	}
	if len(paths) > manyPaths {
		at := make(map[repo.Path]int, len(paths))
		for i, p := range paths {
			at[p] = i
		}
		for _, tip := range tips {
			list, err := r.listFiles(ctx, tip)
			if err != nil {
				return nil, err
			}
			for _, c := range list {
				if i, ok := at[c.Path]; ok {
					have[i] = true
				}
			}
		}
		return have, nil
	}
	var ask strings.Builder
	for _, p := range paths {
		for _, tip := range tips {
			ask.WriteString(tip.String() + ":" + string(p) + "\n")
		}
	}
	out, err := r.git().Read(ctx, strings.NewReader(ask.String()), "cat-file", "--buffer", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(paths)*len(tips) {
		return nil, errors.New("git cat-file: truncated output")
	}
	for i, line := range lines {
		if !strings.HasSuffix(line, " missing") {
			have[i/len(tips)] = true
		}
	}
	return have, nil
}

// A CommitInfo has the committer, the signature and the changes of a commit.
type CommitInfo struct {
	ID        repo.ID
	Committer string // Name <email>
	At        time.Time
	Good      bool   // the commit has a good signature of a trusted key
	Signer    string // the owner of that key, as git names them
	Trailers  []repo.Trailer
	Changes   []repo.Change // see [repo.Commit]
}

// lastSecond is the end of the year 9999 in Unix time. A commit can name any date.
const lastSecond = 253_402_300_799

// committers returns the committers of the commits that git log selects.
func (r *Repo) committers(ctx context.Context, verify bool, selection ...string) (map[repo.ID]CommitInfo, error) {
	signature := "%x00"
	if verify {
		signature = "%G?%x00%GS"
	}
	args := []string{"log", "-z", "--no-patch", "--no-show-signature", "--no-notes", "--no-color", "--no-decorate", "--no-mailmap", "--encoding=UTF-8"}
	args = append(args, "--format=%H%x00%cn <%ce>%x00%ct%x00"+signature)
	infos := make(map[repo.ID]CommitInfo)
	var field []string
	err := r.splitLong(ctx, append(append(args, selection...), "--"), func(item string) error {
		field = append(field, item)
		if len(field) < 5 {
			return nil
		}
		id, err := repo.ParseID(field[0])
		if err != nil {
			return err
		}
		seconds, err := strconv.ParseInt(field[2], 10, 64)
		at := time.Unix(min(max(seconds, 0), lastSecond), 0).UTC()
		infos[id] = CommitInfo{ID: id, Committer: field[1], At: at, Good: field[3] == "G", Signer: field[4]}
		field = nil
		return err
	})
	return infos, err
}

// VerifyCommits returns the committer of each commit, after verifying the signatures. It returns no
// trailers and no changes.
func (r *Repo) VerifyCommits(ctx context.Context, commits []repo.ID) ([]CommitInfo, error) {
	selection := []string{"--no-walk=unsorted"}
	for _, id := range commits {
		selection = append(selection, id.String())
	}
	infos, err := r.committers(ctx, true, selection...)
	list := make([]CommitInfo, len(commits))
	for i, id := range commits {
		list[i] = infos[id]
	}
	return list, err
}

// WalkCommits calls f with each commit that tip contains and known does not, with the trailers
// of those keys. It verifies signatures only if verify is set.
func (r *Repo) WalkCommits(ctx context.Context, tip, known repo.ID, verify bool, keys []string, f func(CommitInfo) error) error {
	selection := []string{tip.String()}
	var exclude []repo.ID
	if !known.IsZero() {
		selection = append(selection, "^"+known.String())
		exclude = []repo.ID{known}
	}
	infos, err := r.committers(ctx, verify, selection...)
	if err != nil {
		return err
	}
	return r.Walk(ctx, []repo.ID{tip}, exclude, keys, func(c repo.Commit) error {
		info, ok := infos[c.ID]
		if !ok {
			return fmt.Errorf("git log: no answer for commit %s", c.ID.Short())
		}
		info.Trailers, info.Changes = c.Trailers, c.Changes
		return f(info)
	})
}

// Contains reports whether commit is tip or an ancestor of tip.
func (r *Repo) Contains(ctx context.Context, tip, commit repo.ID) (bool, error) {
	if tip == commit {
		return true, nil
	}
	return r.git().Check(ctx, "merge-base", "--is-ancestor", commit.String(), tip.String())
}

// CommitFile returns the content of a file of a commit, nil if the commit does not have it. It
// fails if the id is not that of a commit.
func (r *Repo) CommitFile(ctx context.Context, commit repo.ID, path repo.Path) ([]byte, error) {
	ask := commit.String() + "\n" + commit.String() + ":" + string(path) + "\n"
	out, err := r.git().Read(ctx, strings.NewReader(ask), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	kind, _, rest, err := cutObject(out)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "commit":
	case "missing":
		return nil, fmt.Errorf("object %s is missing", commit.Short())
	default:
		return nil, fmt.Errorf("%s is a %s, not a commit", commit.Short(), kind)
	}
	kind, content, _, err := cutObject(rest)
	if err != nil || kind != "blob" {
		return nil, err
	}
	return []byte(content), nil
}

// cutObject cuts the first object off the answer of git cat-file --batch.
func cutObject(out string) (kind, content, rest string, err error) {
	head, rest, ok := strings.Cut(out, "\n")
	word := strings.Split(head, " ")
	if ok && word[len(word)-1] == "missing" {
		return "missing", "", rest, nil
	}
	if !ok || len(word) != 3 {
		return "", "", "", fmt.Errorf("git cat-file: cannot read %q", head)
	}
	size, err := strconv.Atoi(word[2])
	if err != nil || size < 0 || size >= len(rest) {
		return "", "", "", fmt.Errorf("git cat-file: cannot read %q", head)
	}
	return word[1], rest[:size], rest[size+1:], nil
}
