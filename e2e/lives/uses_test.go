package lives

import (
	"fmt"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Uses have no model. After an operation, what ken says about every file is compared with what it says in a copy of
// the repository without the caches of ken: an index that was updated answers like a new one.

const lookingAtUses = `rm -rf ../cold && cp -a . ../cold && rm -rf ../cold/.git/ken
for f in --all $(git ls-files); do
  ken uses --all --json $f > ../warm.json; (cd ../cold && ken uses --all --json $f) | diff ../warm.json - || echo "$f differs"
done
`

func (l *life) compareUses() {
	if out, err := l.sh(l.at("repo"), "rm -rf ../cold && cp -a . ../cold && rm -rf ../cold/.git/ken"); err != nil {
		l.tb.Errorf("seed %d: copy the repository: %v\n%s", l.seed, err, out)
		l.dead = true
		return
	}
	asks := [][]string{{"uses", "--all", "--json"}}
	for name := range strings.SplitSeq(l.git("repo", "ls-files", "-z"), "\x00") {
		if inUses(name) {
			asks = append(asks, []string{"uses", "--all", "--json", name})
		}
	}
	for _, ask := range asks {
		warm := l.answer("repo", ask)
		cold := l.answer("cold", ask)
		l.compared++
		if warm != cold {
			l.differs("repo", "ken "+strings.Join(ask, " ")+" answers as it does without its caches", l.difference(warm, cold))
			return
		}
	}
}

// difference returns the lines that differ between two answers.
func (l *life) difference(warm, cold string) string {
	for name, answer := range map[string]string{"warm.json": warm, "cold.json": cold} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(answer), 0o600); err != nil {
			return err.Error()
		}
	}
	out, _ := l.sh(l.dir, "diff -U 8 warm.json cold.json") // it fails because they differ
	return out
}

// answer returns what a command prints, or its error.
func (l *life) answer(place string, args []string) string {
	out, err := l.run(l.at(place), "", nil, program, args...)
	if err != nil {
		return out + err.Error()
	}
	return out
}

// The files of a life of this kind. Their contents are drawn from small grammars, so that imports often meet.
var (
	scriptFiles = []string{
		"packages/core/src/index.ts", "packages/core/src/a.ts", "packages/core/src/b.ts", "packages/core/src/index.js",
		"app/main.ts", "app/a.ts", "app/view.vue", "app/view.svelte",
	}
	pythonFiles = []string{"pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py", "pkg/sub.py", "use.py"}
	goFiles     = []string{"a/a.go", "a/more.go", "b/b.go", "b/a_test.go"}
	ruleFiles   = []string{"package.json", "packages/core/package.json", "tsconfig.json", "base.json", "go.mod", "app/vite.config.ts", "app/svelte.config.js"}
)

var names = []string{"alpha", "beta", "gamma"}

func usesFiles() []string {
	var all []string
	all = append(all, scriptFiles...)
	all = append(all, pythonFiles...)
	all = append(all, goFiles...)
	return append(all, ruleFiles...)
}

// inUses reports whether a file is in a place where this kind of lives writes.
func inUses(name string) bool {
	for _, dir := range []string{"packages/", "app/", "pkg/", "a/", "b/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return name == "use.py"
}

func firstUses(r *rand.Rand) string {
	var b strings.Builder
	for _, name := range usesFiles() {
		b.WriteString(makeDir(name))
		b.WriteString(put(name, usesContent(r, name)))
	}
	return b.String()
}

// writeUses writes one or two files anew, or makes one that was missing.
func writeUses(s *scene, _ *op) string {
	var script strings.Builder
	all := usesFiles()
	for range 1 + s.Intn(2) {
		name := all[s.Intn(len(all))]
		script.WriteString(makeDir(name))
		script.WriteString(put(name, usesContent(s.Rand, name)))
	}
	if s.Intn(2) == 0 {
		script.WriteString("git add -A\n")
	}
	return script.String()
}

func moveUses(s *scene, _ *op) string {
	list := [][]string{scriptFiles, pythonFiles, goFiles}[s.Intn(3)]
	from := list[s.Intn(len(list))]
	to := list[s.Intn(len(list))]
	if s.Intn(2) == 0 {
		to = path.Join(path.Dir(from), "c"+path.Ext(from))
	}
	return makeDir(to) + fmt.Sprintf("git mv -f %s %s\n", from, to)
}

// linkUses puts a symbolic link to one file in the place of another.
func linkUses(s *scene, _ *op) string {
	list := [][]string{scriptFiles, pythonFiles}[s.Intn(2)]
	at := list[s.Intn(len(list))]
	target := list[s.Intn(len(list))]
	if at == target {
		return ""
	}
	up := strings.Repeat("../", strings.Count(at, "/"))
	return makeDir(at) + fmt.Sprintf("ln -sf %s%s %s\ngit add -A\n", up, target, at)
}

func usesContent(r *rand.Rand, name string) string {
	switch path.Base(name) {
	case "package.json", "tsconfig.json", "base.json", "go.mod", "vite.config.ts", "svelte.config.js":
		return pick(r, ruleTexts[name])
	}
	var lines []string
	switch path.Ext(name) {
	case ".py":
		lines = someLines(r, pythonLines)
	case ".go":
		lines = append([]string{"package " + path.Dir(name), pick(r, goImports)}, someLines(r, goLines)...)
	case ".vue", ".svelte":
		lines = append([]string{"<script lang=\"ts\">"}, someLines(r, scriptLines)...)
		lines = append(lines, "</script>", "<p>{{ NAME() }} {NAME}</p>", "<View />")
	default:
		lines = someLines(r, scriptLines)
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "OTHER", pick(r, names))
		lines[i] = strings.ReplaceAll(lines[i], "NAME", pick(r, names))
	}
	return strings.Join(lines, "\n") + "\n"
}

func pick(r *rand.Rand, list []string) string { return list[r.Intn(len(list))] }

func someLines(r *rand.Rand, list []string) []string {
	var lines []string
	for range 1 + r.Intn(5) {
		lines = append(lines, pick(r, list))
	}
	return lines
}

var scriptLines = []string{
	"export const NAME = 1", "export function NAME() { return OTHER() }", "export class NAME { OTHER() {} }",
	"export * from './a'", "export * from './b'", "export { NAME } from './a'", "export { NAME as OTHER } from './b'",
	"export * from '../packages/core/src'", "export * as NAME from './index'",
	"import { NAME } from './a'", "import { NAME as OTHER } from './b'", "import NAME from './view.vue'",
	"import { NAME } from '@x/core'", "import * as OTHER from '@x/core/a'", "import { NAME } from '~/a'", "import './view.svelte'",
	"import { NAME } from '@core/index'", "import { NAME } from '@app/a'", "import { NAME } from '$lib/a'", "export default NAME", "NAME()", "new NAME().OTHER()", "OTHER.NAME()",
	"type T = typeof import('./a')", "const m = await import('./b')",
}

var pythonLines = []string{
	"def NAME():\n    return OTHER()", "class NAME:\n    def OTHER(self):\n        self.OTHER()", "NAME = 1",
	"from pkg.a import *", "from .a import *", "from . import sub", "from pkg import sub", "from pkg import a as OTHER",
	"from pkg.sub import NAME", "from pkg import NAME", "from .b import NAME", "import pkg.sub.b", "from pkg.sub.b import *",
	"__all__ = ['NAME', 'OTHER']", "def __getattr__(name):\n    return name", "NAME()", "sub.NAME()", "OTHER().NAME()", "a.NAME",
}

var goImports = []string{"", "import \"example.org/m/a\"", "import . \"example.org/m/a\"", "import x \"example.org/n/a\"", "import \"example.org/m/b\""}

var goLines = []string{
	"func NAME() { OTHER() }", "type NAME struct{ OTHER }", "func (NAME) OTHER() {}", "type NAME interface{ OTHER() }",
	"var NAME = a.OTHER()", "var NAME OTHER", "func init() { NAME.OTHER() }", "func init() { a.NAME(); b.OTHER() }",
}

var ruleTexts = map[string][]string{
	"package.json": {`{"workspaces": ["packages/*"]}`, `{"workspaces": []}`, `{"name": "x"}`, "{"},
	"packages/core/package.json": {
		`{"name": "@x/core", "main": "src/index.ts"}`, `{"name": "@x/core", "exports": {".": "./src/b.ts", "./a": "./src/a.ts"}}`,
		`{"name": "@x/core", "exports": {"./*": "./src/*.ts"}}`, `{"name": "@x/other"}`,
	},
	"tsconfig.json": {
		`{"extends": "./base.json"}`, `{"compilerOptions": {"paths": {"@core/*": ["packages/core/src/*"]}}}`,
		`{"compilerOptions": {"baseUrl": "."}}`, "{}",
	},
	"base.json": {`{"compilerOptions": {"paths": {"~/*": ["./app/*"], "@core/*": ["packages/core/src/*"]}}}`, `{"compilerOptions": {"paths": {"~/*": ["./pkg/*"]}}}`, "{}"},
	"app/vite.config.ts": {
		"export default { resolve: { alias: { '@app': path.resolve(__dirname, '.') } } }\n", "export default { resolve: { alias: { '@app': computed } } }\n",
	},
	"app/svelte.config.js": {
		"export default { kit: { files: { lib: '.' } } }\n", "export default { kit: { alias: { $lib: '../packages/core/src' } } }\n", "export default {}\n",
	},
	"go.mod": {"module example.org/m\n\ngo 1.24\n", "module example.org/n\n\ngo 1.24\n"},
}
