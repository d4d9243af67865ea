package docs

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"ken/internal/cache"
	"ken/internal/content"
	"ken/internal/docs/mention"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// The last check of a worktree is stored in two parts: an answer for the next command if nothing changed, and a record
// of what the next check takes over if something did.

// An answer is the report of the last check.
type answer struct {
	Digest []byte      // of its inputs; see Checker.digest
	Asked  []repo.Path // the untracked paths among the inputs
	Report Report      // without the mentions that hold
}

// A record is what the next check takes over.
type record struct {
	Head      repo.ID
	View      string // of the history
	Sparse    bool   // some files are not checked out; ken reads less of those
	Ignores   string // a digest of the rules that say which files git ignores
	Objects   string // which objects git had, if it lacked some that were needed
	Untracked map[repo.Path]untracked
	Documents []documentRecord
	Names     nameIndex
	Gap       string // why the history is incomplete; "" if it is not
}

// An untracked is what ken knows about an untracked path that a document names.
type untracked struct{ Exists, Ignored bool }

// A documentRecord is a document with its mentions and their verdicts.
type documentRecord struct {
	Path     repo.Path
	ID       repo.ID // of its content; zero if the next check has to read it again
	Mentions []CheckedMention
	Partial  string  // why there may be more mentions
	Unread   *Unread // why it has none; nil if it was read
}

// inputs are what a report is made from, as far as that is known before the check.
type inputs struct {
	snapshot *repo.Snapshot
	view     string             // of the history
	ignores  string             // of the rules outside of the work tree; "" if only git can find them
	files    []repo.File        // the tracked files, by path; with a zero ID if the content is not known
	edited   map[repo.Path]bool // files that may differ from the index
	digest   []byte
}

// inputs starts no git process. It reads the files that may differ from the index.
func (c *Checker) inputs(ctx context.Context, s *repo.Snapshot) (*inputs, error) {
	in := &inputs{snapshot: s, ignores: c.Git.IgnoreDigest(), edited: make(map[repo.Path]bool)}
	var err error
	if in.view, err = c.Git.HistoryView(ctx); err != nil {
		return nil, err
	}
	found, err := c.Files.Stat(ctx, s.Index.Entries)
	if err != nil {
		return nil, err
	}
	key := c.Cache.Key("docs-inputs")
	fmt.Fprintf(key, "%q\n%s\n%s\n%s\n%q\n%v\n", c.Git.GitDir(), s.Head.Commit, in.view, in.ignores, c.Policy, c.Git.Sparse())
	var edited []repo.Path
	var stats []repo.Stat
	var places []int
	for i := range s.Index.Entries {
		e, f := &s.Index.Entries[i], &found[i]
		file := repo.File{Path: e.Path, ID: e.ID, Mode: e.Mode}
		isClean := e.Flags&^repo.AssumeUnchanged == 0 && f.Presence == repo.RegularFile && f.Stat.MatchesIndex(e.Stat)
		isElsewhere := e.Flags.Has(repo.SkipWorktree) || e.Mode.SameType(repo.Gitlink)
		switch {
		case isClean: // git has compared it
		case f.Presence == repo.Absent && !isElsewhere:
			continue // deleted
		case f.Presence == repo.RegularFile:
			in.edited[e.Path] = true
			edited = append(edited, e.Path)
			stats = append(stats, f.Stat)
			places = append(places, len(in.files))
		case f.Presence != repo.Absent && e.Mode.SameType(repo.Regular):
			file.ID = repo.ID{} // another type of file, or one that cannot be read
		}
		in.files = append(in.files, file)
	}
	err = c.Files.Bytes(ctx, edited, maxText, func(i int, b []byte, err error) {
		id := repo.ID{}
		switch {
		case err == nil:
			id = c.Git.ObjectFormat().Blob(b)
		case errors.Is(err, content.ErrTooLarge): // it is not read
			id = c.Git.ObjectFormat().Blob(fmt.Appendf(nil, "%q %+v", string(edited[i]), stats[i]))
		}
		in.files[places[i]].ID = id
	})
	if err != nil {
		return nil, err
	}
	for _, f := range in.files {
		fmt.Fprintf(key, "%q %s %o\n", string(f.Path), f.ID, f.Mode)
	}
	in.digest = key.Sum()
	return in, nil
}

// digest returns a digest of all inputs: with the untracked paths that documents name, and the rules that ignore them.
func (c *Checker) digest(ctx context.Context, in *inputs, asked []repo.Path) ([]byte, error) {
	seen, err := c.Files.Stat(ctx, entriesOf(asked))
	if err != nil {
		return nil, err
	}
	rules, err := c.ignoreRules(ctx, in, asked)
	if err != nil {
		return nil, err
	}
	k := c.Cache.Key("docs-digest")
	fmt.Fprintf(k, "%x\n%s\n", in.digest, rules)
	for i, f := range seen {
		fmt.Fprintf(k, "%q %v\n", string(asked[i]), isPresent(f))
	}
	return k.Sum(), nil
}

// ignoreRules returns a digest of the rules that say whether git ignores some paths.
func (c *Checker) ignoreRules(ctx context.Context, in *inputs, paths []repo.Path) (string, error) {
	const name = ".gitignore"
	k := c.Cache.Key("ignore-rules")
	fmt.Fprintf(k, "%s\n", in.ignores)
	tracked := make(map[repo.Path]bool)
	for _, f := range in.files {
		if f.Path.Base() == name {
			tracked[f.Path] = true
			fmt.Fprintf(k, "%q %s\n", string(f.Path), f.ID)
		}
	}
	var others []repo.Path
	for _, p := range paths {
		for dir := range p.Dir().Upward() {
			file := repo.Path(path.Join(string(dir), name))
			if !tracked[file] {
				tracked[file] = true
				others = append(others, file)
			}
		}
	}
	slices.Sort(others)
	texts := make([][]byte, len(others))
	err := c.Files.Bytes(ctx, others, maxText, func(i int, b []byte, _ error) { texts[i] = bytes.Clone(b) })
	for i, text := range texts {
		if text != nil {
			fmt.Fprintf(k, "%q %q\n", string(others[i]), text)
		}
	}
	return fmt.Sprintf("%x", k.Sum()), err
}

func (c *Checker) placeKey(kind string) *cache.Key {
	k := c.Cache.Key(kind)
	fmt.Fprintf(k, "%q", c.Git.GitDir())
	return k
}

// The kinds of both parts in the cache.
const (
	answerKind = "docs"
	recordKind = "docs-record"
)

// load reads a part of the last check; false if it is not stored.
func (c *Checker) load(kind string, part any) bool {
	stored, ok := c.Cache.Load(c.placeKey(kind))
	return ok && gob.NewDecoder(bytes.NewReader(stored)).Decode(part) == nil
}

func (c *Checker) store(kind string, part any) {
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(part) == nil {
		c.Cache.Save(c.placeKey(kind), b.Bytes())
	}
}

// answered returns the report of the last check if all of its inputs are the same, nil otherwise.
func (c *Checker) answered(ctx context.Context, in *inputs) *Report {
	var last answer
	if !c.load(answerKind, &last) {
		return nil
	}
	now, err := c.digest(ctx, in, last.Asked)
	if err != nil || !slices.Equal(now, last.Digest) {
		return nil
	}
	return &last.Report
}

// save stores a check, unless one of its inputs may have changed meanwhile or ken could not read something that it may be
// able to read the next time.
func (c *Checker) save(ctx context.Context, in *inputs, j *judge) {
	isSure := in.ignores != "" && !j.tree.unsure.Load()
	isComplete := !slices.ContainsFunc(in.files, func(f repo.File) bool { return f.ID.IsZero() })
	if !isSure || !isComplete {
		return
	}
	rec := j.record
	rec.Objects = ""
	if j.past.lacks || j.tree.lacks {
		rec.Objects = c.Git.ObjectsDigest(c.now().Add(-settled))
		if rec.Objects == "" {
			return
		}
	}
	snapshot, err := c.Git.Snapshot(ctx)
	if err != nil {
		return
	}
	again, err := c.inputs(ctx, snapshot)
	if err != nil || !slices.Equal(again.digest, in.digest) {
		return
	}
	last := answer{Report: *j.report}
	for p := range rec.Untracked {
		last.Asked = append(last.Asked, p)
	}
	slices.Sort(last.Asked)
	if last.Digest, err = c.digest(ctx, in, last.Asked); err != nil {
		return
	}
	if rec.Objects != "" {
		last.Digest = nil // the next check asks whether git has the objects
	}
	last.Report.Mentions = slices.DeleteFunc(slices.Clone(last.Report.Mentions), func(m CheckedMention) bool { return m.Verdict == Holds })
	c.store(recordKind, rec)
	c.store(answerKind, last)
}

// settled is how long a directory of objects has to be unchanged for its time to prove that.
const settled = 2 * time.Second

func (c *Checker) now() time.Time {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	return now()
}

// StaleMentions returns the mentions that the last check of all documents in a worktree listed as stale, by document,
// and the commit of that check. The survey quotes no paragraph that has one.
func StaleMentions(ws *workspace.Workspace) (byDocument map[repo.Path][]string, head repo.ID) {
	c := Checker{Workspace: ws}
	var last answer
	if !c.load(answerKind, &last) {
		return nil, repo.ID{}
	}
	byDocument = make(map[repo.Path][]string)
	for _, m := range last.Report.Stale() {
		byDocument[m.File] = append(byDocument[m.File], m.Text)
	}
	return byDocument, last.Report.Head
}

// isDocument reports whether ken checks a tracked file.
func isDocument(f *repo.File) bool {
	return f.Mode.SameType(repo.Regular) && mention.IsDocument(f.Path)
}
