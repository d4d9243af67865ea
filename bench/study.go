package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// studyOptions are the flags of studies.
type studyOptions struct {
	name      string
	back      int
	engines   string
	questions string // a file
	dir       string // of the repositories that the questions are about
	details   string // a file; "" for none
	earlier   string // files, with commas
	codegraph bool
	without   string // directories, with commas
}

func (o *studyOptions) flags() {
	flag.IntVar(&o.back, "back", 300, "with -run find: first-parent `commits` between the tree that is searched and HEAD")
	flag.StringVar(&o.engines, "engines", "", "with -run find or where: ask only these `engines`, with commas")
	flag.StringVar(&o.questions, "questions", "", "with -run where: a JSON `file` of questions with their answers")
	flag.StringVar(&o.dir, "repos", "", "with -run where: the `directory` that holds the repositories of the questions")
	flag.StringVar(&o.details, "details", "", "with -run find, where or edges: write every answer into this `file`, as JSON lines")
	flag.StringVar(&o.earlier, "earlier", "", "with -run find: take answers from these `files` that -details wrote, instead of asking again")
	flag.BoolVar(&o.codegraph, "codegraph", false, "with -run index: measure CodeGraph too, which takes minutes on a large repository")
	flag.StringVar(&o.without, "without", "", "with -run index: remove these `directories` first, with commas")
}

// A study measures how good ken's answers are. It returns its tables as Markdown.
type study func(*bench, context.Context) (string, error)

var studies = map[string]study{
	"edges":  (*bench).edgesStudy,
	"find":   (*bench).findStudy,
	"index":  (*bench).indexStudy,
	"review": (*bench).reviewStudy,
	"where":  (*bench).whereStudy,
}

func studyNames() string {
	return strings.Join(slices.Sorted(maps.Keys(studies)), ", ")
}

// runStudy prints what a study found, and puts it into a page with -update.
func (b *bench) runStudy(ctx context.Context, s study) error {
	if b.study.details != "" {
		if err := os.WriteFile(b.study.details, nil, 0o644); err != nil {
			return err
		}
	}
	text, err := s(b, ctx)
	if err != nil {
		return err
	}
	fmt.Print(text)
	if b.update != "" {
		begins, ends := studyMarks(b.study.name)
		if err := replaceBetween(b.update, begins, ends, text); err != nil {
			return err
		}
	}
	if b.check && slices.ContainsFunc(b.rows, row.missed) {
		return errMissed
	}
	return nil
}

// studyMarks are the lines around the tables of a study in a page.
func studyMarks(name string) (begins, ends string) {
	return "<!-- bench " + name + " -->\n", "<!-- /bench " + name + " -->\n"
}

// detail adds a line to the file of -details.
func (b *bench) detail(v any) error {
	if b.study.details == "" {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(b.study.details, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// tunedOn names the repositories that ken's rules were tried on while they were
// written. Their figures stand in a table of their own.
var tunedOn = []string{"ken", "flask", "ripgrep", "etcd", "hono"}

// tuned reports whether a repository is one of these.
func tuned(name string) bool { return slices.Contains(tunedOn, name) }

// A section is one repository's line of a table.
type section struct {
	repo  string
	cells []string
}

// bothTables returns two tables, of the repositories that ken was tuned on and of the
// others. The last line of each is the one that sum makes of the repositories in it.
func bothTables(header []string, sections []section, sum func(repos []string) []string) (string, error) {
	var text bytes.Buffer
	for _, half := range []struct {
		title string
		tuned bool
	}{{"Repositories that ken was not tuned on:", false}, {"Repositories that ken was tuned on:", true}} {
		lines := [][]string{header}
		var repos []string
		for _, s := range sections {
			if tuned(s.repo) == half.tuned {
				lines = append(lines, s.cells)
				repos = append(repos, s.repo)
			}
		}
		if len(repos) == 0 {
			continue
		}
		if sum != nil {
			lines = append(lines, sum(repos))
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "%s\n\n", half.title)
		if err := printMarkdown(&text, lines); err != nil {
			return "", err
		}
	}
	return text.String(), nil
}

// repoName is what a table calls the repository in a directory.
func repoName(dir string) string {
	return filepath.Base(strings.TrimSuffix(filepath.Clean(dir), "/.git"))
}

// A tree is a checked-out repository of our own, which a study may write to.
type tree struct {
	dir    string
	files  []string // tracked and checked out, in the order of the index
	commit string   // abbreviated
}

// clone checks out a commit of a repository in a directory of this run. The clone shares
// the objects of the repository, but none of its refs.
func (b *bench) clone(ctx context.Context, repo, commit string) (tree, error) {
	commit, err := gitAnswer(ctx, repo, b.env, "rev-parse", "--verify", commit)
	if err != nil {
		return tree{}, err
	}
	dir, err := b.emptyRepository(ctx, repo)
	if err != nil {
		return tree{}, err
	}
	objects, err := gitAnswer(ctx, repo, b.env, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return tree{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(objects+"\n"), 0o644); err != nil {
		return tree{}, err
	}
	return b.checkOut(ctx, dir, commit)
}

// copyUntil is clone for a commit before HEAD, but copies the objects that the commit
// reaches, so that nothing later is there to be found.
func (b *bench) copyUntil(ctx context.Context, repo, commit string) (tree, error) {
	dir, err := b.emptyRepository(ctx, repo)
	if err != nil {
		return tree{}, err
	}
	source, err := filepath.Abs(repo)
	if err != nil {
		return tree{}, err
	}
	if err := git(ctx, dir, b.env, nil, "fetch", "--quiet", "--no-tags", "file://"+source, commit); err != nil {
		progress("%s lacks objects of its history, which are shared instead of copied", repoName(repo))
		return b.clone(ctx, repo, commit)
	}
	return b.checkOut(ctx, dir, commit)
}

func (b *bench) emptyRepository(ctx context.Context, repo string) (string, error) {
	dir, err := os.MkdirTemp(b.tmp, repoName(repo)+"-")
	if err != nil {
		return "", err
	}
	return dir, git(ctx, dir, b.env, nil, "init", "--quiet", "--initial-branch=main")
}

// checkOut makes a commit HEAD and writes its files. Files whose content is missing, as
// large ones are in some clones, are left out as a sparse checkout would.
func (b *bench) checkOut(ctx context.Context, dir, commit string) (tree, error) {
	for _, args := range [][]string{{"update-ref", "HEAD", commit}, {"read-tree", "HEAD"}} {
		if err := git(ctx, dir, b.env, nil, args...); err != nil {
			return tree{}, err
		}
	}
	objects, err := gitAnswer(ctx, dir, b.env, "rev-list", "-1", "--objects", "--missing=print", "HEAD")
	if err != nil {
		return tree{}, err
	}
	missing := make(map[string]bool)
	for line := range strings.Lines(objects) {
		if id, found := strings.CutPrefix(strings.TrimSpace(line), "?"); found {
			missing[id] = true
		}
	}
	entries, err := gitAnswer(ctx, dir, b.env, "ls-files", "--stage", "-z")
	if err != nil {
		return tree{}, err
	}
	t := tree{dir: dir}
	var absent strings.Builder
	for _, entry := range splitNul(entries) {
		info, name, _ := strings.Cut(entry, "\t")
		if id := strings.Fields(info)[1]; missing[id] {
			absent.WriteString(name + "\x00")
		} else {
			t.files = append(t.files, name)
		}
	}
	if err := git(ctx, dir, b.env, strings.NewReader(absent.String()), "update-index", "-z", "--skip-worktree", "--stdin"); err != nil {
		return tree{}, err
	}
	if err := git(ctx, dir, b.env, nil, "checkout-index", "--all", "--index"); err != nil {
		return tree{}, err
	}
	t.commit, err = gitAnswer(ctx, dir, b.env, "rev-parse", "--short", "HEAD")
	return t, err
}

func splitNul(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\x00"), func(f string) bool { return f == "" })
}

// sourceExtensions are those of files that count as source, tests among them.
var sourceExtensions = strings.Fields(".go .ts .tsx .js .jsx .mjs .cjs .py .rs .java .kt .cs .rb .php .c .h .cc .cpp .hpp .svelte .vue .sh .swift .scala")

func isSource(name string) bool {
	return slices.Contains(sourceExtensions, path.Ext(strings.TrimLeft(path.Base(name), ".")))
}

// texts calls visit with every source file under a megabyte.
func (t tree) texts(visit func(name string, text []byte)) error {
	for _, name := range t.files {
		full := filepath.Join(t.dir, name)
		if !isSource(name) {
			continue
		}
		info, err := os.Stat(full)
		if err != nil || !info.Mode().IsRegular() || info.Size() >= 1<<20 {
			continue // a link to nowhere or to a directory is no file of this tree
		}
		text, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		visit(name, text)
	}
	return nil
}
