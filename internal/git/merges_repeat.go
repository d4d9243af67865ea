package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// errOldGit says that git is too old: merge-tree can merge whole trees since 2.38, and several merges
// in one run since 2.39.
var errOldGit = errors.New("this needs git 2.39 or newer")

// maxFailedMerges is the number of consecutive failures after which ken stops. The others would
// probably fail for the same reason.
const maxFailedMerges = 8

// mergeFailures counts consecutive failures over all batches.
type mergeFailures struct {
	mu    sync.Mutex
	count int
	err   error // why the last one failed
}

// add records that some merges succeeded, and that the next one failed if err is not nil.
func (f *mergeFailures) add(answered int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if answered > 0 {
		f.count = 0
	}
	if err != nil {
		f.count++
		f.err = err
	}
}

// tooMany returns an error if too many merges failed.
func (f *mergeFailures) tooMany() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count <= maxFailedMerges {
		return nil
	}
	return f.err
}

// scratchRepo makes a temporary git directory. It reads the objects of this repository and writes its
// own. It has no configuration, attributes or refs except the inputs of the history. The second result
// removes the directory.
func (r *Repo) scratchRepo(files historyInputFiles) (scratch *Repo, remove func(), err error) {
	dir, err := os.MkdirTemp("", "ken-merge-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a directory of our own, below that for temporary files
	config := "[core]\n\trepositoryformatversion = 0\n"
	if r.format == repo.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	config += "[core]\n\tattributesFile = " + os.DevNull + "\n[gc]\n\tauto = 0\n"
	var refs strings.Builder
	for line := range strings.Lines(files.replaced) {
		if words := strings.Fields(line); len(words) >= 2 {
			fmt.Fprintf(&refs, "%s %s\n", words[0], words[1])
		}
	}
	texts := map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": config, "packed-refs": refs.String(),
		"shallow": files.shallow, "info/grafts": files.grafts,
		"objects/info/alternates": quoteAlternate(filepath.Join(r.common, "objects")) + "\n",
	}
	for _, sub := range []string{"refs", "info", "objects/info"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o700); err != nil {
			remove()
			return nil, nil, err
		}
	}
	for name, text := range texts {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			remove()
			return nil, nil, err
		}
	}
	scratch = &Repo{root: dir, gitDir: dir, common: dir, format: r.format, detached: true}
	return scratch, remove, nil
}

// quoteAlternate quotes the path of an object directory for the alternates file.
func quoteAlternate(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// withoutConfig is the environment in which git reads no configuration or attributes of the user or of
// the system.
var withoutConfig = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1"}

// mergeAll repeats merges in a scratch repository. It sets err of each merge that fails.
func (r *Repo) mergeAll(ctx context.Context, merges []*merge, failures *mergeFailures) error {
	var pairs []*merge
	for _, m := range merges {
		switch {
		case len(m.parents) == 2:
			pairs = append(pairs, m)
		case len(m.parents) < 2:
			m.err = errors.New("the commit has fewer than two parents")
		}
	}
	if err := r.mergePairs(ctx, pairs, failures); err != nil {
		return err
	}
	for _, m := range merges {
		if len(m.parents) < 3 {
			continue
		}
		if err := r.mergeOctopus(ctx, m, failures); err != nil {
			return err
		}
	}
	return nil
}

// mergePairs repeats merges of two parents. If git fails at one of them, it continues with the next.
func (r *Repo) mergePairs(ctx context.Context, merges []*merge, failures *mergeFailures) error {
	for len(merges) > 0 {
		if err := failures.tooMany(); err != nil {
			for _, m := range merges {
				m.err = err
			}
			return nil
		}
		done, err := r.mergeTrees(ctx, merges)
		if errors.Is(err, errOldGit) {
			return err // the caller merges single files instead
		}
		failures.add(done, err)
		merges = merges[done:]
		_, refused := errors.AsType[*command.Error](err)
		switch {
		case err == nil && len(merges) == 0:
			return nil
		case err == nil:
			return errors.New("git merge-tree: truncated output")
		case !refused || len(merges) == 0:
			return err
		}
		merges[0].err = err
		merges = merges[1:]
	}
	return nil
}

// mergeTrees repeats merges in one run of git. It returns how many git finished.
func (r *Repo) mergeTrees(ctx context.Context, merges []*merge) (done int, err error) {
	var in strings.Builder
	for _, m := range merges {
		fmt.Fprintf(&in, "%s %s\n", m.parents[0], m.parents[1])
	}
	args := []string{"merge-tree", "--write-tree", "--stdin", "-z", "--no-messages", "--name-only", "--allow-unrelated-histories"}
	out, status, stderr, err := r.git().Collect(ctx, command.Call{Args: args, Stdin: strings.NewReader(in.String()), Env: withoutConfig})
	if err != nil {
		return 0, err
	}
	if status == usageStatus {
		return 0, errOldGit
	}
	done, err = readMerges(out, merges)
	if err == nil && status != 0 {
		err = r.git().Failed(args, status, stderr)
	}
	return done, err
}

// usageStatus is the exit status of git for an unknown option.
const usageStatus = 129

// readMerges parses the output of merge-tree: for each merge whether it is clean, the tree, the paths in
// conflict, and an empty path.
func readMerges(out string, merges []*merge) (done int, err error) {
	token := func() (string, bool) {
		text, rest, ok := strings.Cut(out, "\x00")
		if ok {
			out = rest
		}
		return text, ok
	}
	for _, m := range merges {
		clean, ok := token()
		if !ok {
			return done, nil
		}
		tree, ok := token()
		if !ok {
			return done, nil
		}
		if _, err := strconv.Atoi(clean); err != nil {
			return done, fmt.Errorf("git merge-tree: cannot read %q", clean)
		}
		id, err := repo.ParseID(tree)
		if err != nil {
			return done, fmt.Errorf("git merge-tree: %w", err)
		}
		conflicts := make(map[repo.Path]bool)
		for {
			path, ok := token()
			if !ok {
				return done, nil
			}
			if path == "" {
				break
			}
			conflicts[repo.Path(path)] = true
		}
		if clean != "1" && len(conflicts) == 0 {
			return done, fmt.Errorf("git merge-tree: unclean merge (status %s) without a listed conflict", clean)
		}
		m.tree, m.conflicts = id, conflicts
		done++
	}
	return done, nil
}

// mergeOctopus repeats a merge of more than two parents as git does: it merges the second into the
// first, the third into the result, and so on. A conflict in one step is a conflict of the merge.
func (r *Repo) mergeOctopus(ctx context.Context, m *merge, failures *mergeFailures) error {
	conflicts := make(map[repo.Path]bool)
	head := m.parents[0]
	for i, p := range m.parents[1:] {
		step := &merge{commit: m.commit, parents: []repo.ID{head, p}}
		if err := r.mergePairs(ctx, []*merge{step}, failures); err != nil {
			return err
		}
		if m.err = step.err; m.err != nil {
			return nil
		}
		for path := range step.conflicts {
			conflicts[path] = true
		}
		m.tree = step.tree
		if i == len(m.parents)-2 {
			break
		}
		if head, m.err = r.commitStep(ctx, step.tree, m.parents[:i+2]); m.err != nil {
			return nil
		}
	}
	m.conflicts = conflicts
	return nil
}

// commitStep commits an intermediate result in the scratch repository.
func (r *Repo) commitStep(ctx context.Context, tree repo.ID, parents []repo.ID) (repo.ID, error) {
	args := []string{"commit-tree", "-m", "step", tree.String()}
	for _, p := range parents {
		args = append(args, "-p", p.String())
	}
	env := append([]string{
		"GIT_AUTHOR_NAME=ken", "GIT_AUTHOR_EMAIL=ken", "GIT_AUTHOR_DATE=@0 +0000",
		"GIT_COMMITTER_NAME=ken", "GIT_COMMITTER_EMAIL=ken", "GIT_COMMITTER_DATE=@0 +0000",
	}, withoutConfig...)
	out, err := r.git().Output(ctx, command.Call{Args: args, Env: env})
	if err != nil {
		return repo.ID{}, err
	}
	return repo.ParseID(strings.TrimSpace(out))
}
