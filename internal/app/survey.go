package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model/provider"
	"ken/internal/outline"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
)

// Survey answers for the directories of the work tree.
func (w *workspace) Survey(ranks map[repo.Path]survey.Rank) *survey.Survey {
	return w.surveyOf(&surveyTree{w: w}, ranks)
}

func (w *workspace) surveyOf(tree survey.Tree, ranks map[repo.Path]survey.Rank) *survey.Survey {
	all := maps.Clone(w.cfg.Survey.Ranks)
	if all == nil {
		all = make(map[repo.Path]survey.Rank)
	}
	maps.Copy(all, ranks)
	_, past := tree.(*commitTree)
	return survey.New(tree, w.store, survey.Options{
		Exclude: w.cfg.Survey.Exclude, Ranks: all, Counts: w.cfg.Registry.Counts, Past: past,
	})
}

// Desk hands the directories out.
func (w *workspace) Desk() *survey.Desk {
	return survey.NewDesk(w.Survey(nil), w.store, w.git.Worktree(), rand.Text)
}

// Submit takes in what an agent wrote. What it says of files is kept for the contents
// that the work item held.
func (w *workspace) Submit(ctx context.Context, sub survey.Submission) (*survey.Submitted, error) {
	if sub.Author == "" {
		sub.Author = author(ctx, w.git, w.author)
	}
	done, err := w.Desk().Submit(ctx, sub)
	if err != nil || done.Result == survey.SubmitFenced || done.Result == survey.SubmitRejected {
		return done, err
	}
	refused, err := w.keepFiles(ctx, sub.Author, sub.Path, done.Basis, sub.Files)
	if len(refused) > 0 {
		refused = slices.Sorted(slices.Values(refused))
		if done.Reason != "" {
			done.Reason += "; "
		}
		done.Reason += "not kept: " + strings.Join(refused, ", ")
	}
	return done, err
}

// keepFiles keeps what was said of a directory's files. What it does not keep, it names
// with the reason.
func (w *workspace) keepFiles(ctx context.Context, author string, dir repo.Path, basis survey.Basis, texts map[repo.Path]string) (refused []string, err error) {
	var updates []registry.Update
	texts = maps.Clone(texts)
	for _, f := range basis.Files {
		path := repo.Path(f.Name)
		if dir != "" {
			path = dir + "/" + path
		}
		if text, ok := texts[path]; ok {
			updates = append(updates, registry.Update{Path: path, Text: text, Read: f.ID.String(), Author: author})
			delete(texts, path)
		}
	}
	for path := range texts {
		refused = append(refused, fmt.Sprintf("%s (not one of its files)", path))
	}
	if len(updates) == 0 {
		return refused, nil
	}
	written, err := w.registry.Write(ctx, updates)
	for i, u := range written {
		if u.Result == registry.Rejected {
			refused = append(refused, fmt.Sprintf("%s (%s)", updates[i].Path, u.Reason))
		}
	}
	return refused, err
}

// SurveyLimits fills in what is configured.
func (w *workspace) SurveyLimits(opts survey.RunOptions) survey.RunOptions {
	c := w.cfg.Survey
	if opts.Jobs == 0 {
		opts.Jobs = cmp.Or(c.Jobs, defaultJobs)
	}
	if opts.MaxTokens == 0 {
		opts.MaxTokens = c.MaxTokens
	}
	if opts.MaxCost == 0 {
		opts.MaxCost = c.MaxCost
	}
	opts.Files = func(ctx context.Context, author string, it *survey.Item, texts map[repo.Path]string) error {
		_, err := w.keepFiles(ctx, author, it.Path, it.Basis, texts)
		return err
	}
	return opts
}

// defaultJobs is how many directories are described at once.
const defaultJobs = 4

// Writer returns who describes directories. What a repository's configuration would
// have started as a program, only the user's own word starts: a clone is a stranger.
func (w *workspace) Writer(named, called string) (survey.Writer, error) {
	cfg := w.provider(named, called)
	if cfg.Provider == outlineProvider {
		return survey.Outliner{}, nil
	}
	if cfg.Provider == provider.Command && named == "" {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "if you trust it: ken survey run --provider command",
			Err: fmt.Errorf("the configuration wants to start %q", cfg.Command),
		}
	}
	m, err := provider.New(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	return &survey.Thinker{Model: m, Plain: cfg.Provider == provider.Command}, nil
}

// Planner returns the same as far as plans go: it has a name and a price, and needs no
// key, for it is not asked.
func (w *workspace) Planner(named, called string) (survey.Writer, error) {
	cfg := w.provider(named, called)
	if cfg.Provider == outlineProvider {
		return survey.Outliner{}, nil
	}
	m, err := provider.Quote(cfg, provider.Options{})
	if err != nil {
		return nil, err
	}
	return &survey.Thinker{Model: m}, nil
}

// provider says who is meant: by the user's word, else by the configuration.
func (w *workspace) provider(named, called string) provider.Config {
	c := w.cfg.Survey
	kind := cmp.Or(named, c.Provider, outlineProvider)
	if c.Provider != "" && c.Provider != outlineProvider && kind != c.Provider {
		c.Model, c.BaseURL = "", "" // those of another provider
	}
	return provider.Config{
		Provider: kind, Model: cmp.Or(called, c.Model), BaseURL: c.BaseURL, Command: c.Command, Prices: c.Prices,
	}
}

const outlineProvider = "outline"

// A surveyTree is the work tree as it was verified.
type surveyTree struct {
	w      *workspace
	commit repo.ID
	state  registry.State // as the files were found
	about  map[repo.Path]registry.Row

	once  sync.Once
	files []survey.File
	err   error
}

// Commit is HEAD, once the files were asked for.
func (t *surveyTree) Commit() repo.ID { return t.commit }

// Files verifies the work tree and lists what it holds, the same whenever it is asked.
func (t *surveyTree) Files(ctx context.Context) ([]survey.File, error) {
	t.once.Do(func() { t.files, t.err = t.verify(ctx) })
	return t.files, t.err
}

func (t *surveyTree) verify(ctx context.Context) ([]survey.File, error) {
	rep, err := t.w.registry.Verify(ctx, registry.VerifyOptions{OmitNew: true})
	if err != nil {
		return nil, err
	}
	t.commit, t.state = rep.Head, rep.State
	if rep.State == registry.StateNew {
		return nil, nil // and rows, if there are any, are of what was there before
	}
	problems := make(map[repo.Path]string)
	for _, v := range rep.Verdicts {
		switch v.Verdict {
		case registry.FoundUnknown, registry.FoundConflicted, registry.FoundMissing:
			problems[v.RawPath()] = v.Verdict.String()
			if v.Reason != "" {
				problems[v.RawPath()] = v.Reason
			}
		default:
		}
	}
	var files []survey.File
	t.about = make(map[repo.Path]registry.Row)
	for row, err := range t.w.store.Rows(ctx, t.w.git.Worktree()) {
		if err != nil {
			return nil, err
		}
		f := survey.File{Path: row.Path, ID: row.Content.ID, Size: row.Stat.Size, Kind: row.Kind, Excluded: row.Excluded}
		if why, ok := problems[row.Path]; ok {
			f.ID, f.Problem = repo.ID{}, why
		}
		if !row.About.IsZero() {
			t.about[row.Path] = row
		}
		files = append(files, f)
	}
	return files, t.measure(ctx, files)
}

// measure fills in sizes: a row has none while nothing vouches for its content.
func (t *surveyTree) measure(ctx context.Context, files []survey.File) error {
	var which []int
	var entries []repo.Entry
	for i, f := range files {
		if f.Size == 0 && f.Problem == "" {
			which, entries = append(which, i), append(entries, repo.Entry{Path: f.Path})
		}
	}
	if len(which) == 0 {
		return nil
	}
	found, err := t.w.files.Stat(ctx, entries)
	for k, i := range which {
		if err == nil {
			files[i].Size = found[k].Stat.Size
		}
	}
	return err
}

// Read reads a file as it lies in the work tree.
func (t *surveyTree) Read(ctx context.Context, f *survey.File, most int) ([]byte, error) {
	var out []byte
	var failed error
	err := t.w.files.Bytes(ctx, []repo.Path{f.Path}, int64(most), func(_ int, b []byte, err error) {
		out, failed = append(out, b...), err
	})
	if err == nil {
		err = failed
	}
	// Whoever reads another content than the one that is judged would write about it.
	if past := (specPast{t.w.git, t.w}); err == nil && !past.Stored(out, f.ID) {
		err = fmt.Errorf("read %s: it has changed since it was looked at", f.Path)
	}
	return out, err
}

// outlineMaker names what makes outlines: another one may make others.
func outlineMaker(path repo.Path) string {
	return fmt.Sprint(outline.Version, " ", outline.LanguageOf(path, nil))
}

// Outlines reads the files that have none kept.
func (t *surveyTree) Outlines(ctx context.Context, files []*survey.File) ([]*outline.Outline, error) {
	past := specPast{t.w.git, t.w}
	return t.w.outlines(ctx, files, func(which []int, see func(k int, content []byte)) error {
		paths := make([]repo.Path, len(which))
		for k, i := range which {
			paths[k] = files[i].Path
		}
		return t.w.files.Bytes(ctx, paths, outline.MaxBytes, func(k int, b []byte, err error) {
			// What is not of the content that is judged has no say.
			if err == nil && past.Stored(b, files[which[k]].ID) {
				see(k, b)
			}
		})
	})
}

// Summaries returns what the registry has about files.
func (t *surveyTree) Summaries(ctx context.Context, files []*survey.File) ([]survey.Summary, error) {
	return t.w.summaries(ctx, files, func(f *survey.File) (repo.Content, bool) {
		row, ok := t.about[f.Path]
		return row.About.Content, ok
	})
}

// outlines returns the outlines of files by their contents: those that are kept, and
// of the others what read brings; which they are is said by their places.
func (w *workspace) outlines(ctx context.Context, files []*survey.File, read func(which []int, see func(k int, content []byte)) error) ([]*outline.Outline, error) {
	list := make([]*outline.Outline, len(files))
	var missing []int
	for i, f := range files {
		if f.Problem == "" && outline.MayRead(f.Path) {
			missing = append(missing, i)
		}
	}
	missing = w.keptOutlines(ctx, files, list, missing)
	if len(missing) == 0 {
		return list, nil
	}
	found := make([][]byte, len(missing))
	err := read(missing, func(k int, content []byte) {
		o, err := outline.Of(files[missing[k]].Path, content)
		if err != nil {
			o = nil
		}
		list[missing[k]] = o
		if found[k], err = json.Marshal(o); err != nil {
			found[k] = nil
		}
	})
	if err != nil {
		return nil, err
	}
	w.keepOutlines(ctx, files, missing, found)
	return list, nil
}

// keptOutlines fills in the outlines that are known, and returns which are not.
func (w *workspace) keptOutlines(ctx context.Context, files []*survey.File, list []*outline.Outline, which []int) []int {
	byMaker := make(map[string][]int)
	for _, i := range which {
		maker := outlineMaker(files[i].Path)
		byMaker[maker] = append(byMaker[maker], i)
	}
	var missing []int
	for maker, some := range byMaker {
		ids := make([]repo.ID, len(some))
		for k, i := range some {
			ids[k] = files[i].ID
		}
		kept, err := w.outlineCache().Load(ctx, maker, ids)
		for _, i := range some {
			text, ok := kept[files[i].ID]
			var o *outline.Outline
			if err != nil || !ok || json.Unmarshal(text, &o) != nil {
				missing = append(missing, i)
				continue
			}
			list[i] = o
		}
	}
	slices.Sort(missing)
	return missing
}

// keepOutlines keeps outlines for the next time. One that cannot be kept is made again.
func (w *workspace) keepOutlines(ctx context.Context, files []*survey.File, which []int, found [][]byte) {
	byMaker := make(map[string]map[repo.ID][]byte)
	for k, i := range which {
		if found[k] == nil {
			continue
		}
		maker := outlineMaker(files[i].Path)
		if byMaker[maker] == nil {
			byMaker[maker] = make(map[repo.ID][]byte)
		}
		byMaker[maker][files[i].ID] = found[k]
	}
	for maker, outlines := range byMaker {
		_ = w.outlineCache().Save(ctx, maker, outlines)
	}
}

func (w *workspace) outlineCache() *store.Outlines {
	w.cacheOnce.Do(func() { w.cache = store.OpenOutlines(w.git.CommonDir()) })
	return w.cache
}

// summaries returns the texts about files whose content, or what the text was written
// from, is known by about.
func (w *workspace) summaries(ctx context.Context, files []*survey.File, about func(*survey.File) (repo.Content, bool)) ([]survey.Summary, error) {
	list := make([]survey.Summary, len(files))
	var bases []repo.Content
	for _, f := range files {
		if c, ok := about(f); ok {
			bases = append(bases, c)
		}
	}
	if len(bases) == 0 {
		return list, nil
	}
	texts, err := w.store.Newest(ctx, bases)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		c, ok := about(f)
		if !ok {
			continue
		}
		if record, ok := texts[c]; ok {
			list[i] = survey.Summary{Text: record.Text, State: fresh.Judge(record.Basis, repo.Content{ID: f.ID})}
		}
	}
	return list, nil
}
