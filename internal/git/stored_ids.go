package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ken/internal/git/command"
	"ken/internal/git/index"
	"ken/internal/repo"
)

// StoredIDs returns the blob ids that git add would give the files now, in the order of paths. A path with a
// filter attribute is an error: adding it would start a program.
//
// StoredIDs runs git add with a temporary index and object directory. `git hash-object` is not enough: it does
// not read the index, so it converts line endings that git add keeps because the index has them, too.
func (r *Repo) StoredIDs(ctx context.Context, paths []repo.Path) ([]repo.ID, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	attrs, err := r.attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, a := range attrs {
		if hasValue(a.filter) {
			return nil, fmt.Errorf("clean %s: it is under the filter driver %q", paths[i], a.filter)
		}
	}
	dir, err := os.MkdirTemp("", "ken-clean-")
	if err != nil {
		return nil, fmt.Errorf("clean files: %w", err)
	}
	defer os.RemoveAll(dir)
	objects := filepath.Join(dir, "objects")
	if err := os.Mkdir(objects, 0o700); err != nil {
		return nil, fmt.Errorf("clean files: %w", err)
	}
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
		"GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + listQuote(filepath.Join(r.common, "objects")),
	}
	// A driver with one of these names looks like a filter attribute without a value.
	env = append(env, withoutFilters("set", "unset", "unspecified")...)
	return r.addAll(ctx, env, paths)
}

// addAll adds paths to the temporary index and returns their ids.
func (r *Repo) addAll(ctx context.Context, env []string, paths []repo.Path) ([]repo.ID, error) {
	before, err := r.seed(ctx, paths)
	if err != nil {
		return nil, err
	}
	var names strings.Builder
	for _, p := range paths {
		names.WriteString(string(p))
		names.WriteByte(0)
	}
	ask := func(stdin string, args ...string) (string, error) {
		return r.git().Output(ctx, command.Call{Args: args, Stdin: strings.NewReader(stdin), Env: env})
	}
	if _, err = ask(before, "update-index", "-z", "--index-info"); err == nil {
		_, err = ask(names.String(), "update-index", "-z", "--add", "--stdin")
	}
	if err != nil {
		return nil, fmt.Errorf("clean files: %w", err)
	}
	out, err := ask("", "ls-files", "-z", "--stage", "-v", "--debug", "--full-name")
	if err != nil {
		return nil, fmt.Errorf("clean files: %w", err)
	}
	entries, err := index.ParseLsFiles(out)
	if err != nil {
		return nil, err
	}
	ids := make([]repo.ID, len(paths))
	for i, p := range paths {
		at, ok := repo.FindEntry(entries, p)
		if !ok || entries[at].ID.IsZero() {
			return nil, fmt.Errorf("clean %s: git did not add it", p)
		}
		ids[i] = entries[at].ID
	}
	return ids, nil
}

// seed returns the initial entries of the temporary index, as input for update-index --index-info: the paths,
// since git looks at their line endings, and .gitattributes files, since git reads those from the index
// if they are not checked out. The entries have no stat and no flags, so that git reads every file.
func (r *Repo) seed(ctx context.Context, paths []repo.Path) (string, error) {
	idx, err := r.index(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	add := func(e repo.Entry) {
		if !e.Flags.Has(repo.Conflicted) {
			fmt.Fprintf(&b, "%o %s 0\t%s\x00", uint32(e.Mode), e.ID, string(e.Path))
		}
	}
	for _, p := range paths {
		if i, ok := repo.FindEntry(idx.Entries, p); ok {
			add(idx.Entries[i])
		}
	}
	for _, e := range idx.Entries {
		if strings.HasSuffix(string(e.Path), ".gitattributes") {
			add(e)
		}
	}
	return b.String(), nil
}

// listQuote quotes a path for an environment variable of git that is a list of directories.
func listQuote(path string) string {
	if strings.ContainsAny(path, string(os.PathListSeparator)+`"`) {
		return strconv.Quote(path)
	}
	return path
}
