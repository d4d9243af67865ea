package docs

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/repo"
)

// A taskFile is a kind of file that says what one tool can run: Makefile, package.json.
type taskFile struct {
	names   []string // of such files, the one that the tool prefers first
	ext     string   // of more of them; "" for none
	recipes func(content []byte) recipes
}

// recipes are what a task file offers.
type recipes struct {
	names map[string]bool
	// open is set if there may be others: the file includes another, or computes names.
	open bool
	// includes are the files that it takes in.
	includes []string
	// patterns are names that stand for others: a "%" matches anything.
	patterns []string
}

// mayMake reports whether a pattern makes a command of this name.
func (r *recipes) mayMake(name string) bool {
	return slices.ContainsFunc(r.patterns, func(p string) bool {
		front, back, _ := strings.Cut(p, "%")
		return len(name) > len(front)+len(back) && strings.HasPrefix(name, front) && strings.HasSuffix(name, back)
	})
}

// books are the tools whose books can be read.
var books = map[string]taskFile{
	"make":     {[]string{"GNUmakefile", "makefile", "Makefile"}, ".mk", makeTargets},
	"just":     {[]string{"justfile", "Justfile", ".justfile"}, ".just", justRecipes},
	"task":     {[]string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"}, "", taskNames},
	"rake":     {[]string{"Rakefile", "rakefile", "Rakefile.rb"}, ".rake", rakeTasks},
	"composer": {[]string{"composer.json"}, "", scripts},
	"npm":      {[]string{"package.json"}, "", scripts},
	"yarn":     {[]string{"package.json"}, "", scripts},
	"pnpm":     {[]string{"package.json"}, "", scripts},
	"bun":      {[]string{"package.json"}, "", scripts},
}

// has reports whether a file is of this kind.
func (b *taskFile) has(p repo.Path) bool {
	base := p.Base()
	return slices.Contains(b.names, base) || b.ext != "" && strings.HasSuffix(base, b.ext) ||
		b.ext == ".mk" && strings.HasPrefix(base, "Makefile.")
}

const maxBook = 1 << 20

var (
	makeRule     = later(`(?m)^([^\s#:=][^#:=\n]*?)\s*::?(?:[^=:\n]|$)`)
	makeOpen     = later(`(?m)^\s*-?s?include\b|^[^\s#:=]*[%$][^:=\n]*:|\$\(eval\b`)
	makeInclude  = later(`(?m)^[ \t]*include[ \t]+([^#\n]+)`) // with a dash, it may be missing
	makeForward  = later(`(?m)^%:\s*([\w-]+)%`)
	makeVariable = later(`\$\([^)]*\)|\$\{[^}]*\}|\$.`)
	justRule     = later(`(?m)^(?:@?([A-Za-z_][\w-]*)(?:\s[^:\n]*)?:(?:[^=]|$)|alias\s+([\w-]+)\s*:=)`)
	justOpen     = later(`(?m)^(?:import|mod)\b`)
	taskRule     = later(`(?m)^\s+["']?([\w:.*-]+)["']?:`)
	taskOpen     = later(`(?m)^includes:`)
	rakeRule     = later(`\b(?:task|file|multitask)\b[\s(]*(?::?["']?([\w:-]+)["']?)`)
)

// later returns an expression that is compiled when it is first asked for: hooks start ken all
// day, and read no task file.
func later(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func makeTargets(content []byte) recipes {
	r := recipes{names: make(map[string]bool), open: makeOpen().Match(content)}
	joined := strings.ReplaceAll(string(content), "\\\n", " ")
	for _, m := range makeInclude().FindAllStringSubmatch(joined, -1) {
		r.includes = append(r.includes, strings.Fields(m[1])...)
	}
	for _, m := range makeRule().FindAllStringSubmatch(joined, -1) {
		for name := range strings.FieldsSeq(m[1]) {
			r.names[name] = true
			// A name that is nothing but a variable is one name, which nobody can tell.
			if pattern := makeVariable().ReplaceAllString(name, "%"); pattern != "%" && strings.Count(pattern, "%") == 1 {
				r.patterns = append(r.patterns, pattern)
			}
		}
	}
	// "%: common-%" makes a target of every other one that begins so.
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

func justRecipes(content []byte) recipes {
	r := recipes{names: make(map[string]bool), open: justOpen().Match(content)}
	for _, m := range justRule().FindAllSubmatch(content, -1) {
		r.names[string(m[1])+string(m[2])] = true
	}
	return r
}

func taskNames(content []byte) recipes {
	r := recipes{names: make(map[string]bool), open: taskOpen().Match(content)}
	for _, m := range taskRule().FindAllSubmatch(content, -1) {
		r.names[string(m[1])] = true
	}
	return r
}

// rakeTasks never has all of them: tasks are made by code.
func rakeTasks(content []byte) recipes {
	r := recipes{names: make(map[string]bool), open: true}
	for _, m := range rakeRule().FindAllSubmatch(content, -1) {
		r.names[string(m[1])] = true
	}
	return r
}

// scripts are those of a package; a dependency brings programs that are run as if they
// were.
func scripts(content []byte) recipes {
	var pack struct {
		Scripts      map[string]any `json:"scripts"`
		Dependencies map[string]any `json:"dependencies"`
		Dev          map[string]any `json:"devDependencies"`
		Bin          any            `json:"bin"`
	}
	r := recipes{names: make(map[string]bool)}
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

// judgeCommands decides which commands hold: those that any task file of the tree offers.
func (j *judge) judgeCommands(ctx context.Context, files []File) error {
	open := make(map[string][]int) // by tool
	for i := range j.list {
		if m := &j.list[i]; m.Kind == Command && m.Verdict == "" {
			open[m.Tool] = append(open[m.Tool], i)
		}
	}
	for tool, which := range open {
		b, ok := books[tool]
		if !ok {
			for _, i := range which {
				j.list[i].Verdict, j.list[i].Why = Ambiguous, "ken cannot read what "+tool+" runs"
			}
			continue
		}
		all, err := j.allRecipes(ctx, files, &b)
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
				// If a file listed it once and none does now, it is gone all the same.
				m.Why = tool + " may run more than its files list"
			}
		}
	}
	return nil
}

// includesUnseen reports whether a task file takes in one that git does not track.
func (j *judge) includesUnseen(r *recipes) bool {
	return slices.ContainsFunc(r.includes, func(name string) bool {
		if i := strings.LastIndexAny(name, ")}"); i >= 0 {
			name = name[i+1:] // behind a variable
		}
		name = strings.TrimPrefix(path.Clean("/"+name), "/")
		return !strings.ContainsAny(name, "*?[$") && !j.index.ends(name)
	})
}

// allRecipes reads all books of a tool. One that cannot be read may have anything.
func (j *judge) allRecipes(ctx context.Context, files []File, b *taskFile) (recipes, error) {
	var mine []File
	for _, f := range files {
		if b.has(f.Path) {
			mine = append(mine, f)
		}
	}
	all := recipes{names: make(map[string]bool)}
	var lock sync.Mutex
	err := j.tree.Read(ctx, mine, maxBook, func(_ int, content []byte, err error) {
		var r recipes
		if err == nil {
			r = b.recipes(content)
		}
		lock.Lock()
		defer lock.Unlock()
		all.open = all.open || r.open || err != nil
		all.includes = append(all.includes, r.includes...)
		all.patterns = append(all.patterns, r.patterns...)
		for name := range r.names {
			all.names[name] = true
		}
	})
	return all, err
}

// judgePastCommands judges commands that no task file has: did one have it when the document
// named it?
func (j *judge) judgePastCommands(ctx context.Context, open []int, claims map[int]origin) error {
	type try struct {
		mention int
		place   repo.CommitPath
	}
	var tries []try
	var places []repo.CommitPath
	for _, i := range open {
		m, c := &j.list[i], claims[i]
		b := books[m.Tool]
		for _, name := range b.names {
			at := Mention{Name: name, In: m.In}
			for _, p := range readingOf(c.doc, &at, false).paths {
				place := repo.CommitPath{Commit: c.commit, Path: repo.Path(p)}
				tries = append(tries, try{i, place})
				places = append(places, place)
			}
		}
	}
	ids, err := j.past.contents.At(ctx, places)
	if err != nil {
		return err
	}
	var blobs []repo.ID
	whose := make(map[repo.ID][]int)
	for k, id := range ids {
		if id.IsZero() {
			continue
		}
		if whose[id] == nil {
			blobs = append(blobs, id)
		}
		whose[id] = append(whose[id], k)
	}
	vague := make(map[int]string) // why a task file may have had a mention nevertheless
	more := make(map[int]bool)    // a task file did not list it
	err = j.past.eachContent(ctx, blobs, func(k int, content []byte, err error) {
		read := make(map[string]recipes) // by tool
		for _, k := range whose[blobs[k]] {
			t := tries[k]
			m := &j.list[t.mention]
			r, known := read[m.Tool]
			if !known && err == nil && len(content) <= maxBook {
				r = books[m.Tool].recipes(content)
				read[m.Tool] = r
			}
			switch {
			case err != nil || len(content) > maxBook:
				vague[t.mention] = unreadReason(err)
			case m.Was == "" && r.names[m.Name]:
				m.Verdict, m.True, m.Was = Gone, true, t.place.Path
			case r.open:
				more[t.mention] = true
			}
		}
	})
	if err != nil {
		return err
	}
	return j.dateCommands(ctx, slices.DeleteFunc(slices.Clone(open), func(i int) bool {
		m := &j.list[i]
		switch {
		case m.Was != "":
			return false
		case vague[i] != "":
			m.Verdict, m.Why = Unknown, vague[i]
		case claims[i].vague != "":
			m.Verdict, m.Why = Unknown, claims[i].vague
		case m.Why != "":
			m.Verdict = Ambiguous
		case more[i]:
			m.Verdict, m.Why = Ambiguous, m.Tool+" may have run more than its files listed"
		}
		return true
	}))
}

// dateCommands finds the commits that took commands out of their books.
func (j *judge) dateCommands(ctx context.Context, gone []int) error {
	type recipe struct {
		book       repo.Path
		tool, name string
	}
	hunts := make(map[recipe]*removalSearch)
	var list []*removalSearch
	for _, i := range gone {
		m := &j.list[i]
		m.Why = "it was in " + m.Was.String()
		r := recipe{m.Was, m.Tool, m.Name}
		if hunts[r] == nil {
			recipesOf := books[m.Tool].recipes
			hunts[r] = &removalSearch{file: m.Was, last: -1, is: func(v *fileVersion) bool { return recipesOf(v.content).names[r.name] }}
			list = append(list, hunts[r])
		}
	}
	if err := j.findRemovals(ctx, list); err != nil {
		return err
	}
	for _, i := range gone {
		m := &j.list[i]
		j.since(i, hunts[recipe{m.Was, m.Tool, m.Name}])
	}
	return nil
}
