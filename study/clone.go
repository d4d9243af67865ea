package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A tree is a checked-out repository of our own, which a study may write to.
type tree struct {
	dir    string
	files  []string // tracked and checked out, in the order of the index
	commit string   // abbreviated
}

// clone checks out a commit of a repository in a directory of this run. The clone shares
// the objects of the repository, but none of its refs.
func (st *study) clone(ctx context.Context, repo, commit string) (tree, error) {
	commit, err := st.git(ctx, repo, "rev-parse", "--verify", commit)
	if err != nil {
		return tree{}, err
	}
	dir, err := st.emptyRepository(ctx, repo)
	if err != nil {
		return tree{}, err
	}
	objects, err := st.git(ctx, repo, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return tree{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(objects+"\n"), 0o644); err != nil {
		return tree{}, err
	}
	return st.checkOut(ctx, dir, commit)
}

// copyUntil is clone for a commit before HEAD, but copies the objects that the commit
// reaches, so that nothing later is there to be found.
func (st *study) copyUntil(ctx context.Context, repo, commit string) (tree, error) {
	dir, err := st.emptyRepository(ctx, repo)
	if err != nil {
		return tree{}, err
	}
	source, err := filepath.Abs(repo)
	if err != nil {
		return tree{}, err
	}
	if _, err := st.git(ctx, dir, "fetch", "--quiet", "--no-tags", "file://"+source, commit); err != nil {
		progress("%s lacks objects of its history, which are shared instead of copied", repoName(repo))
		return st.clone(ctx, repo, commit)
	}
	return st.checkOut(ctx, dir, commit)
}

func (st *study) emptyRepository(ctx context.Context, repo string) (string, error) {
	dir, err := os.MkdirTemp(st.tmp, repoName(repo)+"-")
	if err != nil {
		return "", err
	}
	_, err = st.git(ctx, dir, "init", "--quiet", "--initial-branch=main")
	return dir, err
}

// checkOut makes a commit HEAD and writes its files. Files whose content is missing, as
// large ones are in some clones, are left out as a sparse checkout would.
func (st *study) checkOut(ctx context.Context, dir, commit string) (tree, error) {
	for _, args := range [][]string{{"update-ref", "HEAD", commit}, {"read-tree", "HEAD"}} {
		if _, err := st.git(ctx, dir, args...); err != nil {
			return tree{}, err
		}
	}
	objects, err := st.git(ctx, dir, "rev-list", "-1", "--objects", "--missing=print", "HEAD")
	if err != nil {
		return tree{}, err
	}
	missing := make(map[string]bool)
	for line := range strings.Lines(objects) {
		if id, found := strings.CutPrefix(strings.TrimSpace(line), "?"); found {
			missing[id] = true
		}
	}
	entries, err := st.git(ctx, dir, "ls-files", "--stage", "-z")
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
	if err := st.feedGit(ctx, dir, strings.NewReader(absent.String()), "update-index", "-z", "--skip-worktree", "--stdin"); err != nil {
		return tree{}, err
	}
	if _, err := st.git(ctx, dir, "checkout-index", "--all", "--index"); err != nil {
		return tree{}, err
	}
	t.commit, err = st.git(ctx, dir, "rev-parse", "--short", "HEAD")
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
