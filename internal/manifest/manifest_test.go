package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/manifest"
)

func parse(t *testing.T, name, content string) manifest.Document {
	t.Helper()
	doc, err := manifest.Parse(name, []byte(content))
	if err != nil {
		t.Fatalf("Parse(%s): %v", name, err)
	}
	return doc
}

func TestParse(t *testing.T) {
	for _, test := range []struct{ name, content string }{
		{"package.json", `{"a": {"b": "x", "list": ["y", 1, "z"], "one": "w"}}`},
		{"deno.jsonc", "{\"a\": {\"b\": \"x\", // why\n\"list\": [\"y\", 1, \"z\"], \"one\": \"w\",}}"},
		{"Cargo.toml", "[a]\nb = 'x'\nlist = ['y', 1, 'z']\none = 'w'\n"},
		{"Pipfile", "[a]\nb = 'x'\nlist = ['y', 1, 'z']\none = 'w'\n"},
	} {
		doc := parse(t, test.name, test.content)
		if got := doc.Text("a", "b"); got != "x" {
			t.Errorf("%s: the text at a, b is %q, want x", test.name, got)
		}
		if got := strings.Join(doc.At("a").Texts("list"), " "); got != "y z" {
			t.Errorf("%s: the texts of a list are %q, want its strings", test.name, got)
		}
		if got := strings.Join(doc.Texts("a", "one"), " "); got != "w" {
			t.Errorf("%s: the texts of a string are %q, want the string", test.name, got)
		}
		if got := strings.Join(doc.Keys("a"), " "); got != "b list one" {
			t.Errorf("%s: the keys are %q, want them sorted", test.name, got)
		}
		if doc.Has("a", "b", "c") || doc.Has("none", "b") || doc.Text("a") != "" || doc.At("none").Exists() {
			t.Errorf("%s: a part that is not there exists", test.name)
		}
	}
}

func TestParseBroken(t *testing.T) {
	for name, content := range map[string]string{
		"package.json": `{"a": `, "deep.json": strings.Repeat("[", 1e5), "Cargo.toml": "a = [", "ci.yml": "a: [", "x.yaml": "\t- a",
	} {
		doc, err := manifest.Parse(name, []byte(content))
		if err == nil || doc.Exists() {
			t.Errorf("Parse of a broken %s returned error %v, want one and no document", name, err)
		}
	}
}

func TestYAML(t *testing.T) {
	root := parse(t, "ci.yml", "jobs:\n  b: &b\n    run: [x, y]\n  a: *b\n  c: ~\n").YAML()
	var got []string
	for key, job := range manifest.YAMLPairs(manifest.YAMLAt(root, "jobs")) {
		for _, item := range manifest.YAMLItems(manifest.YAMLAt(job, "run")) {
			got = append(got, key.Value+"="+manifest.YAMLText(item))
		}
	}
	if diff := cmp.Diff([]string{"b=x", "b=y", "a=x", "a=y"}, got); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	if node := manifest.YAMLAt(root, "jobs", "none"); node != nil || manifest.YAMLText(node) != "" {
		t.Errorf("a key that is not there has the value %v", node)
	}
}

func TestParseINI(t *testing.T) {
	file := manifest.ParseINI([]byte("; why\n[tox]\nenvlist = a,\n  b\n# c\n[ options ]\nname: x\nnonsense\n  y\n"))
	if got := file["tox"]["envlist"]; got.Text != "a,\nb" || got.Line != 3 {
		t.Errorf("envlist is %+v, want both lines, from line 3", got)
	}
	if got := file["options"]["name"].Text; got != "x" {
		t.Errorf("name is %q, want x", got)
	}
	if got := file["options"][""].Line; got != 6 {
		t.Errorf("options begins in line %d, want 6", got)
	}
}

func TestCargo(t *testing.T) {
	file := manifest.Cargo{Document: parse(t, "Cargo.toml", `
[package]
name = "a"
autobins = false
[lib]
path = "lib.rs"
[[bin]]
name = "x"
path = "x.rs"
[[bin]]
name = "y"
[dependencies]
b = { path = "../b", package = "real-b" }
c = "1"
d.workspace = true
[target.'cfg(unix)'.dev-dependencies]
e = "1"
[workspace]
members = ["crates/*"]
exclude = ["crates/old"]
[workspace.dependencies]
d = "1"
`)}
	if path, name := file.Library(); path != "lib.rs" || name != "" {
		t.Errorf("the library is %s named %q, want lib.rs without a name", path, name)
	}
	if !file.Is2015() || !file.IsWorkspace() || file.FindsTargets("bins") || !file.FindsTargets("tests") || file.Name() != "a" {
		t.Error("the package is not read as one of 2015 with a workspace, its own list of programs and tests that are found")
	}
	if diff := cmp.Diff([]manifest.CargoTarget{{Name: "x", Path: "x.rs"}, {Name: "y"}}, file.Targets("bin")); diff != "" {
		t.Errorf("programs (-want +got):\n%s", diff)
	}
	want := map[string]manifest.CargoDependency{"b": {Path: "../b", Package: "real-b"}, "c": {}, "d": {Inherited: true}, "e": {}}
	if diff := cmp.Diff(want, file.Dependencies()); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	if deps := file.WorkspaceDependencies(); len(deps) != 1 {
		t.Errorf("the workspace has the dependencies %v, want d", deps)
	}
	members, excluded := file.Members()
	if strings.Join(append(members, excluded...), " ") != "crates/* crates/old" {
		t.Errorf("the workspace has %v without %v, want crates/* without crates/old", members, excluded)
	}
}

func TestGoModule(t *testing.T) {
	const replaced = "replace (\n\ta.b/c => ../c\n\ta.b/d v1 => x.y/d v2\n)\n"
	for _, test := range []struct {
		name, content string
		want          manifest.GoModule
	}{
		{"all", "// why\nmodule \"a.b/m\"\n\ngo 1.24\n" + replaced, manifest.GoModule{
			Path: "a.b/m", Line: 2, Go: "1.24", GoLine: 4, Replace: []manifest.GoReplace{{Old: "a.b/c", Dir: "../c"}, {Old: "a.b/d"}},
		}},
		{"a version that is none", "module m\nrequire a.b/c latest\n", manifest.GoModule{Path: "m", Line: 1}},
		{"a directive of another version of Go", "module m\nnonsense x\n" + replaced, manifest.GoModule{Path: "m", Line: 1}},
		{"empty", "", manifest.GoModule{}},
	} {
		mod, err := manifest.ParseGoModule([]byte(test.content))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, *mod); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if mod, err := manifest.ParseGoModule([]byte("module (\n")); err == nil {
		t.Errorf("a broken go.mod is read as %+v", mod)
	}
}

func TestGoWorkspace(t *testing.T) {
	work, err := manifest.ParseGoWorkspace([]byte("go 1.24\nuse ./a // why\nuse (\n\t.\n\t../b\n)\nreplace x => ./x\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := manifest.GoWorkspace{Use: []string{"./a", ".", "../b"}, Replace: []manifest.GoReplace{{Old: "x", Dir: "./x"}}}
	if diff := cmp.Diff(want, *work); diff != "" {
		t.Errorf("go.work (-want +got):\n%s", diff)
	}
	if work, err := manifest.ParseGoWorkspace([]byte("use (\n")); err == nil {
		t.Errorf("a broken go.work is read as %+v", work)
	}
}

func TestWorkspaces(t *testing.T) {
	for _, test := range []struct{ name, content, want string }{
		{"package.json", `{"workspaces": ["a/*", "!a/b"]}`, "a/* !a/b"},
		{"package.json", `{"workspaces": {"packages": ["a/*"]}}`, "a/*"},
		{"package.json", `{"name": "a"}`, ""},
		{"pnpm-workspace.yaml", "packages:\n  - 'a/*'\n  - b\n", "a/* b"},
		{"lerna.json", `{"packages": ["a"]}`, "a"},
		{"other.json", `{"packages": ["a"]}`, ""},
	} {
		if got := strings.Join(manifest.Workspaces(test.name, parse(t, test.name, test.content)), " "); got != test.want {
			t.Errorf("the globs of %s %s are %q, want %q", test.name, test.content, got, test.want)
		}
	}
}

func TestNodeDependencies(t *testing.T) {
	file := manifest.NodePackage{Document: parse(t, "package.json", `{"dependencies": {"a": "2"}, "peerDependencies": {"a": "1", "b": "workspace:*"}, "devDependencies": {"c": 5}}`)}
	if diff := cmp.Diff(map[string]string{"a": "2", "b": "workspace:*"}, file.Dependencies()); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
}

func TestPythonRoots(t *testing.T) {
	for _, test := range []struct {
		name, content, want string
		isProject           bool
	}{
		{
			"pyproject.toml",
			"[tool.setuptools.package-dir]\n'' = 'src'\n[tool.pytest.ini_options]\npythonpath = ['.', 'lib']\n[tool.poetry]\npackages = [{include = 'a', from = 'py'}]\n",
			"src . lib py", true,
		},
		{"pyproject.toml", "broken = [", "", true},
		{"setup.cfg", "[metadata]\nname = a\n[options]\npackage_dir =\n    =src\n[options.packages.find]\nwhere = lib\n", "src lib", true},
		{"setup.cfg", "[tool:pytest]\npythonpath = a b\n", "a b", false},
		{"tox.ini", "[pytest]\npythonpath =\n  a\n  b\n", "a b", false},
	} {
		roots, isProject := manifest.PythonRoots(test.name, []byte(test.content))
		if got := strings.TrimSpace(strings.Join(roots, " ")); got != test.want || isProject != test.isProject {
			t.Errorf("%s %q names %q (a project: %v), want %q (%v)", test.name, test.content, got, isProject, test.want, test.isProject)
		}
	}
}

// No content makes a parser panic.
func FuzzManifest(f *testing.F) {
	for _, seed := range []string{"module m\nreplace a => ./b\n", "use ./a\n", "[package]\nname = 'a'\n[workspace]\n", `{"workspaces": ["*"]}`, "packages: &a [*a]\n", "[options]\npackage_dir = =src\n", "<<<<<<< a\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, content string) {
		for _, name := range []string{"Cargo.toml", "package.json", "pnpm-workspace.yaml", "lerna.json"} {
			doc, err := manifest.Parse(name, []byte(content))
			if err != nil {
				continue
			}
			manifest.Workspaces(name, doc)
			manifest.NodePackage{Document: doc}.Dependencies()
			cargo := manifest.Cargo{Document: doc}
			cargo.Dependencies()
			cargo.WorkspaceDependencies()
			cargo.Targets("bin")
		}
		for _, name := range []string{"pyproject.toml", "setup.cfg"} {
			manifest.PythonRoots(name, []byte(content))
		}
		if _, err := manifest.ParseGoModule([]byte(content)); err == nil {
			_, _ = manifest.ParseGoWorkspace([]byte(content))
		}
	})
}
