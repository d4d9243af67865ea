package uses_test

import "testing"

func TestPythonModules(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "absolute and relative imports in a package",
			archive: `
				-- pkg/__init__.py --
				-- pkg/a.py --
				decl func a
				decl class C
				decl method C.make
				-- pkg/sub/__init__.py --
				-- pkg/sub/b.py --
				import ..a a C
				import . x
				import .. util
				import pkg.util >u
				import pkg.deep.mod >pkg.deep.mod
				call a
				call C.make
				use x
				call util.f
				call u.g
				call pkg.deep.mod.h
				use pkg.deep.mod
				-- pkg/sub/x.py --
				-- pkg/util.py --
				decl func f
				decl func g
				-- pkg/deep/__init__.py --
				-- pkg/deep/mod.py --
				decl func h
			`,
			from: "pkg/sub/b.py",
			want: `
				pkg/a.py#C.make
				pkg/a.py#a
				pkg/deep/mod.py
				pkg/deep/mod.py#h
				pkg/sub/x.py
				pkg/util.py#f
				pkg/util.py#g
			`,
		},
		{
			name: "src layout: tests and package in different roots",
			archive: `
				-- pyproject.toml --
				[project]
				name = "thing"
				-- src/thing/__init__.py --
				-- src/thing/core.py --
				decl func run
				-- tests/test_core.py --
				import thing.core run
				import helpers help
				call run
				call help
				-- tests/helpers.py --
				decl func help
			`,
			from: "tests/test_core.py",
			want: `
				src/thing/core.py#run
				tests/helpers.py#help
			`,
		},
		{
			name: "roots that manifests name",
			archive: `
				-- proj/pyproject.toml --
				[tool.setuptools.package-dir]
				"" = "python"
				[tool.pytest.ini_options]
				pythonpath = ["testlib"]
				-- proj/python/thing/__init__.py --
				decl func t
				-- proj/testlib/kit.py --
				decl func k
				-- old/setup.cfg --
				[options]
				package_dir =
				    = code
				-- old/code/ancient/__init__.py --
				decl func o
				-- proj/tests/test_t.py --
				import thing t
				import kit k
				import ancient o
				use t
				use k
				use o
			`,
			from: "proj/tests/test_t.py",
			want: `
				old/code/ancient/__init__.py#o
				proj/python/thing/__init__.py#t
				proj/testlib/kit.py#k
			`,
		},
		{
			name: "a package without __init__.py, and scripts",
			archive: `
				-- tools/gen/make.py --
				import tools.lib.text wrap
				import sibling s
				use wrap
				use s
				-- tools/gen/sibling.py --
				decl func s
				-- tools/lib/text.py --
				decl func wrap
			`,
			from: "tools/gen/make.py",
			want: `
				tools/gen/sibling.py#s
				tools/lib/text.py#wrap
			`,
		},
		{
			name: "a nested source root is found from inside, and only likely from elsewhere",
			archive: `
				-- services/api/app/__init__.py --
				-- services/api/app/models.py --
				decl class User
				-- services/api/app/main.py --
				import app.models User
				use User
				-- jobs/nightly/run.py --
				import app.models User
				use User
			`,
			from: "jobs/nightly/run.py",
			want: `likely services/api/app/models.py#User`,
		},
		{
			name: "the standard library and packages from outside hide local namesakes",
			archive: `
				-- pkg/__init__.py --
				-- pkg/json.py --
				decl func dumps
				-- pkg/redis.py --
				decl class Redis
				-- pkg/types.py --
				decl class Kind
				-- pkg/main.py --
				import json dumps
				import json >json
				import redis Redis
				import types >types
				import .types Kind
				call dumps
				call json.dumps
				use Redis
				use types.Kind
				use Kind
			`,
			from: "pkg/main.py",
			want: `pkg/types.py#Kind`,
		},
		{
			name: "a script beside a file with the name of a standard module",
			archive: `
				-- scripts/json.py --
				decl func dumps
				-- scripts/main.py --
				import json dumps
				call dumps
			`,
			from: "scripts/main.py",
		},
		{
			name: "test data with the name of a package from outside",
			archive: `
				-- tests/data/yaml/__init__.py --
				decl func load
				-- app/__init__.py --
				-- app/main.py --
				import yaml load
				call load
			`,
			from: "app/main.py",
		},
		{
			name: "two roots with one module are ambiguous",
			archive: `
				-- lib/common/__init__.py --
				decl func c
				-- lib/pyproject.toml --
				-- other/common/__init__.py --
				decl func c
				-- other/pyproject.toml --
				-- app/main.py --
				import common c
				use c
			`,
			from: "app/main.py",
			want: `ambiguous 1`,
		},
		{
			name: "a relative import that leaves the repository",
			archive: `
				-- a.py --
				import ....far x
				import . y
				use x
				use y
				-- y.py --
			`,
			from: "a.py",
			want: `y.py`,
		},
		{
			name: "broken manifests",
			archive: `
				-- pyproject.toml --
				[tool
				-- setup.cfg --
				package_dir = =
				[[[
				-- src/p/__init__.py --
				decl func f
				-- tests/t.py --
				import p f
				use f
			`,
			from: "tests/t.py",
			want: `src/p/__init__.py#f`,
		},
	})
}

// Text that names a module, such as celery.app.base:Celery, is a likely use of it.
func TestPythonModulesInText(t *testing.T) {
	const archive = `
		-- app.py --
		-- setup.py --
		-- pkg/__init__.py --
		-- pkg/base.py --
		-- pkg/sub/__init__.py --
		-- pkg/sub/tasks.py --
		-- other.py --
		import text:pkg.base
		import text:pkg.sub.tasks.run
		import text:app:create
		import text:setup.py
		import text:os.path
		import text:pkg.missing.x
		import text:nowhere.at
	`
	runCases(t, []resolveCase{{
		name:    "modules in text",
		archive: archive,
		from:    "other.py",
		want: `
			likely app.py
			likely pkg/base.py
			likely pkg/sub/tasks.py
		`,
	}})
}

func TestPythonNestedRootFromInside(t *testing.T) {
	runCases(t, []resolveCase{{
		name: "the root of the own package is certain",
		archive: `
			-- services/api/app/__init__.py --
			-- services/api/app/models.py --
			decl class User
			-- services/api/app/main.py --
			import app.models User
			use User
			-- services/api/tests/conftest.py --
			import app.models User
			use User
			-- other/app/__init__.py --
			-- other/app/models.py --
			decl class User
		`,
		from: "services/api/app/main.py",
		want: `services/api/app/models.py#User`,
	}, {
		name: "and from the tests beside it",
		archive: `
			-- services/api/app/__init__.py --
			-- services/api/app/models.py --
			decl class User
			-- services/api/tests/conftest.py --
			import app.models User
			use User
			-- other/app/__init__.py --
			-- other/app/models.py --
			decl class User
		`,
		from: "services/api/tests/conftest.py",
		want: `services/api/app/models.py#User`,
	}})
}

func TestPythonReexports(t *testing.T) {
	const pkg = `
		-- pkg/__init__.py --
		import .a A a>renamed
		import .b *
		import .c >c
		import os path
		decl const VERSION
		-- pkg/a.py --
		decl class A
		decl method A.run
		decl func a
		-- pkg/b.py --
		decl const __all__
		decl func b
		decl func _b
		-- pkg/c.py --
		decl func c
		-- pkg/d.py --
		decl func d
	`
	runCases(t, []resolveCase{
		{
			name: "names of __init__.py, and submodules",
			archive: pkg + `
				-- main.py --
				import pkg A renamed b VERSION d path
				call A.run
				use renamed
				use b
				use VERSION
				call d.d
				use path
			`,
			from: "main.py",
			want: `
				pkg/__init__.py
				pkg/__init__.py#VERSION
				pkg/a.py#A.run via pkg/__init__.py
				pkg/a.py#a via pkg/__init__.py
				pkg/b.py#b via pkg/__init__.py
				pkg/d.py#d
			`,
		},
		{
			name: "through the package as a whole",
			archive: pkg + `
				-- main.py --
				import pkg >pkg
				import pkg.d >pkg.d
				use pkg.A
				use pkg.d.d
			`,
			from: "main.py",
			want: `
				pkg/__init__.py
				pkg/a.py#A via pkg/__init__.py
				pkg/d.py#d
			`,
		},
		{
			name: "all names of modules",
			archive: pkg + `
				-- main.py --
				import pkg.a *
				import pkg.b *
				use A
				use b
				use _b
				use print
			`,
			from: "main.py",
			want: `
				pkg/a.py
				pkg/a.py#A
				pkg/b.py
				pkg/b.py#_b
				pkg/b.py#b
			`,
		},
		{
			name: "all names of a module from outside make the others likely",
			archive: pkg + `
				-- main.py --
				import pkg.a *
				import tkinter *
				use a
			`,
			from: "main.py",
			want: `
				pkg/a.py
				likely pkg/a.py#a
			`,
		},
		{
			name: "packages that import each other",
			archive: `
				-- a/__init__.py --
				import b x
				import b *
				-- b/__init__.py --
				import a x
				import a *
				-- main.py --
				import a x y
				use x
				use y
			`,
			from: "main.py",
			want: `
				a/__init__.py
			`,
		},
		{
			name: "an import with a fallback has both edges, one outside has none",
			archive: `
				-- p/__init__.py --
				-- p/fast.py --
				decl func f
				-- p/slow.py --
				decl func f
				-- p/main.py --
				import .fast f
				import .slow f
				import ujson loads
				import .slow loads
				use f
				call f.attribute
				use loads
			`,
			from: "p/main.py",
			want: `
				p/fast.py#f
				p/slow.py
				p/slow.py#f
			`,
		},
	})
}

func TestPythonMembers(t *testing.T) {
	runCases(t, []resolveCase{{
		name: "inherited and unknown members",
		archive: `
			-- base.py --
			decl class Base
			decl method Base.prepare_all
			decl method Base.get
			-- main.py --
			import base Base
			decl class Own
			use Base
			call Own.prepare_all
			call .get
			call .elsewhere
			call unknown.prepare_all
		`,
		from: "main.py",
		want: `
			base.py#Base
			likely base.py#Base.prepare_all
			ambiguous 1
		`,
	}})
}
