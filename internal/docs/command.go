package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// A taskFile is a kind of file that lists the commands of a tool: Makefile, package.json.
type taskFile struct {
	names    []string // file names, in the order of preference of the tool
	ext      string   // the extension of further files; "" for none
	commands func(content []byte) commandList
}

// commandList has the commands in a task file.
type commandList struct {
	names map[string]bool
	// open is set if there may be more commands: the file includes another one, or computes names.
	open bool
	// includes are the files that it includes.
	includes []string
	// patterns are command names in which "%" matches any text.
	patterns []string
}

// add adds the commands of another task file.
func (c *commandList) add(other commandList) {
	c.open = c.open || other.open
	c.includes = append(c.includes, other.includes...)
	c.patterns = append(c.patterns, other.patterns...)
	maps.Copy(c.names, other.names)
}

// mayMake reports whether a pattern matches this name.
func (c *commandList) mayMake(name string) bool {
	return slices.ContainsFunc(c.patterns, func(p string) bool {
		front, back, _ := strings.Cut(p, "%")
		return len(name) > len(front)+len(back) && strings.HasPrefix(name, front) && strings.HasSuffix(name, back)
	})
}

// taskFiles has the task files of each tool.
var taskFiles = map[string]taskFile{
	"make":     {[]string{"GNUmakefile", "makefile", "Makefile"}, ".mk", makeTargets},
	"just":     {[]string{"justfile", "Justfile", ".justfile"}, ".just", matches(justRule, justOpen)},
	"task":     {[]string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"}, "", matches(taskRule, taskOpen)},
	"rake":     {[]string{"Rakefile", "rakefile", "Rakefile.rb"}, ".rake", matches(rakeRule, nil)}, // code can define tasks
	"composer": {[]string{"composer.json"}, "", scripts},
	"npm":      {[]string{"package.json"}, "", scripts},
	"yarn":     {[]string{"package.json"}, "", scripts},
	"pnpm":     {[]string{"package.json"}, "", scripts},
	"bun":      {[]string{"package.json"}, "", scripts},
}

// has reports whether a file is of this kind.
func (t *taskFile) has(p repo.Path) bool {
	base := p.Base()
	return slices.Contains(t.names, base) || t.ext != "" && strings.HasSuffix(base, t.ext) ||
		t.ext == ".mk" && strings.HasPrefix(base, "Makefile.")
}

const maxTaskFile = 1 << 20

var (
	makeRule     = lazyRegexp(`(?m)^([^\s#:=][^#:=\n]*?)\s*::?(?:[^=:\n]|$)`)
	makeOpen     = lazyRegexp(`(?m)^\s*-?s?include\b|^[^\s#:=]*[%$][^:=\n]*:|\$\(eval\b`)
	makeInclude  = lazyRegexp(`(?m)^[ \t]*include[ \t]+([^#\n]+)`) // with a dash, the file is optional
	makeForward  = lazyRegexp(`(?m)^%:\s*([\w-]+)%`)
	makeVariable = lazyRegexp(`\$\([^)]*\)|\$\{[^}]*\}|\$.`)
	justRule     = lazyRegexp(`(?m)^(?:@?([A-Za-z_][\w-]*)(?:\s[^:\n]*)?:(?:[^=]|$)|alias\s+([\w-]+)\s*:=)`)
	justOpen     = lazyRegexp(`(?m)^(?:import|mod)\b`)
	taskRule     = lazyRegexp(`(?m)^\s+["']?([\w:.*-]+)["']?:`)
	taskOpen     = lazyRegexp(`(?m)^includes:`)
	rakeRule     = lazyRegexp(`\b(?:task|file|multitask)\b[\s(]*(?::?["']?([\w:-]+)["']?)`)
)

// lazyRegexp returns a function that compiles the expression on first use. Hooks start ken often and rarely need it.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func makeTargets(content []byte) commandList {
	r := commandList{names: make(map[string]bool), open: makeOpen().Match(content)}
	joined := strings.ReplaceAll(string(content), "\\\n", " ")
	for _, m := range makeInclude().FindAllStringSubmatch(joined, -1) {
		r.includes = append(r.includes, strings.Fields(m[1])...)
	}
	for _, m := range makeRule().FindAllStringSubmatch(joined, -1) {
		for name := range strings.FieldsSeq(m[1]) {
			r.names[name] = true
			// A name that is only a variable could be any name.
			if pattern := makeVariable().ReplaceAllString(name, "%"); pattern != "%" && strings.Count(pattern, "%") == 1 {
				r.patterns = append(r.patterns, pattern)
			}
		}
	}
	// "%: common-%" makes a target for every target with this prefix.
	for _, m := range makeForward().FindAllStringSubmatch(joined, -1) {
		for name := range maps.Clone(r.names) {
			if rest, ok := strings.CutPrefix(name, m[1]); ok && rest != "" {
				r.names[rest] = true
			}
		}
	}
	delete(r.names, ".PHONY")
	for line := range strings.Lines(joined) {
		if rest, ok := strings.CutPrefix(line, ".PHONY"); ok {
			for name := range strings.FieldsSeq(strings.TrimLeft(rest, " \t:")) {
				r.names[name] = true
			}
		}
	}
	return r
}

// matches returns a function that lists the groups of all matches as commands. The list may be incomplete if open
// matches, or always if open is nil.
func matches(rule, open func() *regexp.Regexp) func(content []byte) commandList {
	return func(content []byte) commandList {
		r := commandList{names: make(map[string]bool), open: open == nil || open().Match(content)}
		for _, m := range rule().FindAllSubmatch(content, -1) {
			r.names[string(bytes.Join(m[1:], nil))] = true
		}
		return r
	}
}

// scripts returns the scripts of a package. A dependency may add programs that run like scripts.
func scripts(content []byte) commandList {
	var pack struct {
		Scripts      map[string]any `json:"scripts"`
		Dependencies map[string]any `json:"dependencies"`
		Dev          map[string]any `json:"devDependencies"`
		Bin          any            `json:"bin"`
	}
	r := commandList{names: make(map[string]bool)}
	if json.Unmarshal(content, &pack) != nil {
		r.open = true
		return r
	}
	for name := range pack.Scripts {
		r.names[name] = true
	}
	for _, list := range []map[string]any{pack.Dependencies, pack.Dev} {
		for name := range list {
			r.names[path.Base(name)] = true
		}
	}
	return r
}

// judgeCommands decides which commands hold: those that any task file of the tree lists.
func (j *judge) judgeCommands(ctx context.Context) error {
	open := make(map[string][]int) // by tool
	for i := range j.list {
		if m := &j.list[i]; m.Kind == mention.Command && !m.hasVerdict() {
			open[m.Tool] = append(open[m.Tool], i)
		}
	}
	for tool, which := range open {
		b, ok := taskFiles[tool]
		if !ok {
			for _, i := range which {
				j.list[i].Verdict, j.list[i].Why = Ambiguous, "ken cannot read what "+tool+" runs"
			}
			continue
		}
		all, err := j.allCommands(ctx, j.tree.inputs.files, &b)
		if err != nil {
			return err
		}
		for _, i := range which {
			m := &j.list[i]
			switch {
			case all.names[m.Name]:
				m.Verdict = Holds
			case all.mayMake(m.Name):
				m.Verdict, m.Why = Ambiguous, "a pattern of "+tool+" may make it"
			case j.includesUnseen(&all):
				m.Verdict, m.Why = Ambiguous, tool+" may run more than its files list"
			case all.open:
				// If a file listed the command once and none does now, it is gone nevertheless.
				m.mayRun = true
			}
		}
	}
	return nil
}

// includesUnseen reports whether a task file includes a file that git does not track.
func (j *judge) includesUnseen(r *commandList) bool {
	return slices.ContainsFunc(r.includes, func(name string) bool {
		if i := strings.LastIndexAny(name, ")}"); i >= 0 {
			name = name[i+1:] // after a variable
		}
		name = strings.TrimPrefix(path.Clean("/"+name), "/")
		return !strings.ContainsAny(name, "*?[$") && !j.index.ends(name)
	})
}

// allCommands reads all task files of a tool. A file that cannot be read may list any command.
func (j *judge) allCommands(ctx context.Context, files []repo.File, b *taskFile) (commandList, error) {
	var mine []repo.File
	for _, f := range files {
		if b.has(f.Path) {
			mine = append(mine, f)
		}
	}
	all := commandList{names: make(map[string]bool)}
	var lock sync.Mutex
	err := j.tree.Read(ctx, mine, maxTaskFile, func(_ int, content []byte, err error) {
		var r commandList
		if err == nil {
			r = b.commands(content)
		}
		lock.Lock()
		defer lock.Unlock()
		all.add(r)
		all.open = all.open || err != nil
	})
	return all, err
}

// judgePastCommands judges the commands that no task file lists: did one list the command when the document named
// it?
func (j *judge) judgePastCommands(ctx context.Context, open []int, claims map[int]origin) error {
	var things []pastThing
	more := make(map[int]bool) // a task file of that time may have run more than it listed
	for _, i := range open {
		m := &j.list[i]
		kind := taskFiles[m.Tool]
		thing := pastThing{mention: i, is: func(v *fileVersion) bool {
			list := kind.commands(v.content)
			more[i] = more[i] || list.open
			return list.names[m.Name]
		}}
		for _, name := range kind.names {
			at := mention.Mention{Name: name, In: m.In}
			for _, p := range possiblePaths(claims[i].doc, &at, false) {
				thing.files = append(thing.files, repo.Path(p))
			}
		}
		things = append(things, thing)
	}
	if err := j.judgeThings(ctx, things, claims); err != nil {
		return err
	}
	for _, i := range open {
		m := &j.list[i]
		switch {
		case m.Verdict == Gone:
			m.Why = "it was in " + m.Was.String()
		case m.hasVerdict():
		case m.mayRun:
			m.Verdict, m.Why = Ambiguous, m.Tool+" may run more than its files list"
		case more[i]:
			m.Verdict, m.Why = Ambiguous, m.Tool+" may have run more than its files listed"
		}
	}
	return nil
}
