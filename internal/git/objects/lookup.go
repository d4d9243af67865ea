package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/repo"
)

// IDsAt returns the id at each of distinct places: the blob of a file, the tree of a directory, the commit of a submodule,
// or zero if nothing is there. A missing commit or tree is an error. ready, if not nil, is the process for the first step;
// IDsAt ends it.
//
// It asks git once for the directory of each place. If a directory does not exist, it asks for the one above. It lists a
// commit with many places as a whole.
func (r Reader) IDsAt(ctx context.Context, places []repo.CommitPath, ready *Prepared) ([]repo.ID, error) {
	if ready != nil {
		defer ready.Close() // even if it is not used
	}
	ids := make([]repo.ID, len(places))
	listed, err := r.listMany(ctx, places, ids)
	if err != nil {
		return nil, err
	}
	var roots []string
	var rooted []int
	var lookups []*treeLookup
	for i, p := range places {
		switch {
		case p.Commit.IsZero():
			return nil, fmt.Errorf("look up %s: no commit to look in", p.Path)
		case p.Path == "":
			name, _ := placeName(p.Commit, "")
			roots, rooted = append(roots, name), append(rooted, i)
		case !listed[p.Commit] && inAnyTree(string(p.Path)):
			lookups = append(lookups, &treeLookup{place: i, commit: p.Commit, dir: string(p.Path)})
		}
	}
	found, err := r.Resolve(ctx, roots)
	if err != nil {
		return nil, err
	}
	for k, id := range found {
		if ids[rooted[k]] = id; id.IsZero() {
			return nil, fmt.Errorf("look into commit %s: it is not here", places[rooted[k]].Commit)
		}
	}
	return ids, r.search(ctx, lookups, ids, ready)
}

// inAnyTree reports whether a tree can have the path. Git would take some other paths for relative ones.
func inAnyTree(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" && path != "" || name == "." || name == ".." || strings.Contains(name, "\x00") {
			return false
		}
	}
	return true
}

// placeName returns the revision expression for a path in a commit; ok is false if the path contains a newline.
func placeName(commit repo.ID, path string) (name string, ok bool) {
	if path == "" {
		return commit.String() + "^{tree}", true
	}
	return commit.String() + ":" + path, !strings.ContainsAny(path, "\r\n")
}

// A treeLookup finds the id of one place. It goes up to the nearest directory that exists, which usually is the
// directory of the place. From there it goes down, tree by tree.
type treeLookup struct {
	place  int
	commit repo.ID
	dir    string   // while going up: the path that does not exist
	down   []string // names below the directory
	tree   repo.ID  // while going down
}

// up goes to the parent directory and returns its revision expression.
func (t *treeLookup) up() (string, error) {
	for t.dir != "" {
		above, name := "", t.dir
		if i := strings.LastIndexByte(t.dir, '/'); i >= 0 {
			above, name = t.dir[:i], t.dir[i+1:]
		}
		t.dir = above
		t.down = append([]string{name}, t.down...)
		if name, ok := placeName(t.commit, above); ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("look into commit %s: it is not here", t.commit)
}

// search finishes the lookups, with one git process per step. The process of the first step may already run.
func (r Reader) search(ctx context.Context, lookups []*treeLookup, ids []repo.ID, ready *Prepared) error {
	for len(lookups) > 0 {
		waiting := make(map[string][]*treeLookup)
		var names []string
		for _, q := range lookups {
			name := q.tree.String()
			if q.tree.IsZero() {
				var err error
				if name, err = q.up(); err != nil {
					return err
				}
			}
			if _, again := waiting[name]; !again {
				names = append(names, name)
			}
			waiting[name] = append(waiting[name], q)
		}
		lookups = lookups[:0:0]
		if ready == nil {
			ready = r.Prepare(ctx)
		}
		err := ready.objects(names, func(name string, o object) error {
			further, err := stepAll(waiting[name], o, ids)
			lookups = append(lookups, further...)
			return err
		})
		ready = nil
		if err != nil {
			return err
		}
	}
	return nil
}

// stepAll passes git's answer to lookups, and returns those that are not finished.
func stepAll(lookups []*treeLookup, o object, ids []repo.ID) (further []*treeLookup, err error) {
	var tree map[string]treeEntry
	if o.kind == "tree" {
		wanted := make(map[string]bool, len(lookups))
		for _, q := range lookups {
			wanted[q.down[0]] = true
		}
		if tree, err = readTree(o.content, wanted, o.size); err != nil {
			return nil, fmt.Errorf("look into commit %s: %w", lookups[0].commit, err)
		}
	}
	for _, q := range lookups {
		goesOn, err := q.step(o.kind, tree, ids)
		if err != nil {
			return nil, err
		}
		if goesOn {
			further = append(further, q)
		}
	}
	return further, nil
}

// step processes git's answer, and reports whether the lookup continues.
func (t *treeLookup) step(kind string, tree map[string]treeEntry, ids []repo.ID) (further bool, err error) {
	switch {
	case kind == "" && !t.tree.IsZero():
		return false, fmt.Errorf("look into commit %s: tree %s is not here", t.commit, t.tree)
	case kind == "":
		return true, nil
	case kind != "tree":
		return false, nil // a file has nothing below it
	}
	e, ok := tree[t.down[0]]
	t.down = t.down[1:]
	switch {
	case !ok:
		return false, nil
	case len(t.down) == 0:
		ids[t.place] = e.id
		return false, nil
	}
	t.tree = e.id
	return e.isTree, nil
}

// A treeEntry is an entry of a tree.
type treeEntry struct {
	id     repo.ID
	isTree bool
}

// readTree finds names in a tree: mode, space, name, NUL, id for each entry.
func readTree(tree []byte, names map[string]bool, size int) (map[string]treeEntry, error) {
	found := make(map[string]treeEntry, len(names))
	for len(tree) > 0 {
		mode, rest, spaced := bytes.Cut(tree, []byte{' '})
		name, rest, ended := bytes.Cut(rest, []byte{0})
		if !spaced || !ended || len(rest) < size {
			return nil, errors.New("a tree that cannot be read")
		}
		if names[string(name)] {
			found[string(name)] = treeEntry{repo.IDFromBytes(rest[:size]), string(mode) == "40000"}
			if len(found) == len(names) {
				break
			}
		}
		tree = rest[size:]
	}
	return found, nil
}

// Resolve returns the ids of objects by their revision expressions, zero for a missing object.
func (r Reader) Resolve(ctx context.Context, names []string) ([]repo.ID, error) {
	ids := make([]repo.ID, 0, len(names))
	if len(names) == 0 {
		return ids, nil
	}
	out, err := r.Git.Read(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"),
		"cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if len(ids) == len(names) {
			return nil, errors.New("git cat-file: more output than requested")
		}
		name, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, err := repo.ParseID(name)
		switch {
		case line == names[len(ids)]+" missing\n":
			id = repo.ID{}
		case err != nil || id.IsZero() || what == "missing":
			return nil, fmt.Errorf("git cat-file: cannot read %q", line)
		}
		ids = append(ids, id)
	}
	if len(ids) < len(names) {
		return nil, errors.New("git cat-file: the output ends early")
	}
	return ids, nil
}
