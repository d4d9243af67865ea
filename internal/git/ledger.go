package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/share"
)

// knowledgeRef is where a ledger lies, here and at remotes. Neither branches nor tags
// are below refs/ken, so that nothing of it is fetched, pushed or shown by itself.
const knowledgeRef = "refs/ken/knowledge"

// A Ledger is the history of shared records in a repository. It implements
// [share.Ledger].
type Ledger struct{ r *Repo }

var _ share.Ledger = Ledger{}

// Ledger returns that of the repository.
func (r *Repo) Ledger() Ledger { return Ledger{r} }

func knowledgeOf(remote string) string { return "refs/ken/remotes/" + remote + "/knowledge" }

// Tips implements [share.Ledger].
func (l Ledger) Tips(ctx context.Context, remote string) (own, theirs repo.ID, err error) {
	if err := l.checkRemote(ctx, remote); err != nil {
		return own, theirs, err
	}
	if own, _, err = l.r.ResolveRef(ctx, knowledgeRef); err != nil {
		return own, theirs, err
	}
	theirs, _, err = l.r.ResolveRef(ctx, knowledgeOf(remote))
	return own, theirs, err
}

// checkRemote refuses what is not configured: a name comes from a file that anybody may
// have committed, and git would take a path, an address or an option for one too.
func (l Ledger) checkRemote(ctx context.Context, remote string) error {
	c, err := l.r.everything(ctx)
	if err != nil {
		return err
	}
	if _, ok := c.last("remote." + remote + ".url"); ok && validRef(knowledgeOf(remote)) && !strings.HasPrefix(remote, "-") {
		return nil
	}
	var names []string
	for _, s := range c.list {
		if name, ok := strings.CutPrefix(s.key, "remote."); ok && strings.HasSuffix(name, ".url") {
			names = append(names, strings.TrimSuffix(name, ".url"))
		}
	}
	slices.Sort(names)
	hint := "add one: git remote add " + share.DefaultRemote + " URL"
	if names = slices.Compact(names); len(names) > 0 {
		hint = "name one that git remote -v lists: " + strings.Join(names, ", ")
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("there is no remote %q", remote)}
}

// Author implements [share.Ledger].
func (l Ledger) Author(ctx context.Context) (who string, signs bool, err error) {
	name, email, signs, err := l.committer(ctx)
	return name + " <" + email + ">", signs, err
}

// Layout implements [share.Ledger], in one run of git.
func (l Ledger) Layout(ctx context.Context, tip repo.ID) (share.Layout, error) {
	lay := share.Layout{Dropped: make(map[share.Name]repo.ID)}
	names := []string{tip.String(), tip.String() + ":format", tip.String() + ":records", tip.String() + ":dropped"}
	out, err := l.r.read(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return lay, err
	}
	for i, want := range []string{"commit", "blob", "tree", "tree"} {
		head, rest, ok := strings.Cut(out, "\n")
		word := strings.Split(head, " ")
		switch {
		case ok && word[len(word)-1] == "missing":
			if out = rest; i == 0 {
				return lay, fmt.Errorf("the commit %s is not here", tip.Short())
			}
			continue
		case !ok || len(word) != 3:
			return lay, fmt.Errorf("git cat-file: cannot read %q", head)
		}
		size, err := strconv.Atoi(word[2])
		if err != nil || size < 0 || size >= len(rest) {
			return lay, fmt.Errorf("git cat-file: cannot read %q", head)
		}
		content := rest[:size]
		out = rest[size+1:]
		id, err := repo.ParseID(word[0])
		switch {
		case err != nil:
			return lay, err
		case i == 0 && word[1] != want:
			return lay, fmt.Errorf("it is no commit but a %s", word[1])
		case word[1] != want:
		case i == 1:
			lay.Format = content
		case i == 2:
			lay.Records = id
		case i == 3:
			if err := l.lists(content, lay.Dropped); err != nil {
				return lay, err
			}
		}
	}
	return lay, nil
}

// lists reads a tree: of each entry a mode, a name, a NUL, and an id.
func (l Ledger) lists(tree string, into map[share.Name]repo.ID) error {
	for size := l.r.format.Size(); len(tree) > 0; {
		head, rest, ok := strings.Cut(tree, "\x00")
		mode, name, named := strings.Cut(head, " ")
		if !ok || !named || len(rest) < size {
			return errors.New("git cat-file: the tree breaks off")
		}
		if n, err := share.ParseName(name); err == nil && octal(mode) == repo.Regular {
			into[n] = repo.IDFromBytes([]byte(rest[:size]))
		}
		tree = rest[size:]
	}
	return nil
}

// list lists all files below a commit or tree, as if they were new.
func (l Ledger) list(ctx context.Context, tree repo.ID) ([]repo.Change, error) {
	var list []repo.Change
	var size bound
	err := l.split(ctx, []string{"ls-tree", "-r", "-z", "--full-tree", tree.String()}, func(item string) error {
		f, err := parseTreeItem(item)
		if err == nil {
			err = size.add(string(f.path))
		}
		list = append(list, repo.Change{Path: f.path, Kind: repo.Added, New: f.id, NewMode: f.mode})
		return err
	})
	return list, err
}

// A bound is how much was listed so far. A few small trees that name each other lead to
// any number of files.
type bound struct{ files, bytes int }

// What a ledger can have: several times what a budget of 64 MB holds.
const (
	maxListed      = 1_000_000
	maxListedBytes = 128 << 20 // of their paths
)

func (b *bound) add(path string) error {
	if b.files++; b.files > maxListed {
		return fmt.Errorf("it has more than %d files, and no knowledge has so many", maxListed)
	}
	if b.bytes += len(path); b.bytes > maxListedBytes {
		return fmt.Errorf("the paths of its files have more than %d bytes, and those of no knowledge have so many", maxListedBytes)
	}
	return nil
}

// split is [Repo.split] for an answer that may be long.
func (l Ledger) split(ctx context.Context, args []string, f func(string) error) error {
	return l.r.split(ctx, call{args: args, steady: true}, f)
}

// Differences implements [share.Ledger].
func (l Ledger) Differences(ctx context.Context, from, to repo.ID) ([]repo.Change, error) {
	if from == to {
		return nil, nil
	}
	if from.IsZero() {
		return l.list(ctx, to)
	}
	// git has all differences in memory before it tells the first; it lists files as it
	// comes to them.
	var size bound
	if err := l.split(ctx, []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", to.String()}, size.add); err != nil {
		return nil, err
	}
	var list []repo.Change
	entry := ""
	args := []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--ignore-submodules=none", from.String(), to.String()}
	err := l.split(ctx, args, func(item string) error {
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
		err = errors.New("git diff-tree: the answer breaks off")
	}
	return list, err
}

// parseRaw reads what stands before a path: modes, ids and a letter.
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

// manyPaths is from how many on it is quicker to have all files listed than to ask for
// each.
const manyPaths = 2000

// Have implements [share.Ledger].
func (l Ledger) Have(ctx context.Context, paths []repo.Path, tips ...repo.ID) ([]bool, error) {
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
			list, err := l.list(ctx, tip)
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
	out, err := l.r.read(ctx, strings.NewReader(ask.String()), "cat-file", "--buffer", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(paths)*len(tips) {
		return nil, errors.New("git cat-file: the answer breaks off")
	}
	for i, line := range lines {
		if !strings.HasSuffix(line, " missing") {
			have[i/len(tips)] = true
		}
	}
	return have, nil
}

// EachBlob implements [share.Ledger].
func (l Ledger) EachBlob(ctx context.Context, ids []repo.ID, see func(i int, content []byte, size int64)) error {
	return l.r.EachBlob(ctx, ids, see)
}

// latest is the last second that is spelled with four digits of a year, in seconds since 1970:
// a commit may say any.
const latest = 253_402_300_799

// vouchers returns who made the commits that git log is asked for.
func (l Ledger) vouchers(ctx context.Context, verify bool, which ...string) (map[repo.ID]share.Voucher, error) {
	signature := "%x00"
	if verify {
		signature = "%G?%x00%GS"
	}
	args := []string{"log", "-z", "--no-patch", "--no-show-signature", "--no-notes", "--no-color", "--no-decorate", "--no-mailmap", "--encoding=UTF-8"}
	args = append(args, "--format=%H%x00%cn <%ce>%x00%ct%x00"+signature)
	who := make(map[repo.ID]share.Voucher)
	var field []string
	err := l.split(ctx, append(append(args, which...), "--"), func(item string) error {
		if field = append(field, item); len(field) < 5 {
			return nil
		}
		id, err := repo.ParseID(field[0])
		if err != nil {
			return err
		}
		at, err := strconv.ParseInt(field[2], 10, 64)
		who[id] = share.Voucher{Commit: id, Committer: field[1], At: time.Unix(min(max(at, 0), latest), 0).UTC(), Good: field[3] == "G", Signer: field[4]}
		field = nil
		return err
	})
	return who, err
}

// Verify implements [share.Ledger].
func (l Ledger) Verify(ctx context.Context, commits []repo.ID) ([]share.Voucher, error) {
	which := []string{"--no-walk=unsorted"}
	for _, id := range commits {
		which = append(which, id.String())
	}
	who, err := l.vouchers(ctx, true, which...)
	list := make([]share.Voucher, len(commits))
	for i, id := range commits {
		list[i] = who[id]
	}
	return list, err
}

// Introductions implements [share.Ledger].
func (l Ledger) Introductions(ctx context.Context, tip, known repo.ID, verify bool, f func(share.Voucher, []repo.Change) error) error {
	which := []string{tip.String()}
	heads, exclude := []repo.ID{tip}, []repo.ID(nil)
	if !known.IsZero() {
		which = append(which, "^"+known.String())
		exclude = []repo.ID{known}
	}
	who, err := l.vouchers(ctx, verify, which...)
	if err != nil {
		return err
	}
	return l.r.Walk(ctx, heads, exclude, []string{"Signed-off-by"}, func(c repo.Commit) error {
		v, ok := who[c.ID]
		if !ok {
			return fmt.Errorf("git log: nothing of commit %s", c.ID.Short())
		}
		for _, t := range c.Trailers {
			v.SignedOff = append(v.SignedOff, t.Value)
		}
		return f(v, c.Changes)
	})
}
