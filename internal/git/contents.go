package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"ken/internal/repo"
)

// Contents knows what lay where in the commits of a repository, and remembers what
// it was asked. It may be used from several goroutines.
type Contents struct {
	r *Repo

	mu    sync.Mutex
	known map[repo.CommitPath]repo.ID
	ready *question // nil when none is

	merging sync.Mutex
	merges  *keptMerges // nil while nobody asked
}

// Contents returns the contents of the repository's commits.
func (r *Repo) Contents() *Contents { return &Contents{r: r, known: make(map[repo.CommitPath]repo.ID)} }

// Prepare starts the git that the first question will be put to, while the caller
// still makes it up. What it returns ends a git that nobody asked.
func (c *Contents) Prepare(ctx context.Context) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil {
		c.ready = c.r.ask(ctx)
	}
	mine := c.ready
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ready == mine {
			c.ready = nil
			_ = mine.names.Close() // a pipe of our own
		}
	}
}

// At returns the content id of each place, zero where there was nothing: of a file
// its blob, of a directory its tree, of a submodule its commit. The content itself
// need not be here; a commit that is not, or a tree on the way, is an error.
//
// Git is asked for the directories that the places are in, each of them once, and
// again for those above it where there is no such directory; and once more for each
// commit of which much is asked, which it lists.
func (c *Contents) At(ctx context.Context, places []repo.CommitPath) ([]repo.ID, error) {
	ids := make([]repo.ID, len(places))
	var asked []repo.CommitPath
	seen := make(map[repo.CommitPath]bool)
	c.mu.Lock()
	for i, p := range places {
		id, ok := c.known[p]
		if ids[i] = id; !ok && !seen[p] {
			seen[p] = true
			asked = append(asked, p)
		}
	}
	var ready *question
	if len(asked) > 0 {
		ready, c.ready = c.ready, nil
	}
	c.mu.Unlock()
	if len(asked) == 0 {
		return ids, nil
	}
	found, err := c.r.lookUp(ctx, asked, ready)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range asked {
		c.known[p] = found[i]
	}
	for i, p := range places {
		ids[i] = c.known[p]
	}
	return ids, nil
}

// lookUp finds the ids of distinct places.
func (r *Repo) lookUp(ctx context.Context, places []repo.CommitPath, ready *question) ([]repo.ID, error) {
	if ready != nil {
		defer func() { _ = ready.names.Close() }() // whether or not it is asked
	}
	ids := make([]repo.ID, len(places))
	listed, err := r.listMany(ctx, places, ids)
	if err != nil {
		return nil, err
	}
	var roots []string
	var rooted []int
	var quests []*quest
	for i, p := range places {
		switch {
		case p.Commit.IsZero():
			return nil, fmt.Errorf("look up %s: no commit to look in", p.Path)
		case p.Path == "":
			name, _ := placeName(p.Commit, "")
			roots, rooted = append(roots, name), append(rooted, i)
		case !listed[p.Commit] && inAnyTree(string(p.Path)):
			quests = append(quests, &quest{place: i, commit: p.Commit, dir: string(p.Path)})
		}
	}
	found, err := r.batchCheck(ctx, roots)
	if err != nil {
		return nil, err
	}
	for k, id := range found {
		if ids[rooted[k]] = id; id.IsZero() {
			return nil, fmt.Errorf("look into commit %s: it is not here", places[rooted[k]].Commit)
		}
	}
	return ids, r.search(ctx, quests, ids, ready)
}

// inAnyTree reports whether a tree could have the path. Git would take some others
// for relative ones.
func inAnyTree(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" && path != "" || name == "." || name == ".." || strings.Contains(name, "\x00") {
			return false
		}
	}
	return true
}

// placeName returns how git is asked for a path in a commit; ok is false for a path
// that does not fit in a line.
func placeName(commit repo.ID, path string) (name string, ok bool) {
	if path == "" {
		return commit.String() + "^{tree}", true
	}
	return commit.String() + ":" + path, !strings.ContainsAny(path, "\r\n")
}

// A quest is the search for a place. It goes up to the nearest directory that exists,
// mostly the one that the place is in, and from there down, tree by tree.
type quest struct {
	place  int
	commit repo.ID
	dir    string   // while going up: what was asked for in vain
	down   []string // names below the directory
	tree   repo.ID  // while going down
}

// up goes to the directory above, and returns how git is asked for it.
func (q *quest) up() (string, error) {
	for q.dir != "" {
		above, name := "", q.dir
		if i := strings.LastIndexByte(q.dir, '/'); i >= 0 {
			above, name = q.dir[:i], q.dir[i+1:]
		}
		q.dir = above
		q.down = append([]string{name}, q.down...)
		if name, ok := placeName(q.commit, above); ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("look into commit %s: it is not here", q.commit)
}

// search ends the quests, in one run of git for each step that any of them takes, the
// first of which may be ready.
func (r *Repo) search(ctx context.Context, quests []*quest, ids []repo.ID, ready *question) error {
	for len(quests) > 0 {
		waiting := make(map[string][]*quest)
		var names []string
		for _, q := range quests {
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
		quests = quests[:0:0]
		if ready == nil {
			ready = r.ask(ctx)
		}
		err := ready.answers(names, func(name string, o object) error {
			further, err := stepAll(waiting[name], o, ids)
			quests = append(quests, further...)
			return err
		})
		ready = nil
		if err != nil {
			return err
		}
	}
	return nil
}

// stepAll takes what git answered to some quests, and returns those that go on.
func stepAll(quests []*quest, o object, ids []repo.ID) (further []*quest, err error) {
	var tree map[string]treeEntry
	if o.kind == "tree" {
		wanted := make(map[string]bool, len(quests))
		for _, q := range quests {
			wanted[q.down[0]] = true
		}
		if tree, err = readTree(o.content, wanted, o.size); err != nil {
			return nil, fmt.Errorf("look into commit %s: %w", quests[0].commit, err)
		}
	}
	for _, q := range quests {
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

// step takes what git answered, and reports whether the quest goes on.
func (q *quest) step(kind string, tree map[string]treeEntry, ids []repo.ID) (further bool, err error) {
	switch {
	case kind == "" && !q.tree.IsZero():
		return false, fmt.Errorf("look into commit %s: tree %s is not here", q.commit, q.tree)
	case kind == "":
		return true, nil
	case kind != "tree":
		return false, nil // a file has nothing below it
	}
	e, ok := tree[q.down[0]]
	q.down = q.down[1:]
	switch {
	case !ok:
		return false, nil
	case len(q.down) == 0:
		ids[q.place] = e.id
		return false, nil
	}
	q.tree = e.id
	return e.isTree, nil
}

// A treeEntry is what a tree has under a name.
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

// batchCheck returns the ids of objects by their names, each in a line of its own;
// zero for one that is not here.
func (r *Repo) batchCheck(ctx context.Context, names []string) ([]repo.ID, error) {
	ids := make([]repo.ID, 0, len(names))
	if len(names) == 0 {
		return ids, nil
	}
	out, err := r.read(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"),
		"cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if len(ids) == len(names) {
			return nil, errors.New("git cat-file: more answers than questions")
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
		return nil, errors.New("git cat-file: the answer breaks off")
	}
	return ids, nil
}
