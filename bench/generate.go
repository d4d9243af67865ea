package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// recipe names the way repositories are generated. Raise it with every change to this file, so that no figure stands on
// a repository of the old kind.
const recipe = "2"

// A plan says how large a generated repository is.
type plan struct {
	files   int // of code
	commits int // 1: one commit writes all files
	specs   int // each governs four directories and a file
	pages   int // documents that mention files and functions; the commits move and rename these
}

const (
	mostDirectories = 2000
	leastPerDir     = 5
	fanOut          = 8 // directories in a directory

	edited   = 20    // of so many commits one edits a spec
	acked    = 150   // one is an ack
	moved    = 2_000 // one moves a spec
	branched = 12    // one begins a branch, which is merged
)

var vocabulary = strings.Fields(`server client request response handler buffer reader writer index commit branch path
	token parser render cache store query result value option config state verifier package import context`)

// repository returns a generated repository, made now unless an earlier run left it whole and clean.
func (b *bench) repository(ctx context.Context, p plan) (*site, error) {
	name := fmt.Sprintf("v%s-%d-%d-%d-%d", recipe, p.files, p.commits, p.specs, p.pages)
	s := &site{bench: b, plan: p, dir: filepath.Join(b.dir, name), of: p.files, unit: "files"}
	if _, err := os.Stat(s.dir); err == nil {
		// A run that was interrupted may have left an edit behind.
		if git(ctx, s.dir, b.env, nil, "diff-index", "--quiet", "HEAD") == nil {
			return s, nil
		}
	}
	progress("generating %s", s.dir)
	half := s.dir + ".part" // only a whole one gets the name
	if err := errors.Join(os.RemoveAll(s.dir), os.RemoveAll(half)); err != nil {
		return nil, err
	}
	if err := generate(ctx, half, b.env, p); err != nil {
		return nil, errors.Join(err, os.RemoveAll(half))
	}
	return s, os.Rename(half, s.dir)
}

// generate makes a repository as a clone leaves it: one pack, a checked-out work tree and a branch that follows an
// upstream. It has a commit-graph, as git's own maintenance writes it.
func generate(ctx context.Context, dir string, env []string, p plan) error {
	if err := git(ctx, "", env, nil, "init", "--quiet", "--initial-branch=main", dir); err != nil {
		return err
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(p.write(pw)) }()
	err := git(ctx, dir, env, pr, "-c", "core.compression=1", "-c", "fastimport.unpackLimit=0",
		"fast-import", "--quiet", "--date-format=raw")
	pr.CloseWithError(err) // lets the writer go when git gave up
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"config", "remote.origin.url", "."},
		{"config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"},
		{"config", "branch.main.remote", "origin"},
		{"config", "branch.main.merge", "refs/heads/main"},
		{"config", "gc.auto", "0"},
		{"config", "user.name", "Bench"},
		{"config", "user.email", "bench@example.com"},
		{"update-ref", "refs/remotes/origin/main", "refs/heads/main"},
		{"reset", "--quiet", "--hard"},
		{"commit-graph", "write", "--reachable"},
	} {
		if err := git(ctx, dir, env, nil, args...); err != nil {
			return err
		}
	}
	return settle(ctx, dir, env)
}

// settle makes the work tree an hour old, so that neither side hashes a file only because it shares a tick with the
// index.
func settle(ctx context.Context, dir string, env []string) error {
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			return os.Chtimes(name, old, old)
		}
		return nil
	})
	if err != nil {
		return err
	}
	time.Sleep(1100 * time.Millisecond) // the change times must be older than the index, too
	return git(ctx, dir, env, nil, "update-index", "--refresh")
}

// git runs a git command that is not measured.
func git(ctx context.Context, dir string, env []string, stdin io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = env
	cmd.Stdin = stdin
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, tail(out))
	}
	return nil
}

func (p plan) perDir() int { return max(leastPerDir, p.files/mostDirectories) }

func (p plan) directories() int { return (p.files + p.perDir() - 1) / p.perDir() }

// path returns where a file is at first. Directories form a tree.
func (p plan) path(file int) string {
	l := &languages[file%len(languages)]
	return p.directory(file/p.perDir()) + fmt.Sprintf("%s_%d%s", vocabulary[file%len(vocabulary)], file, l.extension)
}

// directory returns a directory with a slash at the end, "" for the root. It has up to eight directories in it.
func (p plan) directory(d int) string {
	dir := ""
	for ; d > 0; d = (d - 1) / fanOut {
		dir = fmt.Sprintf("%s%d/%s", vocabulary[d%len(vocabulary)], d, dir)
	}
	return dir
}

// governed returns the directories that a spec governs. They have no directories in them.
func (p plan) governed(spec int) []string {
	var dirs []string
	for k := range 4 {
		dirs = append(dirs, strings.TrimSuffix(p.directory(p.directories()-1-(4*spec+k)), "/"))
	}
	return dirs
}

// specPath puts specs into specs, eight in each.
func (p plan) specPath(spec int) string { return ".spec/" + p.directory(spec+1) + "spec.md" }

// A history writes commits in git fast-import's format.
type history struct {
	plan
	*bufio.Writer
	rng     *rand.Rand
	commits int // so far; also the mark of the last one
	where   []string
	version []int // of the body of a file
	names   []int // of the names of its functions
	specs   []string
}

// write writes a commit of everything, and then the others.
func (p plan) write(w io.Writer) error {
	h := &history{
		plan: p, Writer: bufio.NewWriterSize(w, 1<<16), rng: rand.New(rand.NewPCG(1, uint64(p.files))),
		where: make([]string, p.files), version: make([]int, p.files), names: make([]int, p.files),
	}
	h.commit("main", "write everything")
	for i := range h.where {
		h.where[i] = p.path(i)
		h.file(i)
	}
	for i := range p.specs {
		h.specs = append(h.specs, p.specPath(i))
		h.spec(i)
	}
	for i := range p.pages {
		h.page(i)
	}
	for h.commits < p.commits {
		if h.rng.IntN(branched) == 0 {
			h.branch()
		} else {
			h.step()
		}
	}
	return h.Flush()
}

// commit begins a commit on top of others, given by their marks. Without any, it continues its branch.
func (h *history) commit(branch, message string, parents ...int) {
	h.commits++
	fmt.Fprintf(h, "commit refs/heads/%s\nmark :%d\ncommitter Bench <bench@example.com> %d +0100\ndata %d\n%s\n",
		branch, h.commits, 1_500_000_000+60*h.commits, len(message), message)
	for i, mark := range parents {
		word := "merge"
		if i == 0 {
			word = "from"
		}
		fmt.Fprintf(h, "%s :%d\n", word, mark)
	}
}

func (h *history) put(name, text string) {
	fmt.Fprintf(h, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
}

// step writes a commit to main. It edits up to five files that lie together, or acknowledges or moves a spec.
func (h *history) step() {
	if len(h.specs) > 0 && h.rng.IntN(acked) == 0 {
		id := path.Base(path.Dir(h.specs[h.rng.IntN(len(h.specs))]))
		h.commit("main", "the spec still holds\n\nSpec-OK: "+id+"\n")
		return
	}
	if len(h.specs) > 0 && h.rng.IntN(moved) == 0 {
		h.commit("main", "find a better name")
		h.moveSpec(h.rng.IntN(len(h.specs)))
		return
	}
	first := h.rng.IntN(h.files)
	h.commit("main", "change the "+vocabulary[first%len(vocabulary)])
	for i := first; i < min(h.files, first+1+h.rng.IntN(5)); i++ {
		h.edit(i)
	}
	if len(h.specs) > 0 && h.rng.IntN(edited) == 0 {
		h.spec(h.rng.IntN(len(h.specs)))
	}
	if h.pages > 0 {
		h.moveAndRename()
	}
}

// branch writes some commits to a branch and merges it. Meanwhile main goes on in another file, which the merge edits
// too at times.
func (h *history) branch() {
	base := h.commits
	first := h.rng.IntN(h.files - 1)
	h.commit("side", "try something", base)
	h.edit(first)
	h.commit("side", "try more")
	h.edit(first)
	side := h.commits
	h.commit("main", "meanwhile", base)
	h.edit(first + 1)
	h.commit("main", "merge what was tried", h.commits, side)
	h.file(first)
	if h.rng.IntN(10) == 0 {
		h.edit(first + 1)
	}
}

func (h *history) edit(i int) {
	h.version[i]++
	h.file(i)
}

func (h *history) file(i int) { h.put(h.where[i], h.text(i, h.version[i], h.names[i])) }

// moveAndRename moves a file, renames the functions of another, and edits a page.
func (h *history) moveAndRename() {
	i := h.rng.IntN(h.files)
	to := fmt.Sprintf("moved%d/%s", i%fanOut, path.Base(h.where[i]))
	if h.where[i] != to {
		fmt.Fprintf(h, "R %s %s\n", h.where[i], to)
		h.where[i] = to
	}
	i = h.rng.IntN(h.files)
	h.names[i]++
	h.file(i)
	h.page(h.rng.IntN(h.pages))
}

// moveSpec renames the directory of a spec, with all that is in it.
func (h *history) moveSpec(i int) {
	from := path.Dir(h.specs[i])
	to := fmt.Sprintf("%s/%s%d", path.Dir(from), vocabulary[i%len(vocabulary)], 10_000+h.commits)
	fmt.Fprintf(h, "R %s %s\n", from, to)
	for k, p := range h.specs {
		if rest, ok := strings.CutPrefix(p, from+"/"); ok {
			h.specs[k] = to + "/" + rest
		}
	}
}

// spec writes a spec, with other words each time.
func (h *history) spec(i int) {
	code := append(h.governed(i), h.path(i*7919%h.files))
	h.put(h.specs[i], fmt.Sprintf(
		"---\ntitle: Node %d\ndesc: what it is for\ncode:\n  - %s\n---\n## raw source\n\n%s\n\n## expanded spec\n\n%s\n",
		i, strings.Join(code, "\n  - "), h.words(50), h.words(150)))
}

// page writes a document about files as they are now, and about functions that may have other names since.
func (h *history) page(i int) {
	text := "# A page\n\n"
	for range 8 {
		file := h.where[h.rng.IntN(h.files)]
		text += fmt.Sprintf("The server reads `%s`, and calls `%s`.\n\n", file, functionName(h.rng.IntN(h.files), 0, 0))
	}
	h.put(fmt.Sprintf("docs/area%d/page%d.md", i/50, i), text)
}

func (h *history) words(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = vocabulary[h.rng.IntN(len(vocabulary))]
	}
	return strings.Join(words, " ")
}

// functionName is the name of a function of a file.
func functionName(file, part, names int) string {
	return fmt.Sprintf("Handle%dPart%dVersion%d", file, part, names)
}

// text returns the content of a file, whose size is as in source trees: half are below 2.5 KiB, the mean is near 5, a
// few have hundreds. In a long history files are small.
func (p plan) text(i, version, names int) string {
	rng := rand.New(rand.NewPCG(2, uint64(i)))
	size := min(int(math.Exp(7.8+1.15*rng.NormFloat64())), 512<<10)
	if p.commits > 1 {
		size = min(size, 1500)
	}
	l := &languages[i%len(languages)]
	var b strings.Builder
	b.WriteString(l.head)
	for part := 0; part == 0 || b.Len() < size; part++ {
		word := vocabulary[rng.IntN(len(vocabulary))]
		number := fmt.Sprint(rng.IntN(10_000) + version)
		fill := strings.NewReplacer("§N", functionName(i, part, names), "§w", word, "§i", number)
		b.WriteString(fill.Replace(l.function))
	}
	return b.String()
}

// A language says how files look: what they begin with, and a function, which they repeat. §N is its name, §w a word
// and §i a number.
type language struct{ extension, head, function string }

var languages = []language{
	{".go", "// Package part handles requests.\npackage part\n\nimport \"errors\"\n\n", `// §N keeps the §w until somebody asks for it.
func §N(values []string, most int) (sum int, err error) {
	for i, v := range values {
		switch {
		case v == "§w":
			return 0, errors.New("no §w")
		case i%2 == 0 && len(v) <= most:
			sum += len(v) * 2
		}
	}
	return sum + §i, nil
}

`},
	{".py", "\"\"\"Handles requests.\"\"\"\n\nimport sys\n\n", `
def §N(values, most=§i):
    """Keeps the §w until somebody asks for it."""
    total = 0
    for value in values:
        if value == "§w":
            raise ValueError(f"no §w: {value}")
        elif len(value) <= most:
            total += len(value) * 2
    print("the §w is done", file=sys.stderr)
    return total

`},
	{".ts", "/** Handles requests. */\nimport { readFile } from \"node:fs/promises\";\n\n", `/** Keeps the §w until somebody asks. */
export async function §N(values: string[], most: number = §i): Promise<number | undefined> {
  let sum = 0;
  for (const v of values.filter((x) => x !== "§w")) {
    sum += v.length <= most ? v.length * 2 : v.length;
  }
  const text = await readFile("§w", "utf8");
  return sum > text.length ? sum : undefined;
}

`},
	{".json", "", "{\"§N\": {\"limit\": §i, \"title\": \"keeps the §w\", \"tags\": [\"§w\"]}}\n"},
}
