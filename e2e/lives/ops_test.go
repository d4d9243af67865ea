package lives

import (
	"fmt"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A scene is the state that a generator may read before it writes an operation.
type scene struct {
	*rand.Rand
	l       *life
	place   string
	tracked []string // files that lives edit: on disk, and no specs, attributes or configuration
	specs   []string // directories of specs, from .spec
	branch  []string // other local branches
	busy    bool     // a merge, rebase or cherry-pick is under way
	stashed bool
	number  int // of the operation, for names and texts
}

// A generator writes an operation as shell, or "" if there is nothing to do. It may fill the
// rest of the op.
type generator func(s *scene, o *op) string

// A choice is a generator with its weight for each kind of life.
type choice struct {
	name    string
	make    generator
	weights map[string]int
}

func every(n int) map[string]int { return map[string]int{files: n, agents: n, outlines: n, specs: n} }

func only(n int, kinds ...string) map[string]int {
	m := map[string]int{}
	for _, k := range kinds {
		m[k] = n
	}
	return m
}

// also adds a kind with its weight.
func also(n int, kind string, to map[string]int) map[string]int {
	to[kind] = n
	return to
}

var choices = []choice{
	{name: "edit body", make: edits(editBody), weights: every(10)},
	{name: "edit interface", make: edits(editInterface), weights: every(6)},
	{name: "edit comment", make: edits(editComment), weights: map[string]int{files: 8, agents: 4, outlines: 3, specs: 2}},
	{name: "edit white space", make: edits(editSpace), weights: map[string]int{files: 6, agents: 3, outlines: 3, specs: 1}},
	{name: "edit white space that counts", make: edits(editMeaningfulSpace), weights: map[string]int{files: 4, agents: 2, outlines: 1}},
	{name: "flip line endings", make: edits(flipEndings), weights: only(4, files)},
	{name: "same size, same mtime", make: editBehindTime, weights: only(5, files, agents)},
	{name: "touch", make: touch, weights: only(3, files, agents)},
	{name: "chmod", make: chmod, weights: map[string]int{files: 2, specs: 2, agents: 1}},
	{name: "add", make: add, weights: every(4)},
	{name: "intent to add", make: intendToAdd, weights: only(3, files)},
	{name: "delete", make: remove, weights: also(4, uses, every(3))},
	{name: "rename", make: rename(false), weights: every(4)},
	{name: "rename with edit", make: rename(true), weights: every(3)},
	{name: "rename a directory", make: renameDirectory, weights: every(2)},
	{name: "copy", make: duplicate, weights: only(3, files, agents, outlines)},
	{name: "old content", make: oldContent, weights: also(4, uses, every(5))},
	{name: "undo edit", make: undo, weights: also(4, uses, every(4))},
	{name: "commit", make: commit, weights: also(10, uses, map[string]int{files: 12, agents: 10, outlines: 10, specs: 24})},
	{name: "stage", make: stage, weights: only(4, files)},
	{name: "amend", make: amend, weights: every(3)},
	{name: "revert", make: revert, weights: also(3, uses, every(3))},
	{name: "reset", make: reset, weights: also(3, uses, every(3))},
	{name: "branch", make: branch, weights: also(4, uses, every(4))},
	{name: "switch", make: switchBranch, weights: also(8, uses, every(7))},
	{name: "merge", make: merge, weights: also(5, uses, map[string]int{files: 5, agents: 3, outlines: 3, specs: 12})},
	{name: "move in a merge", make: mergeWithMove, weights: only(4, specs)},
	{name: "octopus", make: octopus, weights: map[string]int{files: 1, specs: 4}},
	{name: "rebase", make: rebase, weights: map[string]int{files: 3, agents: 2, outlines: 2, specs: 5}},
	{name: "cherry-pick", make: cherryPick, weights: map[string]int{files: 3, agents: 2, outlines: 2, specs: 5}},
	{name: "stash", make: stash, weights: also(3, uses, every(3))},
	{name: "pop", make: pop, weights: also(3, uses, every(3))},
	{name: "assume unchanged", make: mark("--assume-unchanged", "--no-assume-unchanged"), weights: only(3, files, agents)},
	{name: "skip worktree", make: mark("--skip-worktree", "--no-skip-worktree"), weights: only(3, files)},
	{name: "attributes", make: attributes, weights: only(7, files)},
	{name: "autocrlf", make: autocrlf, weights: only(3, files)},
	{name: "sparse checkout", make: sparse, weights: only(2, files)},
	{name: "delete caches", make: forget, weights: also(3, uses, every(4))},
	{name: "crowd", make: crowd, weights: every(4)},
	{name: "summary set", make: set, weights: only(16, files)},
	{name: "summary set --read", make: setRead, weights: only(10, files)},
	{name: "summary set of old content", make: setOld, weights: only(6, files)},
	{name: "confirm", make: confirm, weights: only(6, files)},
	{name: "share", make: share, weights: only(5, files)},
	{name: "survey by an agent", make: describe, weights: only(30, agents)},
	{name: "superseded survey", make: describeMoved, weights: only(4, agents)},
	{name: "survey run", make: outline, weights: only(25, outlines)},
	{name: "edit spec", make: editSpec, weights: only(12, specs)},
	{name: "edit spec and code", make: editSpecAndCode, weights: only(5, specs)},
	{name: "move spec", make: moveSpec(false), weights: only(4, specs)},
	{name: "move spec with edit", make: moveSpec(true), weights: only(3, specs)},
	{name: "new spec", make: newSpec, weights: only(3, specs)},
	{name: "delete spec", make: removeSpec, weights: only(1, specs)},
	{name: "ack", make: ack, weights: only(8, specs)},
	{name: "squash", make: squash, weights: only(3, specs)},
	{name: "write imports", make: writeUses, weights: only(60, uses)},
	{name: "move imports", make: moveUses, weights: only(14, uses)},
	{name: "link", make: linkUses, weights: only(4, uses)},
}

// next writes the next operation. It returns false if the choice does not fit.
func (l *life) next() (op, bool) {
	s := &scene{Rand: l.rand, l: l, place: "repo", number: len(l.ops) + 1}
	if l.kind == files || l.kind == specs {
		switch n := s.Intn(10); {
		case n >= 8:
			s.place = "tree"
		case n == 7 && l.kind == files:
			s.place = "clone"
		}
	}
	l.look(s)
	total := 0
	for _, c := range choices {
		total += c.weights[l.kind]
	}
	n := s.Intn(total)
	var c choice
	for _, c = range choices {
		n -= c.weights[l.kind]
		if n < 0 {
			break
		}
	}
	o := op{name: c.name, place: s.place}
	switch s.Intn(10) {
	case 0, 1, 2:
		o.look = lookAway
	case 3, 4:
		o.look = lookStatus
	default:
		o.look = lookAll
	}
	if s.busy && s.Intn(3) > 0 {
		o.name = "resolve"
		o.shell = resolve(s)
		return o, true
	}
	o.shell = c.make(s, &o)
	return o, o.shell != ""
}

func (l *life) look(s *scene) {
	for name := range strings.SplitSeq(l.git(s.place, "ls-files", "-z"), "\x00") {
		dir, isSpec := strings.CutSuffix(name, "/spec.md")
		switch {
		case isSpec:
			if !slices.Contains(s.specs, dir) {
				s.specs = append(s.specs, dir)
			}
		case name != "" && described(name) && !slices.Contains(s.tracked, name):
			if _, err := os.Stat(filepath.Join(l.at(s.place), name)); err == nil {
				s.tracked = append(s.tracked, name)
			}
		}
	}
	current, _ := l.try(s.place, "symbolic-ref", "-q", "--short", "HEAD")
	for name := range strings.Lines(l.git(s.place, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/stash")) {
		name = strings.TrimSpace(name)
		switch name {
		case "refs/stash", "stash":
			s.stashed = true
		case strings.TrimSpace(current):
		default:
			s.branch = append(s.branch, name)
		}
	}
	dir := strings.TrimSpace(l.git(s.place, "rev-parse", "--path-format=absolute", "--git-dir"))
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			s.busy = true
		}
	}
}

func (s *scene) file() string {
	if len(s.tracked) == 0 {
		return ""
	}
	return s.tracked[s.Intn(len(s.tracked))]
}

func (s *scene) other() string {
	if len(s.branch) == 0 {
		return ""
	}
	return s.branch[s.Intn(len(s.branch))]
}

func (s *scene) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(s.l.at(s.place), name)) // a file that went is empty
	return string(b)
}

func put(name, content string) string { return fmt.Sprintf("printf %s > %s\n", quote(content), name) }

var (
	folders    = []string{"", "src/", "src/deep/", "lib/", "doc/", "doc/more/"}
	extensions = []string{".go", ".txt", ".py", ".js", ".sh"}
)

// newName returns an unused path.
func (s *scene) newName(ext string) string {
	if ext == "" {
		ext = extensions[s.Intn(len(extensions))]
	}
	return fmt.Sprintf("%sn%d%s", folders[s.Intn(len(folders))], s.number, ext)
}

func makeDir(name string) string {
	if path.Dir(name) == "." {
		return ""
	}
	return "mkdir -p " + path.Dir(name) + "\n"
}

func edits(e edit) generator {
	return func(s *scene, _ *op) string {
		name := s.file()
		if name == "" {
			return ""
		}
		before := s.read(name)
		after := e(s.Rand, name, before)
		if after == before || before == "" {
			return ""
		}
		return put(name, after)
	}
}

// editBehindTime keeps size and mtime. It first waits until a new file has another change time
// than the old one, so that the edit is never in the clock tick of a cached stat: no program,
// not even git, can see an edit within one tick that keeps the mtime.
func editBehindTime(s *scene, _ *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	after := editSameSize(s.Rand, name, s.read(name))
	return fmt.Sprintf(`touch -r %[1]s ../stamp
was=$(date +%%s%%N); now=$was; while [ "$((now - was))" -lt 30000000 ]; do sleep 0.01; now=$(date +%%s%%N); done
printf %[2]s > %[1]s
touch -r ../stamp %[1]s
`, name, quote(after))
}

func touch(s *scene, _ *op) string {
	if s.file() == "" {
		return ""
	}
	return "touch " + s.file() + "\n"
}

func chmod(s *scene, _ *op) string {
	if s.file() == "" {
		return ""
	}
	return fmt.Sprintf("chmod %s %s\n", []string{"+x", "-x"}[s.Intn(2)], s.file())
}

func add(s *scene, _ *op) string {
	name := s.newName("")
	return makeDir(name) + put(name, newFile(s.Rand, name)) + "git add " + name + "\n"
}

func intendToAdd(s *scene, _ *op) string {
	name := s.newName("")
	return makeDir(name) + put(name, newFile(s.Rand, name)) + "git add -N " + name + "\n"
}

func remove(s *scene, _ *op) string {
	if len(s.tracked) < 5 {
		return ""
	}
	return []string{"rm -f ", "git rm -q -f ", "git rm -q --cached "}[s.Intn(3)] + s.file() + "\n"
}

func rename(edited bool) generator {
	return func(s *scene, _ *op) string {
		name := s.file()
		if name == "" {
			return ""
		}
		to := s.newName(path.Ext(name))
		script := makeDir(to) + fmt.Sprintf("git mv %s %s\n", name, to)
		if edited {
			change := []edit{editBody, editComment}[s.Intn(2)]
			script += put(to, change(s.Rand, name, s.read(name))) + "git add " + to + "\n"
		}
		if s.Intn(2) == 0 {
			script += "git commit -q -m 'rename'\n"
		}
		return script
	}
}

func renameDirectory(s *scene, _ *op) string {
	if s.Intn(3) > 0 {
		return ""
	}
	from := []string{"src/deep", "lib", "doc"}[s.Intn(3)]
	to := []string{"src/deeper", "library", "doc/lib"}[s.Intn(3)]
	if s.Intn(2) == 0 {
		from, to = to, from
	}
	return fmt.Sprintf("[ -d %[1]s ] && [ ! -e %[2]s ] && git mv %[1]s %[2]s\n", from, to)
}

func duplicate(s *scene, _ *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	to := s.newName(path.Ext(name))
	script := makeDir(to) + fmt.Sprintf("cp %s %s\n", name, to)
	if s.Intn(2) == 0 {
		change := []edit{editBody, editComment}[s.Intn(2)]
		script += put(to, change(s.Rand, name, s.read(name)))
	}
	return script + "git add " + to + "\n"
}

func oldContent(s *scene, _ *op) string {
	if s.file() == "" {
		return ""
	}
	return fmt.Sprintf("git checkout -q HEAD~%d -- %s\n", 1+s.Intn(3), s.file())
}

func undo(s *scene, _ *op) string {
	if s.file() == "" {
		return ""
	}
	return "git checkout -q " + []string{"-- ", "HEAD -- "}[s.Intn(2)] + s.file() + "\n"
}

func commit(s *scene, _ *op) string {
	if s.Intn(4) == 0 {
		return "git commit -q -a -m 'commit'\n"
	}
	return "git add -A && git commit -q -m 'commit'\n"
}

func stage(s *scene, _ *op) string {
	if s.file() == "" {
		return ""
	}
	return []string{"git add ", "git reset -q -- "}[s.Intn(2)] + s.file() + "\n"
}

func amend(s *scene, _ *op) string {
	return []string{"git commit -q -a --amend --no-edit\n", "git commit -q --amend -m 'amended'\n"}[s.Intn(2)]
}

func revert(s *scene, _ *op) string {
	return fmt.Sprintf("git revert --no-edit HEAD~%d >/dev/null 2>&1 || git revert --abort\n", s.Intn(3))
}

func reset(s *scene, _ *op) string {
	mode := []string{"--hard", "--soft", "--mixed", "--hard"}[s.Intn(4)]
	return fmt.Sprintf("git reset -q %s HEAD~%d\n", mode, s.Intn(2))
}

func branch(s *scene, _ *op) string {
	if len(s.branch) > 5 {
		return ""
	}
	return fmt.Sprintf("git checkout -q -b b%d\n", s.number)
}

func switchBranch(s *scene, _ *op) string {
	if s.Intn(8) == 0 {
		return "git checkout -q --detach\n"
	}
	if s.other() == "" {
		return ""
	}
	force := []string{"", "", "-f "}[s.Intn(3)]
	return "git checkout -q " + force + s.other() + "\n"
}

// settle ends a merge, rebase or cherry-pick that stopped.
func settle(s *scene, command string) string {
	side := []string{"ours", "theirs"}[s.Intn(2)]
	switch command {
	case "rebase":
		return []string{
			" || git rebase --abort\n",
			fmt.Sprintf(" || { git checkout -q --%s -- .; git add -A; git rebase --continue >/dev/null 2>&1 || git rebase --abort; }\n", side),
		}[s.Intn(2)]
	case "cherry-pick":
		return []string{
			" || git cherry-pick --abort\n",
			fmt.Sprintf(" || { git checkout -q --%s -- .; git add -A; git cherry-pick --continue >/dev/null 2>&1 || git cherry-pick --abort; }\n", side),
		}[s.Intn(2)]
	}
	return []string{
		"\n", // left as it is for a while
		" || git merge --abort\n",
		fmt.Sprintf(" || { git checkout -q --%s -- .; git add -A; git commit -q -m resolved; }\n", side),
		fmt.Sprintf(" || { git checkout -q --%s -- .; git add -A; git commit -q -m resolved; }\n", side),
	}[s.Intn(4)]
}

func merge(s *scene, _ *op) string {
	if s.other() == "" {
		return ""
	}
	how := []string{"", "--no-ff ", "-X ours ", "-s ours "}[min(s.Intn(8), 3)]
	if how == "-s ours " && s.Intn(3) > 0 {
		how = "--no-ff "
	}
	script := fmt.Sprintf("git merge -q %s-m 'merge' %s >/dev/null 2>&1", how, s.other()) + settle(s, "merge")
	if s.Intn(8) == 0 && s.file() != "" { // an edit that is made in the merge
		name := s.file()
		script = fmt.Sprintf("git merge -q --no-commit --no-ff %s >/dev/null 2>&1 && { printf %s > %s; git add -A; git commit -q -m 'merge with edit'; }\n",
			s.other(), quote(editBody(s.Rand, name, s.read(name))), name)
	}
	return script
}

// mergeWithMove moves a spec in a merge commit. It may edit the spec besides, or take a side of a conflict.
func mergeWithMove(s *scene, _ *op) string {
	dir := s.spec()
	content := s.read(dir + "/spec.md")
	if s.other() == "" || dir == "" || content == "" {
		return ""
	}
	to := fmt.Sprintf(".spec/m%d", s.number)
	script := fmt.Sprintf("git merge -q --no-commit --no-ff %s >/dev/null 2>&1", s.other())
	side := []string{"ours", "theirs"}[s.Intn(2)]
	script += fmt.Sprintf(" || { git checkout -q --%s -- .; git add -A; }\n", side)
	move := fmt.Sprintf("git mv %s %s", dir, to)
	if s.Intn(3) == 0 {
		move += "; " + strings.TrimSpace(put(to+"/spec.md", editBody(s.Rand, "spec.md", content)))
	}
	return script + fmt.Sprintf("[ -f .git/MERGE_HEAD -o -f .git ] && [ -d %s ] && { %s\ngit add -A; git commit -q -m 'merge with move'; } || git merge --abort\n", dir, move)
}

func octopus(s *scene, _ *op) string {
	if len(s.branch) < 2 {
		return ""
	}
	list := slices.Clone(s.branch)
	s.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return fmt.Sprintf("git merge -q -m octopus %s >/dev/null 2>&1 || git reset -q --hard\n", strings.Join(list[:min(len(list), 2+s.Intn(2))], " "))
}

func rebase(s *scene, _ *op) string {
	if s.other() == "" {
		return ""
	}
	return "git rebase -q " + s.other() + " >/dev/null 2>&1" + settle(s, "rebase")
}

func cherryPick(s *scene, _ *op) string {
	if s.other() == "" {
		return ""
	}
	commit := fmt.Sprintf("%s~%d", s.other(), s.Intn(3))
	return fmt.Sprintf("git cherry-pick --allow-empty --keep-redundant-commits %s >/dev/null 2>&1", commit) + settle(s, "cherry-pick")
}

func resolve(s *scene) string {
	side := []string{"ours", "theirs"}[s.Intn(2)]
	return fmt.Sprintf("git checkout -q --%s -- .\ngit add -A\ngit commit -q -m resolved || git merge --abort || git cherry-pick --abort || git rebase --abort || git revert --abort\n", side)
}

func stash(s *scene, _ *op) string {
	return []string{"git stash -q\n", "git stash -q -u\n", "git stash -q -k\n"}[s.Intn(3)]
}

func pop(s *scene, _ *op) string {
	if !s.stashed {
		return ""
	}
	return []string{"git stash pop -q >/dev/null 2>&1\n", "git stash apply -q >/dev/null 2>&1\n", "git stash drop -q\n"}[s.Intn(3)]
}

func mark(on, off string) generator {
	return func(s *scene, _ *op) string {
		name := s.file()
		if name == "" {
			return ""
		}
		if s.Intn(2) == 0 {
			return fmt.Sprintf("git ls-files -z | xargs -0 git update-index %s\n", off)
		}
		return fmt.Sprintf("git update-index %s %s\n", on, name)
	}
}

func attributes(s *scene, _ *op) string {
	where := []string{".gitattributes", ".gitattributes", "src/.gitattributes", "lib/.gitattributes", "$(git rev-parse --git-common-dir)/info/attributes"}[s.Intn(5)]
	line := []string{
		"*.txt filter=rot", "*.txt filter=strip", "h.txt -filter", "*.txt !filter", "*.txt filter=nodriver",
		"*.txt text", "*.txt -text", "* text=auto", "*.go text eol=crlf", "*.js eol=lf", "*.py text", "* -text", "*.txt eol=crlf",
		"*.txt ident", "*.txt -ident", "* ident",
	}[s.Intn(16)]
	switch s.Intn(5) {
	case 0:
		return fmt.Sprintf("rm -f %s\n", where)
	case 1:
		return fmt.Sprintf("mkdir -p \"$(dirname %[1]s)\"; printf '%[2]s\\n' >> %[1]s; git add -A\n", where, line)
	case 2:
		return fmt.Sprintf("mkdir -p \"$(dirname %[1]s)\"; printf '%[2]s\\n' > %[1]s; git add -A; git commit -q -m attributes; git rm -q -r --cached . >/dev/null; git reset -q --hard\n", where, line)
	}
	return fmt.Sprintf("mkdir -p \"$(dirname %[1]s)\"; printf '%[2]s\\n' > %[1]s\n", where, line)
}

func autocrlf(s *scene, _ *op) string {
	return "git config core.autocrlf " + []string{"true", "input", "false"}[s.Intn(3)] + "\n"
}

func sparse(s *scene, _ *op) string {
	return []string{
		"git sparse-checkout set --no-cone '/*' '!/src/deep/' >/dev/null 2>&1\n",
		"git sparse-checkout set --cone src >/dev/null 2>&1\n",
		"git sparse-checkout disable >/dev/null 2>&1\n",
	}[s.Intn(3)]
}

// forget deletes the caches of ken. The answers must stay the same.
func forget(*scene, *op) string {
	return "rm -rf \"$(git rev-parse --git-common-dir)/ken/cache\"\n"
}

// crowd runs several processes at once: ken judges while files change. Afterwards the verdicts
// must be correct.
func crowd(s *scene, _ *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	asks := []string{"ken verify", "ken status", "ken summary ls", "ken spec ls", "ken survey show", "ken verify --full"}
	first, second := asks[s.Intn(len(asks))], asks[s.Intn(len(asks))]
	content := s.read(name)
	return fmt.Sprintf(`%s --json >../crowd.1 2>&1 &
%s --json >../crowd.2 2>&1 &
printf %s > %s
%s --json >../crowd.3 2>&1
printf %s > %s
wait
cat ../crowd.1 ../crowd.2 ../crowd.3 | grep -A 30 'panic:'
`, first, second, quote(editSameSize(s.Rand, name, content)), name, asks[s.Intn(len(asks))],
		quote(editBody(s.Rand, name, content)), name)
}

func set(s *scene, o *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	o.write = write{act: "set", path: name, text: fmt.Sprintf("text %d of %s", s.number, name)}
	return fmt.Sprintf("ken summary set %s -m '%s' --json\n", name, o.write.text)
}

// setRead sets a summary of the current content, which it identifies by its id or its md5.
func setRead(s *scene, o *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	st := s.l.observe(s.place).files[name]
	if st.kind != "plain" || st.id == "" {
		return ""
	}
	o.write = write{act: "set", path: name, text: fmt.Sprintf("text %d of %s", s.number, name), read: st.id}
	if s.Intn(3) == 0 {
		o.write.read = md5Of(st.raw)
	}
	return fmt.Sprintf("ken summary set %s -m '%s' --read %s --json\n", name, o.write.text, o.write.read)
}

// setOld sets a summary of a content of the file in an older commit.
func setOld(s *scene, o *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	var ids []string
	for line := range strings.Lines(s.l.git(s.place, "log", "--all", "--format=", "--raw", "--no-abbrev", "-n", "30", "--", name)) {
		if f := strings.Fields(line); len(f) > 4 && strings.Trim(f[3], "0") != "" {
			ids = append(ids, f[3])
		}
	}
	if len(ids) == 0 {
		return ""
	}
	o.write = write{act: "set", path: name, text: fmt.Sprintf("text %d of %s", s.number, name), read: ids[s.Intn(len(ids))]}
	return fmt.Sprintf("ken summary set %s -m '%s' --read %s --json\n", name, o.write.text, o.write.read)
}

func confirm(s *scene, o *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	o.write = write{act: "confirm", path: name}
	return fmt.Sprintf("ken summary confirm %s --json\n", name)
}

// share sends the records of the repository to the clone, or the other way round. The clone follows main.
func share(_ *scene, o *op) string {
	o.place = "repo"
	o.look = lookAll
	o.write = write{act: "share"}
	return `ken share push
git push -q -f origin HEAD:main
cd ../clone && ken share pull && ken share push && git fetch -q && git checkout -q -f --detach origin/main
cd ../repo && ken share pull
`
}

// describe leases up to four directories like an agent and submits a summary of each.
func describe(s *scene, o *op) string {
	o.write = write{act: "describe", text: fmt.Sprintf("text %d", s.number)}
	keep := ""
	if s.Intn(4) == 0 {
		o.write.act = "keep"
		keep = "[ $i -gt 1 ] || answer=--keep\n"
	}
	return fmt.Sprintf(`for i in $(seq %d); do
ken survey next --json > ../item.json || break
dir=$(sed -n 's/^ *"path": "\(.*\)",$/\1/p' ../item.json | head -1)
lease=$(sed -n 's/^ *"lease": "\(.*\)",$/\1/p' ../item.json)
[ -n "$lease" ] || break
answer="-m%s of $dir, $i"
%sken survey submit "$dir" --lease "$lease" "$answer" --json
done
`, 1+s.Intn(6), o.write.text, keep)
}

// describeMoved edits a file between the lease of a directory and its summary.
func describeMoved(s *scene, o *op) string {
	name := s.file()
	if name == "" {
		return ""
	}
	o.write = write{act: "moved", text: fmt.Sprintf("text %d", s.number)}
	return fmt.Sprintf(`ken survey next --json > ../item.json
dir=$(sed -n 's/^ *"path": "\(.*\)",$/\1/p' ../item.json | head -1)
lease=$(sed -n 's/^ *"lease": "\(.*\)",$/\1/p' ../item.json)
printf %s > %s
[ -z "$lease" ] || ken survey submit "$dir" --lease "$lease" -m "%s of $dir, 1" --json
`, quote(editInterface(s.Rand, name, s.read(name))), name, o.write.text)
}

func outline(_ *scene, o *op) string {
	o.write = write{act: "outline"}
	o.look = lookAll
	return "ken survey run --json\n"
}

// A firstSpec is a spec that exists at the start of a life.
type firstSpec struct {
	dir  string // below .spec
	code []string
}

var firstSpecs = []firstSpec{
	{"p", []string{"src/c.go", "a.go"}},
	{"q", []string{"lib/"}},
	{"p/r", []string{"src/deep/f.go"}},
}

// specFile is a spec of some lines, so that edits of different lines merge.
func specFile(r *rand.Rand, code []string) string {
	var b strings.Builder
	b.WriteString("---\ntitle: A spec\ncode:\n")
	for _, c := range code {
		fmt.Fprintf(&b, "  - %s\n", c)
	}
	b.WriteString("---\n# A spec\n")
	for i := range 8 {
		fmt.Fprintf(&b, "\nline %d has %d\n", i, r.Intn(10000))
	}
	return b.String()
}

func (s *scene) spec() string {
	if len(s.specs) == 0 {
		return ""
	}
	return s.specs[s.Intn(len(s.specs))]
}

func editSpec(s *scene, _ *op) string {
	dir := s.spec()
	content := s.read(dir + "/spec.md")
	if dir == "" || content == "" {
		return ""
	}
	return put(dir+"/spec.md", editBody(s.Rand, "spec.md", content)) + "git add -A && git commit -q -m 'edit spec'\n"
}

func editSpecAndCode(s *scene, o *op) string {
	name := s.file()
	script := editSpec(s, o)
	if name == "" || script == "" {
		return ""
	}
	return put(name, editBody(s.Rand, name, s.read(name))) + script
}

func moveSpec(edited bool) generator {
	return func(s *scene, _ *op) string {
		dir := s.spec()
		content := s.read(dir + "/spec.md")
		if dir == "" || content == "" {
			return ""
		}
		to := fmt.Sprintf("%s/m%d", path.Dir(dir), s.number)
		if s.Intn(3) == 0 && s.spec() != dir && !strings.HasPrefix(s.spec(), dir) {
			to = fmt.Sprintf(".spec/m%d", s.number)
		}
		script := fmt.Sprintf("mkdir -p $(dirname %[2]s); git mv %[1]s %[2]s\n", dir, to)
		if edited {
			script += put(to+"/spec.md", editBody(s.Rand, "spec.md", content)) + "git add -A\n"
		}
		return script + "git commit -q -m 'move spec'\n"
	}
}

func newSpec(s *scene, _ *op) string {
	if len(s.specs) > 6 || s.file() == "" {
		return ""
	}
	dir := fmt.Sprintf(".spec/s%d", s.number)
	return "mkdir -p " + dir + "\n" + put(dir+"/spec.md", specFile(s.Rand, []string{s.file()})) + "git add -A && git commit -q -m 'new spec'\n"
}

func removeSpec(s *scene, _ *op) string {
	if len(s.specs) < 3 {
		return ""
	}
	return fmt.Sprintf("git rm -q -r %s && git commit -q -m 'delete spec'\n", s.spec())
}

func ack(s *scene, o *op) string {
	dir := s.spec()
	if dir == "" {
		return ""
	}
	o.write = write{act: "ack", path: dir}
	if s.Intn(4) == 0 { // the plain form, which has no basis
		return fmt.Sprintf("git commit -q --allow-empty -m 'ack' -m 'Spec-OK: %s'\n", path.Base(dir))
	}
	return fmt.Sprintf("ken spec ack %s --reason 'it holds' --json\n", path.Base(dir))
}

func squash(s *scene, _ *op) string {
	if s.other() == "" {
		return ""
	}
	if s.Intn(2) == 0 {
		return fmt.Sprintf("git merge -q --squash %s >/dev/null 2>&1 && git commit -q -m squash || git reset -q --hard\n", s.other())
	}
	// The message of the last commit, with its trailers, over the content of two.
	return "m=$(git log -1 --format=%B); git reset -q --soft HEAD~2 && git commit -q -m \"$m\"\n"
}
