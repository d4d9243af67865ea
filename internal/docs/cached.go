package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"
	"unicode/utf8"

	"ken/internal/cache"
	"ken/internal/repo"
)

// cacheKind is the kind of reports in the cache.
const cacheKind = "docs"

// settled is the minimum age of a file for its stat to prove its content.
const settled = 2 * time.Second

// inputs are everything that a report on all documents depends on. The first part is known in advance: HEAD and
// the git settings for histories, the tracked paths, the stat of every file, the policy and the ignore rules. The
// second part is found during the check: the untracked paths that it looked up, and the contents that git does not
// have. The second part is stored under the key of the first, and the report under the key of both.
type inputs struct {
	kind   string // the kind of cache entry that depends on them
	key    []byte
	proven bool               // the stats prove the contents
	edited map[repo.Path]bool // tracked files that may differ from the index
	// deleted are the tracked files that are deleted on disk. Submodules that are not checked out are not.
	deleted map[repo.Path]bool
	found   []repo.FileStat
	around  []byte // the key of all inputs except tracked files

	looked  []repo.Path
	missing []repo.ID
	objects bool // git lacks contents without naming them: any new object may change the report
}

// inputs reads the first part of the inputs. It starts no git process.
func (c *Checker) inputs(ctx context.Context, s *repo.Snapshot) (*inputs, error) {
	view, err := c.Git.HistoryView(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.Files.Stat(ctx, s.Index.Entries)
	if err != nil {
		return nil, err
	}
	ignored := c.Git.IgnoreDigest()
	in := &inputs{kind: cacheKind, edited: make(map[repo.Path]bool), deleted: make(map[repo.Path]bool), found: found, proven: ignored != ""}
	k := c.Cache.Key(cacheKind)
	fmt.Fprintf(k, "%q\n%s\n%s\n%s\n%q\n%v\n", c.Git.GitDir(), s.Head.Commit, view, ignored, c.Policy, c.Git.Sparse())
	in.around = k.Sum()
	fmt.Fprintf(k, "%s %d\n", s.Index.Checksum, len(s.Index.Entries))
	recent := c.recent()
	for i := range s.Index.Entries {
		e, f := &s.Index.Entries[i], &found[i]
		if s.Index.Checksum.IsZero() {
			fmt.Fprintf(k, "%q %s %o %d\n", string(e.Path), e.ID, e.Mode, e.Flags)
		}
		if e.Flags&^repo.AssumeUnchanged == 0 && f.Presence == repo.RegularFile && f.Stat.MatchesIndex(e.Stat) {
			continue // git has compared the file, and the checksum covers its stat
		}
		// A sparse checkout omits files. Their content is in the index.
		if f.Presence != repo.Absent {
			in.edited[e.Path] = true
		} else if !e.Flags.Has(repo.SkipWorktree) && !e.Mode.SameType(repo.Gitlink) {
			in.deleted[e.Path] = true
		}
		fmt.Fprintf(k, "%d %q %d %+v\n", i, string(e.Path), f.Presence, f.Stat)
		if f.Stat.Mtime > recent || f.Stat.Ctime > recent {
			in.proven = false
		}
	}
	in.key = k.Sum()
	return in, nil
}

// recent returns the time from which on a stat proves nothing.
func (c *Checker) recent() int64 {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	return now().Add(-settled).UnixNano()
}

// moreInputs is the stored form of the second part of the inputs.
type moreInputs struct {
	Looked  [][]byte // paths
	Missing []repo.ID
	Objects bool
}

// foundKey returns the key of the second part of the inputs.
func (c *Checker) foundKey(in *inputs) *cache.Key {
	k := c.Cache.Key(in.kind + "-inputs")
	fmt.Fprintf(k, "%x\n", in.key)
	return k
}

// reportKey returns the key of both parts as they are now. If they cannot be read or prove nothing, ok is false.
func (c *Checker) reportKey(ctx context.Context, in *inputs) (k *cache.Key, ok bool) {
	k = c.Cache.Key(in.kind + "-report")
	fmt.Fprintf(k, "%x\n", in.key)
	seen, err := c.Files.Stat(ctx, entriesOf(in.looked))
	if err != nil {
		return nil, false
	}
	recent := c.recent()
	for i, f := range seen {
		stat := repo.Stat{}
		// For a directory, the report depends only on its presence.
		if f.Presence == repo.RegularFile {
			stat = f.Stat
		}
		if stat.Mtime > recent || stat.Ctime > recent {
			return nil, false
		}
		fmt.Fprintf(k, "%q %d %+v\n", string(in.looked[i]), f.Presence, stat)
	}
	if in.objects {
		digest := c.Git.ObjectsDigest(time.Unix(0, recent))
		if digest == "" {
			return nil, false
		}
		fmt.Fprintf(k, "objects %s\n", digest)
	}
	if len(in.missing) == 0 {
		return k, true
	}
	sizes, err := c.Git.Sizes(ctx, in.missing)
	if err != nil {
		return nil, false
	}
	for i, id := range in.missing {
		fmt.Fprintf(k, "%s %v\n", id, sizes[i] < 0)
	}
	return k, true
}

// storedReportKey returns the key of both parts, with the second part that was stored for the first.
func (c *Checker) storedReportKey(ctx context.Context, in *inputs) (k *cache.Key, ok bool) {
	if !in.proven {
		return nil, false
	}
	stored, ok := c.Cache.Load(c.foundKey(in))
	if !ok {
		return nil, false
	}
	var more moreInputs
	if json.Unmarshal(stored, &more) != nil {
		return nil, false
	}
	in.looked = nil
	for _, p := range more.Looked {
		in.looked = append(in.looked, repo.Path(p))
	}
	in.missing, in.objects = more.Missing, more.Objects
	return c.reportKey(ctx, in)
}

// load returns the cached report for the inputs, without the mentions that hold; nil if there is none.
func (c *Checker) load(ctx context.Context, in *inputs) *Report {
	key, ok := c.storedReportKey(ctx, in)
	if !ok {
		return nil
	}
	stored, ok := c.Cache.Load(key)
	if !ok {
		return nil
	}
	var rep Report
	if json.Unmarshal(stored, &rep) != nil {
		return nil
	}
	return &rep
}

// unchanged reports whether the inputs are still the same.
func (c *Checker) unchanged(ctx context.Context, in *inputs) bool {
	snapshot, err := c.Git.Snapshot(ctx)
	if err != nil {
		return false
	}
	now, err := c.inputs(ctx, snapshot)
	return err == nil && slices.Equal(now.key, in.key)
}

// save stores a report, unless an input may have changed while it was made.
func (c *Checker) save(ctx context.Context, in *inputs, rep *Report) {
	if !in.proven || !storable(rep) {
		return
	}
	key, ok := c.reportKey(ctx, in)
	if !ok {
		return
	}
	short := *rep
	short.Mentions = withoutHolding(rep.Mentions)
	report, err := json.Marshal(short)
	if err != nil {
		return
	}
	c.Cache.Save(key, report)
	c.saveLooked(in)
}

// saveLooked stores the second part of the inputs under the key of the first.
func (c *Checker) saveLooked(in *inputs) {
	more := moreInputs{Missing: in.missing, Objects: in.objects}
	for _, p := range in.looked {
		more.Looked = append(more.Looked, []byte(p))
	}
	second, err := json.Marshal(more)
	if err != nil {
		return
	}
	c.Cache.Save(c.foundKey(in), second)
}

// addFound adds the inputs that were found during a check.
func (in *inputs) addFound(looked []repo.Path, missing []repo.ID) {
	in.looked = withIgnoreFiles(append(in.looked, looked...))
	in.missing = append(in.missing, missing...)
	slices.SortFunc(in.missing, func(a, b repo.ID) int { return slices.Compare(a.Bytes(), b.Bytes()) })
	in.missing = slices.Compact(in.missing)
}

// withIgnoreFiles returns paths and the .gitignore files that may ignore them, sorted. A .gitignore file may be
// untracked.
func withIgnoreFiles(paths []repo.Path) []repo.Path {
	all := slices.Clone(paths)
	for _, p := range paths {
		for dir := range p.Dir().Upward() {
			all = append(all, repo.Path(path.Join(string(dir), ".gitignore")))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// storable reports whether a report can be stored. A document that could not be read may be readable for the next
// caller, and text that is not UTF-8 would not survive the encoding.
func storable(rep *Report) bool {
	for _, u := range rep.Unread {
		if !u.Permanent || !utf8.ValidString(string(u.File)) {
			return false
		}
	}
	for _, d := range rep.Documents {
		if !utf8.ValidString(string(d.File)) {
			return false
		}
	}
	for _, m := range rep.Mentions {
		valid := utf8.ValidString(m.Text) && utf8.ValidString(m.Name) && utf8.ValidString(string(m.To)) && utf8.ValidString(string(m.Was))
		if !valid {
			return false
		}
	}
	return true
}
