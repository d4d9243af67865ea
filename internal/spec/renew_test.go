package spec_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/cache"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/testrepo"
)

// A changer makes random changes in a repository with specs.
type changer struct {
	*testrepo.Repo
	rnd *rand.Rand
	n   int
}

func (c *changer) one(list []string) string { return list[c.rnd.IntN(len(list))] }

// tracked lists the files of the work tree below a directory.
func (c *changer) tracked(dir string) []string {
	return strings.Fields(c.Git("ls-files", "--", dir))
}

func (c *changer) text() string {
	c.n++
	n := c.n
	if c.rnd.IntN(3) == 0 {
		n = c.rnd.IntN(3) // sometimes an earlier content
	}
	if c.rnd.IntN(4) == 0 {
		return fmt.Sprintf("text %d\n", n)
	}
	a, b := n, 0
	if c.rnd.IntN(2) == 0 {
		a, b = 0, n // moves B only
	}
	return fmt.Sprintf("package p\n\n// note %d\n\nfunc A() int { return %d }\n\nfunc B() int { return %d }\n", c.rnd.IntN(3), a, b)
}

func (c *changer) writeSpec(path string) {
	code := fmt.Sprintf("  - src/d%d/\n", c.rnd.IntN(4))
	if c.rnd.IntN(3) == 0 {
		code += fmt.Sprintf("  - src/d%d/f%d.go\n", c.rnd.IntN(4), c.rnd.IntN(3))
	}
	if c.rnd.IntN(3) == 0 {
		code = fmt.Sprintf("  - src/d%d/*.go#A\n", c.rnd.IntN(4))
	}
	c.n++
	c.Write(path, fmt.Sprintf("---\ntitle: n\ncode:\n%s---\nsome words\nwhich stay\nas they are\nfor long\n%d\n", code, c.n))
}

func (c *changer) commit(message string) {
	c.Git("add", "-A")
	c.Git("commit", "-q", "--allow-empty", "-m", message)
}

func (c *changer) edit() {
	c.Write(fmt.Sprintf("src/d%d/f%d.go", c.rnd.IntN(4), c.rnd.IntN(3)), c.text())
}

func (c *changer) move(from, to string) {
	text := c.Read(from)
	c.Remove(from)
	c.Write(to, text)
}

func (c *changer) change() {
	code, specs := c.tracked("src"), c.tracked(".spec")
	c.n++
	switch c.rnd.IntN(16) {
	case 0, 1, 2, 3:
		c.edit()
		c.commit("code")
	case 4:
		c.edit()
		c.writeSpec(c.one(specs))
		c.commit("both")
	case 5:
		if name := c.one(specs); c.rnd.IntN(2) == 0 {
			c.writeSpec(name)
		} else {
			c.Remove(name)
		}
	case 6:
		c.move(c.one(code), fmt.Sprintf("src/d%d/m%d.go", c.rnd.IntN(5), c.n))
		c.commit("move code")
	case 7:
		if len(code) > 4 {
			c.Git("rm", "-q", "-f", c.one(code))
			c.commit("delete code")
		}
	case 8:
		name := c.one(specs)
		name = name[:strings.LastIndexByte(name, '/')]
		name = name[strings.LastIndexByte(name, '/')+1:]
		c.commit("ack\n\nSpec-OK: " + name)
	case 9:
		c.writeSpec(fmt.Sprintf(".spec/n%d/spec.md", c.rnd.IntN(5)))
		c.commit("spec")
	case 10:
		c.Git("checkout", "-q", "--", ".spec")
		c.move(c.one(specs), fmt.Sprintf(".spec/m%d/spec.md", c.rnd.IntN(6)))
		c.commit("move spec")
	case 11, 12, 13:
		c.merge()
	case 14:
		c.commit("whatever lies there")
		c.Git("checkout", "-q", "--detach", c.one(strings.Fields(c.Git("rev-list", "-n6", "HEAD"))))
	default:
		c.commit("whatever lies there")
		c.Git("checkout", "-q", "-B", "main")
	}
}

// merge makes a branch from an earlier commit and merges it in one of several ways.
func (c *changer) merge() {
	c.commit("whatever lies there")
	branch := strings.TrimSpace(c.Git("branch", "--show-current"))
	here := strings.TrimSpace(c.Git("rev-parse", "HEAD"))
	c.Git("checkout", "-q", "--detach", c.one(strings.Fields(c.Git("rev-list", "-n8", "HEAD"))))
	for range c.rnd.IntN(3) {
		c.edit()
		c.commit("beside")
	}
	side := strings.TrimSpace(c.Git("rev-parse", "HEAD"))
	if branch == "" {
		c.Git("checkout", "-q", "--detach", here)
	} else {
		c.Git("checkout", "-q", branch)
	}
	switch c.rnd.IntN(3) {
	case 0:
		c.Git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", side)
	case 1: // a merge that takes the tree of the branch undoes the changes of main
		tree := strings.TrimSpace(c.Git("rev-parse", side+"^{tree}"))
		merge := strings.TrimSpace(c.Git("commit-tree", "-p", here, "-p", side, "-m", "merge", tree))
		c.Git("reset", "-q", "--hard", merge)
	default:
		if _, err := c.Try("merge", "-q", "--no-ff", "-X", "theirs", "-m", "merge", side); err != nil {
			_, _ = c.Try("merge", "--abort") // fails if the merge was refused
		}
	}
}

func document(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A listing renewed from the cache is equal to one made without it. So is the verdict of the gate.
func TestListingIsRenewed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	renewed, quick, unread := 0, 0, 0
	for seed := range uint64(4) {
		c := &changer{Repo: testrepo.New(t), rnd: rand.New(rand.NewPCG(7, seed))}
		loaded := &spec.LoadedSpecs{}
		for range 12 {
			c.edit()
		}
		for i := range 4 {
			c.writeSpec(fmt.Sprintf(".spec/n%d/spec.md", i))
		}
		c.commit("begin")
		for step := range 40 {
			for range 1 + c.rnd.IntN(2) {
				c.change()
			}
			if len(c.tracked(".spec")) == 0 {
				break
			}
			var reads *spec.Reads
			reader := func(forget bool) *spec.Reader {
				ws := openWorkspace(t, c.Dir)
				reads = &spec.Reads{}
				opts := spec.Options{Loaded: loaded}
				if forget {
					ws.Cache = cache.Open(t.TempDir(), "test")
					opts.Loaded = nil
				}
				return spec.NewReader(ws, opts).Observe(reads)
			}
			list := func(forget bool) (string, int) {
				r := reader(forget)
				l, err := r.List(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return document(t, l), reads.Histories - reads.Commits
			}
			gate := func(forget bool) (string, int) {
				r := reader(forget)
				g, err := r.Gate(ctx, spec.GateOptions{Threshold: 1})
				if err != nil {
					t.Fatal(err)
				}
				return document(t, g), reads.Commits
			}
			owners := func(forget bool) string {
				r := reader(forget)
				var paths []repo.Path
				for _, p := range append(c.tracked("src"), "src/d1", "none", ".spec/n0/spec.md") {
					paths = append(paths, repo.Path(p))
				}
				o, err := r.Owners(ctx, paths)
				if err != nil {
					t.Fatal(err)
				}
				return document(t, o)
			}
			c.edit()
			c.Git("add", "src")
			// Before List, the cached listing is at most that of another HEAD.
			got, _ := gate(false)
			if reads.Specs == 0 {
				unread++
			}
			if want, _ := gate(true); got != want {
				t.Fatalf("seed %d, step %d: the gate without a cached listing differs: %s", seed, step, cmp.Diff(want, got))
			}
			got, saved := list(false)
			want, _ := list(true)
			if saved > 0 {
				renewed++
			}
			if got != want {
				t.Fatalf("seed %d, step %d: %s\n%s", seed, step, cmp.Diff(want, got), c.Git("log", "--graph", "--stat", "--format=%h %s %(trailers)", "-12"))
			}
			for range 2 {
				if got, want := owners(false), owners(true); got != want {
					t.Fatalf("seed %d, step %d: Owners differ: %s", seed, step, cmp.Diff(want, got))
				}
			}
			if owners(false); reads.Specs > 0 {
				t.Fatalf("seed %d, step %d: Owners read all specs", seed, step)
			}
			c.edit()
			c.Git("add", "src")
			got, asked := gate(false)
			if reads.Specs > 0 {
				t.Fatalf("seed %d, step %d: the gate read all specs", seed, step)
			}
			if want, _ := gate(true); got != want {
				t.Fatalf("seed %d, step %d: the gate differs: %s", seed, step, cmp.Diff(want, got))
			}
			if asked == 0 {
				quick++
			}
		}
	}
	if unread < 10 {
		t.Errorf("the gate read no spec only %d times", unread)
	}
	if quick < 10 {
		t.Errorf("the gate used the cached nodes of HEAD only %d times", quick)
	}
	if renewed < 10 {
		t.Errorf("only %d listings were renewed", renewed)
	}
}
