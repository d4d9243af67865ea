package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"ken/internal/agenthook"
	"ken/internal/brief"
	"ken/internal/fresh"
	"ken/internal/project"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// greet returns the headline and the brief of the repository. If the repository was never
// verified, it returns the headline alone: a hook does not read every file.
func (h *hookEvent) greet(ctx context.Context) (string, error) {
	_, verified, err := h.w.store.Baseline(ctx, h.w.git.Worktree())
	if err != nil {
		return "", err
	}
	if !verified {
		rep, err := h.w.registry.Status(ctx, registry.VerifyOptions{OmitNew: true})
		if err != nil || rep.State == registry.StateNew {
			return "", err
		}
		return agenthook.Greeting(rep.Headline(), ""), nil
	}
	tree := &surveyTree{w: h.w}
	if err := tree.verify(ctx); err != nil {
		return "", err
	}
	headline := tree.headline()
	quick, cancel := h.within(ctx, greetShare)
	defer cancel()
	room := agenthook.GreetingRoom(headline)
	b, err := h.w.briefWithoutIndex(quick, tree, room/brief.BytesPerToken)
	if err != nil {
		if quick.Err() != nil && ctx.Err() == nil {
			return agenthook.Greeting(headline, agenthook.NoBrief), nil
		}
		return "", err
	}
	text, _ := b.Quoted(room)
	return agenthook.Greeting(headline, text), nil
}

// briefWithoutIndex returns the brief of the repository from what needs no search index.
func (w *workspace) briefWithoutIndex(ctx context.Context, tree *surveyTree, budget int) (*brief.Brief, error) {
	t := &findTree{Tree: tree, w: w}
	if _, err := t.Files(ctx); err != nil {
		return nil, err
	}
	r := &briefReader{w: w, t: t, survey: w.surveyOf(tree, nil)}
	return r.brief(ctx, "", budget)
}

// editFiles is how many files of an edit are told about.
const editFiles = 3

// beforeEdit says what to know about files before an edit, once per session. It says nothing if
// that takes too long, and of a file about which ken knows nothing that matters.
func (h *hookEvent) beforeEdit(ctx context.Context, paths []repo.Path) (text string, err error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p repo.Path) bool { return h.memory.Told(editOf(p), briefed) })
	if len(paths) == 0 {
		return "", nil
	}
	quick, cancel := h.within(ctx, editShare)
	defer cancel()
	x := searchindex.OpenExisting(quick, h.w.searchIndexFile())
	if x != nil {
		defer func() { err = errors.Join(err, x.Close()) }()
	}
	said, err := h.editBriefs(quick, x, paths[:min(len(paths), editFiles)])
	if err != nil && x != nil && quick.Err() == nil { // the index may be damaged; it is only a cache
		said, err = h.editBriefs(quick, nil, paths[:min(len(paths), editFiles)])
	}
	if err != nil && quick.Err() != nil {
		return "", ctx.Err()
	}
	return strings.Join(said, "\n"), err
}

// briefed is the word for what a session was told about a file before an edit.
const briefed = "briefed"

func editOf(p repo.Path) string { return "edit of " + string(p) }

func (h *hookEvent) editBriefs(ctx context.Context, x *searchindex.Index, paths []repo.Path) (said []string, err error) {
	r, err := newEditReader(ctx, h.w, x)
	if err != nil {
		return nil, err
	}
	known, err := h.w.registry.Show(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		facts, indexed, err := r.facts(ctx, p, &known[i])
		if err != nil {
			return nil, err
		}
		limit := agenthook.MaxEdit / len(paths)
		b := brief.BeforeEdit(facts, limit/brief.BytesPerToken)
		text, _ := b.Quoted(limit)
		if text = h.once(editOf(p), briefed, agenthook.BeforeEdit(p.String(), text, indexed)); text != "" {
			said = append(said, strings.TrimRight(text, "\n"))
		}
	}
	return said, nil
}

// An editReader collects facts about files without listing the work tree, and takes from the
// search index only facts about files that have not changed since.
type editReader struct {
	briefReader
	files currentFiles
}

func newEditReader(ctx context.Context, w *workspace, x *searchindex.Index) (*editReader, error) {
	snap, err := w.git.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	r := &editReader{briefReader: briefReader{w: w, x: x, t: &findTree{w: w}}, files: currentFiles{findTree{w: w}}}
	for _, e := range snap.Index.Entries {
		if len(r.paths) == 0 || r.paths[len(r.paths)-1] != e.Path { // a conflict has several entries
			r.paths = append(r.paths, e.Path)
		}
	}
	r.project, err = project.New(r.paths, func(p repo.Path) ([]byte, error) { return r.files.Read(ctx, p), nil })
	return r, err
}

// facts returns what to know before an edit of a file. indexed says that some of it is from the
// search index.
func (r *editReader) facts(ctx context.Context, p repo.Path, k *registry.Knowledge) (facts brief.FileFacts, indexed bool, err error) {
	kinds := make(map[repo.Path]repo.Kind)
	facts = brief.FileFacts{
		Path: p, Kind: k.Kind, Project: r.project, Alone: r.alone(p), Tests: r.testsLike(p),
		Kinds: func(p repo.Path) repo.Kind { return kinds[p] },
	}
	if k.Text != "" && (k.Verdict == fresh.Fresh || k.Verdict == fresh.Stale) {
		facts.Words = append(facts.Words, writtenSection(p, k))
	}
	if r.x == nil {
		return facts, false, nil
	}
	own, err := r.x.File(ctx, p)
	if err != nil || own.Number == 0 {
		return facts, false, err
	}
	if own.ID == k.CurrentID {
		if err := r.users(ctx, &facts, kinds); err != nil {
			return facts, false, err
		}
	}
	if facts.History, err = r.fileHistory(ctx, p); err != nil {
		return facts, false, err
	}
	facts.History.Companions = slices.DeleteFunc(facts.History.Companions, func(c brief.Companion) bool { return !r.tracks(c.Path) })
	return facts, len(facts.Users)+len(facts.History.Companions) > 0, nil
}

// maxUserFiles is how many files that use another are compared with the index.
const maxUserFiles = 200

// users adds the uses of a file by files that are as they were indexed, and the kinds of those.
func (r *editReader) users(ctx context.Context, facts *brief.FileFacts, kinds map[repo.Path]repo.Kind) error {
	edges, err := r.x.Users(ctx, facts.Path)
	if err != nil {
		return err
	}
	current := make(map[repo.Path]bool)
	past := specPast{r.w.git, r.w}
	for _, e := range edges {
		if _, known := current[e.From]; !known && len(current) < maxUserFiles {
			from, err := r.x.File(ctx, e.From)
			if err != nil {
				return err
			}
			kinds[e.From] = from.Kind
			current[e.From] = from.Number != 0 && past.Stored(r.files.Read(ctx, e.From), from.ID)
		}
		if current[e.From] {
			facts.Users = append(facts.Users, e)
		}
	}
	if len(current) == maxUserFiles {
		facts.UserFiles, err = r.x.UserCount(ctx, facts.Path)
	}
	return err
}

// testsLike returns the test files whose name has the name of a file.
func (r *editReader) testsLike(p repo.Path) []repo.Path {
	stem, _, _ := strings.Cut(p.Base(), ".")
	var list []repo.Path
	for _, t := range r.paths {
		if strings.Contains(t.Base(), stem) && r.project.IsTest(t) {
			list = append(list, t)
		}
	}
	return list
}

// tracks reports whether git tracks a path.
func (r *editReader) tracks(p repo.Path) bool {
	_, ok := slices.BinarySearch(r.paths, p)
	return ok
}
