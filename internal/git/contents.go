package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"ken/internal/repo"
	"ken/internal/spec"
)

// Contents knows what lay where in the commits of a repository, and remembers what
// it was asked. It may be used from several goroutines.
type Contents struct {
	r *Repo

	mu    sync.Mutex
	known map[spec.Place]repo.ID
	ready *readyCheck // nil when none is
}

var _ spec.Contents = (*Contents)(nil)

// Contents returns the contents of the repository's commits.
func (r *Repo) Contents() *Contents { return &Contents{r: r, known: make(map[spec.Place]repo.ID)} }

// Prepare starts the git that the first question will be put to, while the caller
// still makes it up. What it returns ends a git that nobody asked.
func (c *Contents) Prepare(ctx context.Context) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil {
		c.ready = c.r.startCheck(ctx)
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
// Git is asked once for all that exists, and again for what it finds missing; and
// once more for each commit of which much is asked, which it lists.
func (c *Contents) At(ctx context.Context, places []spec.Place) ([]repo.ID, error) {
	ids := make([]repo.ID, len(places))
	var asked []spec.Place
	seen := make(map[spec.Place]bool)
	c.mu.Lock()
	for i, p := range places {
		id, ok := c.known[p]
		if ids[i] = id; !ok && !seen[p] {
			seen[p] = true
			asked = append(asked, p)
		}
	}
	var ready *readyCheck
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
func (r *Repo) lookUp(ctx context.Context, places []spec.Place, ready *readyCheck) ([]repo.ID, error) {
	if ready != nil {
		defer func() { _ = ready.names.Close() }() // whether or not it is asked
	}
	ids := make([]repo.ID, len(places))
	listed, err := r.listMany(ctx, places, ids)
	if err != nil {
		return nil, err
	}
	var names []string
	var named []int
	var quests []*quest
	for i, p := range places {
		if p.Commit.IsZero() {
			return nil, fmt.Errorf("look up %s: no commit to look in", p.Path)
		}
		if listed[p.Commit] && p.Path != "" || !inAnyTree(string(p.Path)) {
			continue
		}
		if name, ok := placeName(p.Commit, string(p.Path)); ok {
			names = append(names, name)
			named = append(named, i)
		} else {
			quests = append(quests, &quest{place: i, commit: p.Commit, dir: string(p.Path)})
		}
	}
	var found []repo.ID
	if ready != nil {
		found, err = ready.ids(names)
	} else {
		found, err = r.batchCheck(ctx, names)
	}
	if err != nil {
		return nil, err
	}
	for k, id := range found {
		i := named[k]
		if ids[i] = id; id.IsZero() {
			quests = append(quests, &quest{place: i, commit: places[i].Commit, dir: string(places[i].Path)})
		}
	}
	return ids, r.search(ctx, quests, ids)
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

// A quest is the search for a place that git did not find, or could not be asked
// for: that there is nothing, or a submodule, or content that is not here. It goes up
// to the nearest directory that exists, and from there down, tree by tree.
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

// search ends the quests, in one run of git for each step that any of them takes.
func (r *Repo) search(ctx context.Context, quests []*quest, ids []repo.ID) error {
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
		err := r.batch(ctx, names, func(name string, o object) error {
			for _, q := range waiting[name] {
				further, err := q.step(o, ids)
				if err != nil {
					return err
				}
				if further {
					quests = append(quests, q)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step takes what git answered, and reports whether the quest goes on.
func (q *quest) step(o object, ids []repo.ID) (further bool, err error) {
	switch {
	case o.kind == "" && !q.tree.IsZero():
		return false, fmt.Errorf("look into commit %s: tree %s is not here", q.commit, q.tree)
	case o.kind == "":
		return true, nil
	case o.kind != "tree":
		return false, nil // a file has nothing below it
	}
	id, isTree, ok, err := inTree(o.content, q.down[0], o.size)
	if err != nil {
		return false, fmt.Errorf("look into commit %s: %w", q.commit, err)
	}
	q.down = q.down[1:]
	switch {
	case !ok:
		return false, nil
	case len(q.down) == 0:
		ids[q.place] = id
		return false, nil
	}
	q.tree = id
	return isTree, nil
}

// inTree finds a name in a tree: mode, space, name, NUL, id for each entry.
func inTree(tree []byte, name string, size int) (id repo.ID, isTree, ok bool, err error) {
	for len(tree) > 0 {
		mode, rest, spaced := bytes.Cut(tree, []byte{' '})
		entry, rest, ended := bytes.Cut(rest, []byte{0})
		if !spaced || !ended || len(rest) < size {
			return repo.ID{}, false, false, errors.New("a tree that cannot be read")
		}
		if string(entry) == name {
			return repo.IDFromBytes(rest[:size]), string(mode) == "40000", true, nil
		}
		tree = rest[size:]
	}
	return repo.ID{}, false, false, nil
}

// A readyCheck is a git that waits to be asked for the ids of objects.
type readyCheck struct {
	names  *io.PipeWriter
	answer chan checked
}

type checked struct {
	out string
	err error
}

func (r *Repo) startCheck(ctx context.Context) *readyCheck {
	in, names := io.Pipe()
	c := &readyCheck{names, make(chan checked, 1)}
	go func() {
		out, err := r.read(ctx, in, "cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype)")
		_ = in.Close() // so that nobody waits to be read
		c.answer <- checked{out, err}
	}()
	return c
}

// ids asks for the ids of objects by their names, as batchCheck does, and ends it.
func (c *readyCheck) ids(names []string) ([]repo.ID, error) {
	if len(names) > 0 {
		_, _ = io.WriteString(c.names, strings.Join(names, "\n")+"\n") // the answer says what went wrong
	}
	_ = c.names.Close() // a pipe of our own
	got := <-c.answer
	if got.err != nil {
		return nil, got.err
	}
	return parseChecked(got.out, names)
}

// batchCheck returns the ids of objects by their names, each in a line of its own;
// zero for one that is not here.
func (r *Repo) batchCheck(ctx context.Context, names []string) ([]repo.ID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return r.startCheck(ctx).ids(names)
}

// parseChecked reads the answer to some names.
func parseChecked(out string, names []string) ([]repo.ID, error) {
	ids := make([]repo.ID, 0, len(names))
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

// An object is what git has under a name: of no kind when there is nothing.
type object struct {
	kind    string
	content []byte
	size    int // of an id
}

// batch calls f with the objects of some names, each of which fits in a line.
func (r *Repo) batch(ctx context.Context, names []string, f func(name string, o object) error) error {
	out, err := r.read(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"),
		"cat-file", "--buffer", "--batch=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return err
	}
	for _, name := range names {
		line, rest, ok := strings.Cut(out, "\n")
		if !ok {
			return errors.New("git cat-file: the answer breaks off")
		}
		out = rest
		o := object{size: r.format.Size()}
		word := strings.Fields(line)
		switch {
		case line == name+" missing":
		case len(word) == 2 && word[1] == "submodule": // the word of newer gits
			o.kind = "commit"
		default:
			size := -1
			if len(word) == 3 {
				size, err = strconv.Atoi(word[2])
			}
			if err != nil || size < 0 || size >= len(out) || out[size] != '\n' {
				return fmt.Errorf("git cat-file: cannot read %q", line)
			}
			o.kind, o.content = word[1], []byte(out[:size])
			out = out[size+1:]
		}
		if err := f(name, o); err != nil {
			return err
		}
	}
	return nil
}
