package project_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"ken/internal/project"
	"ken/internal/repo"
)

// open returns the project of the files in an archive. A file in it ends with a line end, so an empty one
// has none.
func open(t testing.TB, archive string) *project.Project {
	t.Helper()
	contents := make(map[repo.Path][]byte)
	var files []repo.Path
	for _, f := range txtar.Parse([]byte(archive)).Files {
		files = append(files, repo.Path(f.Name))
		contents[repo.Path(f.Name)] = f.Data
	}
	p, err := project.New(files, func(file repo.Path) ([]byte, error) {
		data, ok := contents[file]
		if !ok {
			return nil, fmt.Errorf("read of %s, which is not tracked: %w", file, fs.ErrNotExist)
		}
		return data, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// show writes commands as one line each: purpose, command, source.
func show(c project.Commands) string {
	var b strings.Builder
	for _, list := range []struct {
		name     string
		commands []project.Command
	}{{"build", c.Build}, {"test", c.Test}, {"lint", c.Lint}, {"run", c.Run}} {
		for _, cmd := range list.commands {
			fmt.Fprintf(&b, "%s: %s (%s)\n", list.name, cmd.Run, place(cmd.Source, cmd.Line))
		}
	}
	return b.String()
}

func place(source repo.Path, line int) string {
	if line == 0 {
		return string(source)
	}
	return fmt.Sprintf("%s:%d", source, line)
}

func TestCommandsFor(t *testing.T) {
	for _, c := range []struct {
		name  string
		path  repo.Path
		files string
		want  string
	}{
		{
			name: "nothing says it", path: "a.py",
			files: "-- a.py --\n-- README.md --\nrun make test\n",
		},
		{
			name: "Makefile before the module's own way", path: "a.go",
			files: `
-- Makefile --
.PHONY: build test spec
VERSION := 1
all: build
build: gen
	go build
test:
	go test
check: test
lint vet:
	x
spec:
	x
test-%:
	x
install:
	x
-- go.mod --
module m
-- a.go --
package m
`,
			want: `
build: make build (Makefile:4)
build: go build ./... (go.mod:1)
test: make test (Makefile:6)
test: make check (Makefile:8)
test: go test ./... (go.mod:1)
lint: make lint (Makefile:9)
lint: make vet (Makefile:9)
`,
		},
		{
			name: "the default goal of a Makefile builds", path: "src/a.c",
			files: `
-- src/Makefile --
CC ?= cc
all: prog
prog: a.o
	$(CC) -o $@ a.o
check: prog
	./prog
-- src/a.c --
`,
			want: `
build: make -C src (src/Makefile:2)
test: make -C src check (src/Makefile:5)
`,
		},
		{
			name: "Makefiles that include each other", path: "",
			files: `
-- Makefile --
include mk/test.mk
-include $(TOP)/x.mk
build:
	x
-- mk/test.mk --
include Makefile
test:
	x
define text
lint:
endef
`,
			want: `
build: make build (Makefile:3)
test: make test (mk/test.mk:2)
`,
		},
		{
			name: "what CI runs comes first", path: "",
			files: `
-- Makefile --
test:
	x
-- go.mod --
module m
-- .github/workflows/ci.yml --
on: push
env:
  GO: go
jobs:
  a:
    steps:
      - uses: actions/checkout
      - run: ${{ env.GO }} test -race ./...
      - name: lint
        run: |
          go vet ./...
          golangci-lint run --timeout 5m
      - run: go test ./... | tee log
      - run: ${{ matrix.tool }} build
`,
			want: `
build: go build ./... (go.mod:1)
test: go test ./... (go.mod:1)
test: make test (Makefile:1)
lint: go vet ./... (.github/workflows/ci.yml:11)
lint: golangci-lint run --timeout 5m (.github/workflows/ci.yml:12)
`,
		},
		{
			name: "CI runs a task of another directory", path: "",
			files: `
-- .github/workflows/ci.yml --
jobs:
  a:
    steps:
      - run: make -C sub test-image
      - run: cd sub && go test ./...
-- .github/workflows/release.yml --
jobs:
  a:
    steps:
      - run: go build ./cmd/x
-- sub/a.go --
package a
`,
			want: "",
		},
		{
			name: "too many programs to name some", path: "",
			files: `
-- Makefile --
test:
-- go.mod --
module m
-- cmd/a/main.go --
package main
-- cmd/b/main.go --
package main
-- cmd/c/main.go --
package main
-- cmd/d/main.go --
package main
-- cmd/e/main.go --
package main
-- cmd/f/main.go --
package main
`,
			want: `
build: go build ./... (go.mod:1)
test: make test (Makefile:1)
test: go test ./... (go.mod:1)
`,
		},
		{
			name: "only CI says it", path: "x/y.c",
			files: `
-- .gitlab-ci.yml --
image: gcc
.template:
  script: [make hidden]
test:
  script:
    - make -j4
    - make check
-- x/y.c --
`,
			want: `
build: make -j4 (.gitlab-ci.yml:6)
test: make check (.gitlab-ci.yml:7)
`,
		},
		{
			name: "CI in a directory", path: "web/a.js",
			files: `
-- .github/workflows/test.yaml --
jobs:
  web:
    defaults: {run: {working-directory: web}}
    steps: [{run: npx vitest run}]
  out:
    steps: [{run: npx jest, working-directory: ../elsewhere}]
-- web/a.js --
`,
			want: "test: (cd web && npx vitest run) (.github/workflows/test.yaml:4)\n",
		},
		{
			name: "scripts of npm", path: "src/a.ts",
			files: `
-- package.json --
{
  "scripts": {
    "test": "vitest",
    "test:unit": "vitest unit",
    "test:watch": "vitest -w",
    "build": "tsc",
    "dev": "vite",
    "lint:fix": "eslint --fix",
    "lint": "eslint",
    "format": "prettier --check .",
    "typecheck": "tsc --noEmit"
  }
}
-- src/a.ts --
`,
			want: `
build: npm run build (package.json:6)
test: npm test (package.json:3)
test: npm run test:unit (package.json:4)
lint: npm run lint (package.json:9)
lint: npm run typecheck (package.json:11)
lint: npm run format (package.json:10)
run: npm run dev (package.json:7)
`,
		},
		{
			name: "npm's placeholder is no test", path: "",
			files: "-- package.json --\n" + `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}` + "\n",
		},
		{
			name: "workspaces of pnpm", path: "packages/ui/src/a.ts",
			files: `
-- package.json --
{"scripts": {"lint": "eslint ."}}
-- pnpm-workspace.yaml --
packages:
  - packages/*
-- packages/ui/package.json --
{"name": "@x/ui", "scripts": {"test": "vitest", "build": "tsc"}}
-- packages/ui/src/a.ts --
`,
			want: `
build: pnpm --filter @x/ui run build (packages/ui/package.json:1)
test: pnpm --filter @x/ui test (packages/ui/package.json:1)
lint: pnpm run lint (package.json:1)
`,
		},
		{
			name: "workspaces of npm and yarn", path: "packages/ui",
			files: `
-- package.json --
{"workspaces": {"packages": ["packages/*"]}, "packageManager": "yarn@4.1.0"}
-- packages/ui/package.json --
{"name": "ui", "scripts": {"test": "vitest"}}
`,
			want: "test: yarn workspace ui test (packages/ui/package.json:1)\n",
		},
		{
			name: "a member of npm's workspace", path: "a",
			files: `
-- package.json --
{"workspaces": ["a"]}
-- package-lock.json --
-- a/package.json --
{"name": "a", "scripts": {"test": "x", "build": "y"}}
`,
			want: `
build: npm run build -w a (a/package.json:1)
test: npm test -w a (a/package.json:1)
`,
		},
		{
			name: "a package outside of the workspace", path: "site",
			files: `
-- package.json --
{"workspaces": ["packages/*"]}
-- bun.lock --
-- site/package.json --
{"name": "site", "scripts": {"test": "x"}}
`,
			want: "test: (cd site && bun run test) (site/package.json:1)\n",
		},
		{
			name: "a Go module in a subdirectory", path: "tools/x/main.go",
			files: `
-- go.mod --
module m
-- tools/go.mod --
module m/tools
-- tools/x/main.go --
package main
`,
			want: `
build: go -C tools build ./... (tools/go.mod:1)
test: go -C tools test ./... (tools/go.mod:1)
`,
		},
		{
			name: "a Go workspace", path: "",
			files: `
-- Makefile --
test:
	x
test-unit:
	x
-- go.work --
go 1.24
use (
	.
	./server
)
-- go.mod --
module m
-- server/go.mod --
module m/server
-- server/main.go --
package main
`,
			want: `
build: go build ./... (go.mod:1)
test: make test (Makefile:1)
test: make test-unit (Makefile:3)
test: go test ./... (go.mod:1)
run: go run ./server (server/main.go:1)
`,
		},
		{
			name: "programs of Go", path: "",
			files: `
-- go.mod --
module m
-- cmd/tool/tool.go --
// Command tool.
package main
-- cmd/lib/lib.go --
package lib
-- hack/main.go --
package main
-- gen.go --
package m
`,
			want: `
build: go build ./... (go.mod:1)
test: go test ./... (go.mod:1)
run: go run ./cmd/tool (cmd/tool/tool.go:2)
`,
		},
		{
			name: "a Cargo workspace with a package at its root", path: "",
			files: `
-- Cargo.toml --
[package]
name = "rg"
[workspace]
members = ["crates/*"]
-- src/main.rs --
-- crates/cli/Cargo.toml --
[package]
name = "grep-cli"
`,
			want: `
build: cargo build --workspace (Cargo.toml:1)
test: cargo test --workspace (Cargo.toml:1)
run: cargo run -p rg (Cargo.toml:1)
`,
		},
		{
			name: "a member and an outsider of a Cargo workspace", path: "crates/cli/src/lib.rs",
			files: `
-- Cargo.toml --
[workspace]
members = ["crates/*"]
-- crates/cli/Cargo.toml --
[package]
name = "grep-cli"
-- crates/cli/src/lib.rs --
`,
			want: `
build: cargo build -p grep-cli (crates/cli/Cargo.toml:1)
test: cargo test -p grep-cli (crates/cli/Cargo.toml:1)
`,
		},
		{
			name: "a crate of its own", path: "fuzz/a.rs",
			files: `
-- Cargo.toml --
[workspace]
members = ["crates/*"]
exclude = ["fuzz"]
-- fuzz/Cargo.toml --
[package]
name = "fuzz"
[workspace]
-- fuzz/a.rs --
`,
			want: `
build: cargo build --manifest-path fuzz/Cargo.toml (fuzz/Cargo.toml:1)
test: cargo test --manifest-path fuzz/Cargo.toml (fuzz/Cargo.toml:1)
`,
		},
		{
			name: "uv, pytest and tox", path: "src/a.py",
			files: `
-- uv.lock --
-- pyproject.toml --
[project.scripts]
tool = "pkg.cli:main"

[dependency-groups]
dev = ["tox>=4", "ruff"]

[build-system]
build-backend = "flit_core.buildapi"

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.ruff]
fix = true

[tool.tox.env_run_base]
commands = [["pytest"]]

[tool.tox.env.style]
commands = [["pre-commit"]]
-- .github/workflows/tests.yml --
jobs:
  t:
    steps:
      - run: uv run --locked --group dev tox run
-- src/a.py --
`,
			want: `
build: uv build (pyproject.toml:7)
test: uv run pytest (pyproject.toml:10)
test: uv run tox (pyproject.toml:16)
lint: uv run ruff check (pyproject.toml:13)
lint: uv run tox -e style (pyproject.toml:19)
run: uv run tool (pyproject.toml:2)
`,
		},
		{
			name: "tox.ini and setup.cfg", path: "pkg/a.py",
			files: `
-- setup.cfg --
[flake8]
max-line-length = 100
-- tox.ini --
[tox]
envlist = py3, lint
[testenv]
deps = pytest
commands =
    pytest {posargs}
[testenv:mypy]
commands = mypy pkg
-- pkg/a.py --
`,
			want: `
test: tox (tox.ini:3)
lint: flake8 (setup.cfg:1)
lint: tox -e mypy (tox.ini:7)
`,
		},
		{
			name: "nox, poetry and hatch", path: "a.py",
			files: `
-- poetry.lock --
-- noxfile.py --
import nox

@nox.session(python=["3.12"])
def tests(session):
    session.run("pytest")

@nox.session
def docs(session):
    pass
-- pyproject.toml --
[tool.hatch.envs.default.scripts]
test = "pytest {args}"
-- a.py --
`,
			want: `
test: hatch run test (pyproject.toml:2)
test: nox -s tests (noxfile.py:4)
`,
		},
		{
			name: "Gradle", path: "core/src/main/java/A.java",
			files: `
-- gradlew --
-- settings.gradle.kts --
include("core", ":tools:gen")
-- build.gradle.kts --
-- core/build.gradle.kts --
plugins { application }
-- core/src/main/java/A.java --
`,
			want: `
build: ./gradlew :core:build (core/build.gradle.kts)
test: ./gradlew :core:test (core/build.gradle.kts)
test: ./gradlew :core:check (core/build.gradle.kts)
run: ./gradlew :core:run (core/build.gradle.kts)
`,
		},
		{
			name: "Maven", path: "core/src/main/java/A.java",
			files: `
-- pom.xml --
<project><modules><module>core</module></modules></project>
-- core/pom.xml --
<project/>
-- core/src/main/java/A.java --
`,
			want: `
build: mvn -pl core package (core/pom.xml)
test: mvn -pl core test (core/pom.xml)
test: mvn -pl core verify (core/pom.xml)
`,
		},
		{
			name: "CMake", path: "src/a.cc",
			files: `
-- CMakeLists.txt --
cmake_minimum_required(VERSION 3.20)
project(x)
enable_testing()
-- src/CMakeLists.txt --
add_library(x a.cc)
-- src/a.cc --
`,
			want: `
build: cmake -B build && cmake --build build (CMakeLists.txt:2)
test: ctest --test-dir build --no-tests=error (CMakeLists.txt:3)
`,
		},
		{
			name: "autotools", path: "",
			files: `
-- configure.ac --
-- autogen.sh --
-- Makefile.am --
SUBDIRS = tests
-- tests/Makefile.am --
TESTS = a
`,
			want: `
build: ./autogen.sh && ./configure && make (configure.ac)
test: make check (Makefile.am)
`,
		},
		{
			name: "Ruby", path: "lib/a.rb",
			files: `
-- Gemfile --
-- .rspec --
-- .rubocop.yml --
-- x.gemspec --
-- Rakefile --
require "rspec/core/rake_task"
RSpec::Core::RakeTask.new(:spec)
task default: :spec
-- lib/a.rb --
`,
			want: `
build: gem build x.gemspec (x.gemspec)
test: bundle exec rake spec (Rakefile:2)
test: bundle exec rspec (.rspec)
lint: bundle exec rubocop (.rubocop.yml)
`,
		},
		{
			name: "PHP", path: "src/A.php",
			files: `
-- composer.json --
{"scripts": {"test": "phpunit", "post-install-cmd": "x", "phpstan": "y"}}
-- phpunit.xml.dist --
-- src/A.php --
`,
			want: `
test: composer test (composer.json:1)
test: vendor/bin/phpunit (phpunit.xml.dist)
lint: composer phpstan (composer.json:1)
`,
		},
		{
			name: "dotnet", path: "src/A/A.cs",
			files: `
-- All.sln --
-- src/A/A.csproj --
<Project Sdk="Microsoft.NET.Sdk.Web"></Project>
-- src/A/A.cs --
`,
			want: `
build: dotnet build src/A/A.csproj (src/A/A.csproj)
test: dotnet test All.sln (All.sln)
run: dotnet run --project src/A/A.csproj (src/A/A.csproj)
`,
		},
		{
			name: "justfile and Taskfile", path: "",
			files: `
-- justfile --
set shell := ["bash", "-c"]
test *args:
    x
build target:
    x
lint: test
-- Taskfile.yml --
version: 3
tasks:
  build:
    cmds: [x]
  dev: {internal: true}
`,
			want: `
build: task build (Taskfile.yml:3)
test: just test (justfile:2)
lint: just lint (justfile:6)
`,
		},
		{
			name: "scripts by their name", path: "lib/a.rb",
			files: `
-- Gemfile --
-- script/test --
#!/usr/bin/env bash
-- scripts/run-tests.sh --
echo no program named
-- scripts/lint.sh --
#!/bin/sh -e
-- build.sh --
-- lib/a.rb --
`,
			want: `
test: bash script/test (script/test:1)
lint: sh scripts/lint.sh (scripts/lint.sh:1)
`,
		},
		{
			name: "the file's own language first", path: "tool.py",
			files: `
-- package.json --
{"scripts": {"test": "vitest"}}
-- pytest.ini --
-- tool.py --
`,
			want: "test: pytest (pytest.ini)\n",
		},
		{
			name: "no manifest at the root", path: "",
			files: `
-- api/go.mod --
module api
-- web/package.json --
{"scripts": {"test": "vitest"}}
-- testdata/package.json --
{"scripts": {"test": "x"}}
`,
			want: `
build: go -C api build ./... (api/go.mod:1)
test: go -C api test ./... (api/go.mod:1)
test: (cd web && npm test) (web/package.json:1)
`,
		},
		{
			name: "a directory with a space", path: "a b/x.go",
			files: `
-- a b/go.mod --
module m
-- a b/x.go --
package x
`,
			want: `
build: go -C 'a b' build ./... (a b/go.mod:1)
test: go -C 'a b' test ./... (a b/go.mod:1)
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := show(open(t, c.files).CommandsFor(c.path))
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); diff != "" {
				t.Errorf("commands for %q (-want +got):\n%s", c.path, diff)
			}
		})
	}
}

func TestTestCommand(t *testing.T) {
	const node = `
-- package.json --
{
  "scripts": {
    "test": "npm run lint && npm run unit",
    "unit": "vitest --coverage",
    "test:deno": "deno test -c deno/deno.json deno",
    "test:bun": "bun test bun/*",
    "old": "cross-env TZ=UTC mocha -r ts-node/register 'old/**/*.js'"
  },
  "devDependencies": {"vitest": "1"}
}
-- pnpm-lock.yaml --
-- vitest.config.ts --
export default defineConfig({
  test: {
    coverage: { include: ['nothing/**'] },
    include: ['src/**/(*.)+(spec|test).+(ts|tsx)'],
    exclude: [...configDefaults.exclude, '**/*.case.test.*'],
  },
})
-- src/a.test.ts --
-- src/b.case.test.ts --
-- deno/deno.json --
{}
-- deno/a.test.ts --
-- bun/a.test.ts --
-- old/deep/a.js --
-- old/a.test.js --
-- lost.test.ts --
`
	const rust = `
-- Cargo.toml --
[package]
name = "rg"
autotests = false
[[bin]]
name = "rg"
path = "core/main.rs"
[[test]]
name = "integration"
path = "tests/tests.rs"
[workspace]
members = ["crates/*"]
-- core/main.rs --
mod flags;
-- core/flags/mod.rs --
pub(crate) mod parse;
-- core/flags/parse.rs --
#[cfg(test)]
mod tests {}
-- core/flags/doc.rs --
-- tests/tests.rs --
mod feature;
mod hay;
-- tests/feature.rs --
rgtest!(a, |d| {});
-- tests/hay.rs --
const X: u8 = 1;
-- tests/stray.rs --
#[test]
fn a() {}
-- crates/cli/Cargo.toml --
[package]
name = "grep-cli"
-- crates/cli/src/lib.rs --
mod a;
#[test]
fn a() {}
-- crates/cli/src/unused.rs --
#[test]
fn a() {}
-- crates/cli/src/a/mod.rs --
#[tokio::test]
async fn a() {}
-- crates/cli/tests/it.rs --
#[test]
fn a() {}
-- crates/cli/tests/common/mod.rs --
fn helper() {}
`
	const python = `
-- pyproject.toml --
[tool.poetry.dev-dependencies]
pytest = "^8"
[tool.pytest.ini_options]
testpaths = ["tests"]
-- tests/test_a.py --
-- tests/conftest.py --
-- extra/test_b.py --
-- sub/pyproject.toml --
[project]
dependencies = ["pytest>=8"]
-- sub/tests/a_test.py --
`
	for _, c := range []struct {
		name  string
		test  repo.Path
		files string
		want  string // command (source); note
	}{
		{"a Go package", "a/b/x_test.go", "-- go.mod --\nmodule m\n-- a/b/x_test.go --\npackage b\n", "go test ./a/b (go.mod:1)"},
		{"the root package", "x_test.go", "-- go.mod --\nmodule m\n-- x_test.go --\npackage b\n", "go test . (go.mod:1)"},
		{"a module below", "sub/b/x_test.go", "-- go.mod --\nmodule m\n-- sub/go.mod --\nmodule s\n-- sub/b/x_test.go --\npackage b\n", "go -C sub test ./b (sub/go.mod:1)"},
		{"a module of a workspace", "sub/b/x_test.go", "-- go.work --\nuse ./sub\n-- sub/go.mod --\nmodule s\n-- sub/b/x_test.go --\npackage b\n", "go test ./sub/b (sub/go.mod:1)"},
		{"a build tag", "x_test.go", "-- go.mod --\nmodule m\n-- x_test.go --\n// Copyright\n\n//go:build e2e && !race\n\npackage b\n", "go test -tags e2e . (go.mod:1); go test without -tags e2e does not run this file"},
		{"another system by the name", "x_windows_test.go", "-- go.mod --\nmodule m\n-- x_windows_test.go --\npackage b\n", "go test . (go.mod:1); the file is only built for windows"},
		{"a word in the name", "js_x_test.go", "-- go.mod --\nmodule m\n-- js_x_test.go --\npackage b\n", "go test . (go.mod:1)"},
		{"another system", "x_test.go", "-- go.mod --\nmodule m\n-- x_test.go --\n//go:build windows\n\npackage b\n", "go test . (go.mod:1); the file is only built for windows"},
		{"no module", "x_test.go", "-- x_test.go --\npackage b\n", "unknown: no go.mod above it"},
		{"no test", "x.go", "-- go.mod --\nmodule m\n-- x.go --\npackage b\n", "unknown: the file is not a test"},
		{"not tracked", "y_test.go", "-- go.mod --\nmodule m\n", "unknown: the file is not tracked"},

		{"vitest through two scripts", "src/a.test.ts", node, "pnpm exec vitest run src/a.test.ts (package.json:4)"},
		{"a file that the configuration excludes", "src/b.case.test.ts", node, "unknown: vitest.config.ts does not include this file"},
		{"a script that names the directory", "deno/a.test.ts", node, "deno test -c deno/deno.json deno/a.test.ts (package.json:5); pnpm test does not run this file, pnpm run test:deno does"},
		{"a script with a glob", "bun/a.test.ts", node, "bun test ./bun/a.test.ts (package.json:6); pnpm test does not run this file, pnpm run test:bun does"},
		{"flags and variables of the script stay", "old/a.test.js", node, "TZ=UTC pnpm exec mocha -r ts-node/register old/a.test.js (package.json:7); pnpm test does not run this file, pnpm run old does"},
		{"a file that nothing runs", "lost.test.ts", node, "unknown: vitest.config.ts does not include this file"},
		{
			"the script lists other files", "test/sub/a.test.js",
			"-- package.json --\n{\"scripts\": {\"test\": \"node --import tsx --test test/*.test.js\"}}\n-- test/sub/a.test.js --\n",
			"node --test --import tsx test/sub/a.test.js (package.json:1); npm test runs test/*.test.js only",
		},
		{
			"jest by its dependency", "src/__tests__/a.js",
			"-- package.json --\n{\"scripts\": {\"test\": \"custom\"},\n\"devDependencies\": {\"jest\": \"1\"}}\n-- yarn.lock --\n-- src/__tests__/a.js --\n",
			"yarn jest src/__tests__/a.js (package.json:2); yarn test may not run this file",
		},
		{
			"the runner of the workspace's root", "packages/a/src/x.spec.ts",
			"-- package.json --\n{\"workspaces\": [\"packages/*\"], \"scripts\": {\"test\": \"vitest run\"}}\n-- packages/a/package.json --\n{\"name\": \"a\"}\n-- packages/a/src/x.spec.ts --\n",
			"npx vitest run packages/a/src/x.spec.ts (package.json:1)",
		},
		{
			"a package below", "packages/a/x.test.ts",
			"-- packages/a/package.json --\n{\"name\": \"a\", \"scripts\": {\"test\": \"jest --watch\"}}\n-- packages/a/x.test.ts --\n",
			"(cd packages/a && npx jest x.test.ts) (packages/a/package.json:1)",
		},
		{
			"playwright in its directory", "e2e/a.spec.ts",
			"-- package.json --\n{\"scripts\": {\"test\": \"vitest run\", \"e2e\": \"playwright test\"}}\n-- vitest.config.ts --\nexport default {test: {include: ['src/**/*.test.ts']}}\n-- playwright.config.ts --\nexport default {testDir: './e2e'}\n-- e2e/a.spec.ts --\n",
			"npx playwright test e2e/a.spec.ts (package.json:1); npm test does not run this file, npm run e2e does",
		},
		{
			"a name that jest would take for a pattern", "app/[id].test.js",
			"-- package.json --\n{\"scripts\": {\"test\": \"jest\"}}\n-- app/[id].test.js --\n",
			"npx jest --runTestsByPath 'app/[id].test.js' (package.json:1)",
		},
		{
			"mocha adds the files of its configuration", "test/a.js",
			"-- package.json --\n{\"scripts\": {\"test\": \"mocha\"}}\n-- .mocharc.json --\n{\"spec\": \"test\"}\n-- test/a.js --\n",
			"npx mocha test/a.js (package.json:1); .mocharc.json makes mocha run other files too",
		},
		{"no runner", "a.test.js", "-- package.json --\n{}\n-- a.test.js --\n", "unknown: no package.json says which program runs it"},

		{"a module of an integration test", "tests/feature.rs", rust, "cargo test -p rg --test integration feature:: (Cargo.toml:1)"},
		{"an integration test", "tests/tests.rs", rust, "cargo test -p rg --test integration (Cargo.toml:1)"},
		{"a helper", "tests/hay.rs", rust, "unknown: the file is not a test"},
		{"a file that no target contains", "tests/stray.rs", rust, "unknown: no target of Cargo.toml is known to contain it"},
		{"tests inside of a program", "core/flags/parse.rs", rust, "cargo test -p rg --bin rg flags::parse:: (Cargo.toml:1)"},
		{"a file without tests", "core/flags/doc.rs", rust, "unknown: the file is not a test"},
		{"tests inside of a library", "crates/cli/src/lib.rs", rust, "cargo test -p grep-cli --lib (crates/cli/Cargo.toml:1)"},
		{"a module file", "crates/cli/src/a/mod.rs", rust, "cargo test -p grep-cli --lib a:: (crates/cli/Cargo.toml:1)"},
		{"a file that no module declares", "crates/cli/src/unused.rs", rust, "unknown: no target of crates/cli/Cargo.toml is known to contain it"},
		{"a test target by its place", "crates/cli/tests/it.rs", rust, "cargo test -p grep-cli --test it (crates/cli/Cargo.toml:1)"},

		{"pytest with poetry", "tests/test_a.py", python, "poetry run pytest tests/test_a.py (pyproject.toml:3)"},
		{"outside of testpaths", "extra/test_b.py", python, "poetry run pytest extra/test_b.py (pyproject.toml:3); pytest without arguments runs tests only"},
		{"a Python project below", "sub/tests/a_test.py", python, "(cd sub && pytest tests/a_test.py) (sub/pyproject.toml:2)"},
		{"hatch", "tests/test_a.py", "-- pyproject.toml --\n[tool.pytest.ini_options]\n[tool.hatch.envs.test.scripts]\ntest = \"pytest {args:tests}\"\n-- tests/test_a.py --\n", "hatch run test:test tests/test_a.py (pyproject.toml:3)"},
		{"Django", "app/tests/test_a.py", "-- manage.py --\n-- app/tests/test_a.py --\n", "python manage.py test app.tests.test_a (manage.py)"},
		{"Django's own tests", "tests/forms/test_a.py", "-- tests/runtests.py --\nimport django\n-- tests/forms/test_a.py --\n", "(cd tests && python runtests.py forms.test_a) (tests/runtests.py)"},
		{"unittest by the file", "test_a.py", "-- setup.py --\n-- test_a.py --\n\nimport unittest\n\nclass A(unittest.TestCase):\n    pass\n", "python -m unittest test_a.py (test_a.py:4)"},
		{"functions that unittest does not run", "test_a.py", "-- setup.py --\n-- test_a.py --\nfrom unittest import mock\n\ndef test_a():\n    pass\n", "unknown: no file says which program runs it"},
		{"unittest in a directory that is no package", "v1.2/test_a.py", "-- v1.2/test_a.py --\nclass A(unittest.TestCase):\n    pass\n", "unknown: its path is not the name of a module"},
		{"nothing known", "test_a.py", "-- setup.py --\n-- test_a.py --\n", "unknown: no file says which program runs it"},

		{"Gradle", "core/src/test/java/p/ATest.java", "-- gradlew --\n-- settings.gradle --\ninclude 'core'\n-- core/build.gradle --\n-- core/src/test/java/p/ATest.java --\npackage p;\n", "./gradlew :core:test --tests p.ATest (core/build.gradle)"},
		{"a build below the root", "android/app/src/test/java/ATest.java", "-- android/gradlew --\n-- android/settings.gradle --\ninclude ':app'\n-- android/app/build.gradle --\n-- android/app/src/test/java/ATest.java --\n", "(cd android && ./gradlew :app:test --tests '*ATest') (android/app/build.gradle)"},
		{"a project that the settings do not name", "x/y/src/test/java/ATest.java", "-- gradlew --\n-- settings.gradle --\nincludeAll()\n-- x/y/build.gradle --\n-- x/y/src/test/java/ATest.java --\npackage p\n", "./gradlew -p x/y test --tests p.ATest (x/y/build.gradle)"},
		{"a source set of Gradle", "src/integrationTest/kotlin/ATest.kt", "-- build.gradle.kts --\nval integrationTest = task\n-- src/integrationTest/kotlin/ATest.kt --\npackage a.b\n", "gradle integrationTest --tests a.b.ATest (build.gradle.kts)"},
		{"Maven", "core/src/test/java/p/ATest.java", "-- pom.xml --\n<project><modules><module>core</module></modules></project>\n-- core/pom.xml --\n<project/>\n-- core/src/test/java/p/ATest.java --\n", "mvn -pl core -Dtest=ATest test (core/pom.xml)"},
		{"an integration test without the plugin for them", "src/test/java/AIT.java", "-- pom.xml --\n<project/>\n-- src/test/java/AIT.java --\n", "mvn -Dtest=AIT test (pom.xml)"},
		{"an integration test of Maven", "src/test/java/AIT.java", "-- mvnw --\n-- pom.xml --\n<project><artifactId>maven-failsafe-plugin</artifactId></project>\n-- src/test/java/AIT.java --\n", "./mvnw -Dit.test=AIT verify (pom.xml)"},
		{"CMake", "test/a_test.cc", "-- CMakeLists.txt --\nproject(x)\n-- test/CMakeLists.txt --\nadd_executable(\n  all_tests a_test.cc\n  b.cc)\nadd_test(NAME all COMMAND all_tests)\n-- test/a_test.cc --\n", "cmake -B build && cmake --build build --target all_tests && ctest --test-dir build --no-tests=error -R '^all$' (test/CMakeLists.txt:1)"},
		{"a program that ctest does not know", "a_test.cc", "-- CMakeLists.txt --\nproject(x)\nadd_executable(a a_test.cc)\ngtest_discover_tests(a)\n-- a_test.cc --\n", "unknown: no build file says how to run it alone"},
		{"automake", "tests/test_a.c", "-- tests/Makefile.am --\ncheck_PROGRAMS = test_a\nTESTS = $(check_PROGRAMS)\n-- tests/test_a.c --\n", "make -C tests check TESTS=test_a (tests/Makefile.am:1)"},
		{"rspec", "spec/a_spec.rb", "-- Gemfile --\n-- .rspec --\n-- spec/a_spec.rb --\n", "bundle exec rspec spec/a_spec.rb (.rspec)"},
		{"minitest", "test/test_a.rb", "-- Rakefile --\nRake::TestTask.new\n-- test/test_a.rb --\n", "ruby -Ilib -Itest test/test_a.rb (Rakefile:1)"},
		{"phpunit", "tests/ATest.php", "-- phpunit.xml --\n-- tests/ATest.php --\n", "vendor/bin/phpunit tests/ATest.php (phpunit.xml)"},
		{"dotnet", "test/A.Tests/FooTests.cs", "-- test/A.Tests/A.Tests.csproj --\n<PackageReference Include=\"xunit\"/>\n-- test/A.Tests/FooTests.cs --\npublic class FooTests\n", "dotnet test test/A.Tests/A.Tests.csproj --filter FullyQualifiedName~FooTests (test/A.Tests/A.Tests.csproj)"},
		{"bats", "test/a.bats", "-- test/a.bats --\n", "bats test/a.bats (test/a.bats:1)"},
		{"a shell script", "test_a.sh", "-- test_a.sh --\n#!/usr/bin/env bash\n", "bash test_a.sh (test_a.sh:1)"},
		{"Elixir", "test/a_test.exs", "-- mix.exs --\n-- test/a_test.exs --\n", "mix test test/a_test.exs (mix.exs)"},
		{"Dart", "test/a_test.dart", "-- pubspec.yaml --\ndependencies:\n  flutter:\n    sdk: flutter\n-- test/a_test.dart --\n", "flutter test test/a_test.dart (pubspec.yaml)"},
		{"a name with a quote", "it's_test.go", "-- go.mod --\nmodule m\n-- it's_test.go --\npackage a\n", "go test . (go.mod:1)"},
		{"a directory like a flag", "-x/test_a.py", "-- pytest.ini --\n-- -x/test_a.py --\n", "pytest ./-x/test_a.py (pytest.ini)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, ok, note := open(t, c.files).TestCommand(c.test)
			got := "unknown: " + note
			if ok {
				got = cmd.Run + " (" + place(cmd.Source, cmd.Line) + ")"
				if note != "" {
					got += "; " + note
				}
			}
			if got != c.want {
				t.Errorf("command for %s:\n got %s\nwant %s", c.test, got, c.want)
			}
		})
	}
}

// A package has several scripts for one runner, and each reads its own configuration.
func TestTestCommandSeveralScripts(t *testing.T) {
	const vitest = `
-- package.json --
{
  "scripts": {
    "test": "run-s test-unit test-serve test-build",
    "test-build": "VITE_TEST_BUILD=1 vitest run -c vitest.config.e2e.ts",
    "test-serve": "vitest run -c vitest.config.e2e.ts",
    "test-unit": "vitest run",
    "bench": "vitest bench"
  }
}
-- pnpm-lock.yaml --
-- vitest.config.ts --
export default defineConfig({
  test: {
    exclude: ['**/node_modules/**', './playground/**/*.*'],
  },
})
-- vitest.config.e2e.ts --
// It's the configuration of tests that need a browser: include: ['**']
export default defineConfig({
  test: {
    include: ['./playground/**/*.spec.[tj]s'],
    exclude: [
      './playground/old/**/*.spec.[tj]s', // don't run these
      ...(isOld ? ['./playground/new/**'] : []),
    ],
  },
})
-- packages/a/a.spec.ts --
-- playground/css/css.spec.ts --
-- playground/old/old.spec.ts --
`
	const vitestDir = `
-- package.json --
{"scripts": {
"unit": "vitest run --dir src",
"e2e": "CI=1 vitest run --config=config/e2e.ts",
"types": "vitest run -c config/types.ts"
}}
-- config/e2e.ts --
export default {test: {dir: './e2e'}}
-- config/types.ts --
export default {
  optimizeDeps: {include: ['vue'], exclude: ['x']},
  test: {dir: 'types', include: ['**/*.test-d.ts', '**/*.test.ts'], typecheck: {include: ['nothing']}},
}
-- src/a.test.ts --
-- e2e/a.test.ts --
-- types/a.test.ts --
`
	const vitestProjects = `
-- package.json --
{"scripts": {
"all": "A=1 vitest run -c all.config.ts",
"unit": "vitest run",
"web": "vitest run --root web --config web.config.ts"
}}
-- vitest.config.ts --
export default {test: {projects: [{test: {include: ['src/**/*.test.ts'], exclude: ['src/x/**']}}]}}
-- all.config.ts --
export default {test: {exclude: ['**/x.test.ts'], projects: ['./apps/*/vitest.config.ts', './libs/*']}}
-- web/web.config.ts --
export default {test: {include: ['unit/*.test.ts']}}
-- web/unit/a.test.ts --
-- src/x/a.test.ts --
-- src/a.test.ts --
-- apps/x/a.test.ts --
-- libs/y/a.test.ts --
-- tools/a.test.ts --
`
	const jest = `
-- package.json --
{"scripts": {
"e2e": "jest --config ./test/jest-e2e.json",
"e2e:debug": "DEBUG=1 jest --config ./test/jest-e2e.json",
"slow": "jest --config=jest.slow.config.js",
"unit": "jest"
},
"jest": {"rootDir": "src", "testRegex": ".*\\.spec\\.ts$"}}
-- test/jest-e2e.json --
{"rootDir": ".", "testRegex": ".e2e-spec.ts$"}
-- jest.slow.config.js --
module.exports = {testMatch: ['<rootDir>/slow/**/*.spec.[jt]s']}
-- src/a.spec.ts --
-- test/a.e2e-spec.ts --
-- slow/a.spec.ts --
-- lost/a.spec.ts --
`
	const vitestInline = `
-- package.json --
{"scripts": {"test": "vitest"}}
-- vitest.config.ts --
export default {test: {projects: [
  {test: {name: 'unit', exclude: ['**/e2e/**']}},
  {test: {name: 'dom', include: ['dom/**/*.test.ts']}},
]}}
-- a.test.ts --
-- dom/a.test.ts --
-- dom/e2e/a.test.ts --
`
	const jestComputed = `
-- package.json --
{"scripts": {"test": "jest"}}
-- jest.config.js --
module.exports = {testMatch: ['<rootDir>/lib/*.test.js', ...more]}
-- a.test.js --
-- lib/a.test.js --
`
	const jestRoots = `
-- package.json --
{"scripts": {
"db": "DB=1 jest -c jest.db.config.js",
"unit": "jest"
}}
-- jest.config.js --
module.exports = {roots: ['<rootDir>/src'], testPathIgnorePatterns: ['/node_modules/', '/db/']}
-- jest.db.config.js --
module.exports = {rootDir: './src/db'}
-- src/a.test.js --
-- src/db/a.test.js --
`
	const mocha = `
-- package.json --
{"scripts": {
"browser": "B=1 mocha --config .mocharc.browser.json",
"more": "mocha --no-config --spec 'more/**/*.js' --timeout 100",
"other": "mocha --no-config --spec=other/*.js",
"unit": "mocha"
}}
-- .mocharc.json --
{"spec": "test/unit/*.js"}
-- .mocharc.browser.json --
{"spec": "test/browser/*.js"}
-- test/unit/a.js --
-- test/browser/a.js --
-- more/a.test.js --
-- other/a.test.js --
`
	const playwright = `
-- package.json --
{"scripts": {
"a11y": "A=1 playwright test --config=a11y/playwright.config.ts",
"docs": "playwright test -c docs.config.ts",
"e2e": "playwright test"
}}
-- playwright.config.ts --
export default {testDir: './e2e'}
-- docs.config.ts --
export default {testDir: 'docs', testMatch: '**/*.docs.ts'}
-- a11y/playwright.config.ts --
export default {}
-- e2e/a.spec.ts --
-- docs/__tests__/a.docs.ts --
-- a11y/a.spec.ts --
`
	for _, c := range []struct {
		name  string
		test  repo.Path
		files string
		want  string
	}{
		{"the default configuration", "packages/a/a.spec.ts", vitest, "pnpm exec vitest run packages/a/a.spec.ts"},
		{"a named configuration without environment", "playground/css/css.spec.ts", vitest, "pnpm exec vitest run -c vitest.config.e2e.ts playground/css/css.spec.ts"},
		{"no configuration includes it", "playground/old/old.spec.ts", vitest, "unknown"},
		{"vitest --dir", "src/a.test.ts", vitestDir, "npx vitest run --dir src src/a.test.ts"},
		{"dir of a vitest configuration", "e2e/a.test.ts", vitestDir, "CI=1 npx vitest run --config=config/e2e.ts e2e/a.test.ts"},
		{"dir and include of a vitest configuration", "types/a.test.ts", vitestDir, "npx vitest run -c config/types.ts types/a.test.ts"},
		{"the default configuration beside projects", "src/a.test.ts", vitestProjects, "npx vitest run src/a.test.ts"},
		{"a project by its configuration", "apps/x/a.test.ts", vitestProjects, "A=1 npx vitest run -c all.config.ts apps/x/a.test.ts"},
		{"a project by its directory", "libs/y/a.test.ts", vitestProjects, "A=1 npx vitest run -c all.config.ts libs/y/a.test.ts"},
		{"a file that a project excludes", "src/x/a.test.ts", vitestProjects, "unknown"},
		{"vitest --root", "web/unit/a.test.ts", vitestProjects, "npx vitest run --root web --config web.config.ts web/unit/a.test.ts"},
		{"outside of all projects", "tools/a.test.ts", vitestProjects, "unknown"},
		{"a project without a list", "a.test.ts", vitestInline, "unknown: see vitest.config.ts"},
		{"a file that a project lists", "dom/a.test.ts", vitestInline, "npx vitest run dom/a.test.ts"},
		{"a file that one project lists and another excludes", "dom/e2e/a.test.ts", vitestInline, "unknown: see vitest.config.ts"},
		{
			"a long configuration", "a.test.ts",
			"-- package.json --\n{\"scripts\": {\"test\": \"vitest\"}}\n-- vitest.config.ts --\n" + strings.Repeat("a: 1,\n", 8000) + "-- a.test.ts --\n",
			"unknown: see vitest.config.ts",
		},
		{"a computed list", "a.test.js", jestComputed, "unknown: see jest.config.js"},
		{"a literal in a computed list", "lib/a.test.js", jestComputed, "npx jest lib/a.test.js"},
		{"jest in package.json", "src/a.spec.ts", jest, "npx jest src/a.spec.ts"},
		{"jest --config", "test/a.e2e-spec.ts", jest, "npx jest --config ./test/jest-e2e.json test/a.e2e-spec.ts"},
		{"jest --config=", "slow/a.spec.ts", jest, "npx jest --config=jest.slow.config.js slow/a.spec.ts"},
		{"outside of the root of jest", "lost/a.spec.ts", jest, "unknown"},
		{"roots of jest", "src/a.test.js", jestRoots, "npx jest src/a.test.js"},
		{"a path that jest ignores", "src/db/a.test.js", jestRoots, "DB=1 npx jest -c jest.db.config.js src/db/a.test.js"},
		{"mocha", "test/unit/a.js", mocha, "npx mocha test/unit/a.js"},
		{"mocha --config", "test/browser/a.js", mocha, "B=1 npx mocha --config .mocharc.browser.json test/browser/a.js"},
		{"mocha --spec", "more/a.test.js", mocha, "npx mocha --no-config --timeout 100 more/a.test.js"},
		{"mocha --spec=", "other/a.test.js", mocha, "npx mocha --no-config other/a.test.js"},
		{"playwright", "e2e/a.spec.ts", playwright, "npx playwright test e2e/a.spec.ts"},
		{"playwright below its configuration", "a11y/a.spec.ts", playwright, "A=1 npx playwright test --config=a11y/playwright.config.ts a11y/a.spec.ts"},
		{"testMatch of playwright", "docs/__tests__/a.docs.ts", playwright, "npx playwright test -c docs.config.ts docs/__tests__/a.docs.ts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, ok, note := open(t, c.files).TestCommand(c.test)
			got := cmd.Run
			if !ok {
				got = "unknown"
			}
			if strings.Contains(c.want, ": see") {
				got += ": " + note
			}
			if got != c.want {
				t.Errorf("command for %s:\n got %s (%s)\nwant %s", c.test, got, note, c.want)
			}
		})
	}
}

func TestIsTest(t *testing.T) {
	p := open(t, `
-- package.json --
{"scripts": {"test": "mocha 'test/**/*.js'"}}
-- pytest.ini --
[pytest]
python_files = check_*.py
-- tests/a.rs --
#[test]
-- tests/b.rs --
-- src/tests/mod.rs --
#[test]
`)
	for file, want := range map[repo.Path]bool{
		"a_test.go": true, "a.go": false, "testdata/a_test.go": false, "vendor/x/a_test.go": false,
		"src/a.test.ts": true, "src/a.spec.tsx": true, "src/a.ts": false, "src/a.test.d.ts": false, "test/sub/a.js": true, "test/helpers/a.js": false,
		"node_modules/x/a.test.js": false, "test/fixtures/a.test.js": false,
		"check_a.py": true, "test_a.py": false, "conftest.py": false,
		"tests/a.rs": true, "tests/b.rs": false, "src/tests/mod.rs": true, "src/a.rs": false,
		"src/test/java/ATest.java": true, "src/main/java/Latest.java": false, "ATests.cs": true, "ATest.php": true,
		"a_spec.rb": true, "spec/spec_helper.rb": false, "test/test_helper.rb": false,
		"a_test.cc": true, "a_test.h": false, "x.bats": true, "t/a.t": true, "README.md": false,
	} {
		if got := p.IsTest(file); got != want {
			t.Errorf("IsTest(%s) = %v, want %v", file, got, want)
		}
	}
}

func TestEntrypoints(t *testing.T) {
	p := open(t, `
-- go.mod --
module m
-- cmd/a/main.go --
package main
-- examples/x/main.go --
package main
-- internal/gen/main.go --
//go:build ignore

package main
-- web/package.json --
{"bin": {"web": "./dist/cli.js"}}
-- web/src/cli.ts --
-- lib/package.json --
{"main": "./dist/index.js", "exports": {".": {"import": "./dist/index.mjs"}}}
-- lib/src/index.ts --
-- py/pyproject.toml --
[project.scripts]
tool = "pkg.cli:main"
-- py/src/pkg/cli.py --
-- rs/Cargo.toml --
[package]
name = "rs"
-- rs/src/main.rs --
-- rs/src/lib.rs --
-- rl/Cargo.toml --
[package]
name = "rl"
-- rl/src/lib.rs --
`)
	for dir, want := range map[repo.Path][]repo.Path{
		"":     {"cmd/a/main.go", "lib/src/index.ts", "rl/src/lib.rs", "rs/src/main.rs", "web/src/cli.ts", "py/src/pkg/cli.py", "examples/x/main.go"},
		"web":  {"web/src/cli.ts"},
		"py":   {"py/src/pkg/cli.py"},
		"none": nil,
	} {
		if diff := cmp.Diff(want, p.Entrypoints(dir)); diff != "" {
			t.Errorf("entry points of %q (-want +got):\n%s", dir, diff)
		}
	}
}

// A test command switches all features on if some are off by default.
func TestCargoFeatures(t *testing.T) {
	for features, want := range map[string]string{
		"":                                      "cargo test --lib a::",
		"[features]\ndefault = ['b']\nb = []\n": "cargo test --lib a::",
		"[features]\ndefault = ['b']\nb = ['c']\nc = []\n": "cargo test --lib a::",
		"[features]\ndefault = []\nb = []\n":               "cargo test --all-features --lib a::",
		"[features]\nb = []\n":                             "cargo test --all-features --lib a::",
		"[features]\n__docs = []\n":                        "cargo test --lib a::",
	} {
		files := map[repo.Path]string{
			"Cargo.toml": "[package]\nname = 'm'\n" + features,
			"src/lib.rs": "mod a;\n",
			"src/a.rs":   "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n",
		}
		p, err := project.New(slices.Sorted(maps.Keys(files)), func(f repo.Path) ([]byte, error) { return []byte(files[f]), nil })
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, note := p.TestCommand("src/a.rs"); !ok || got.Run != want {
			t.Errorf("%q: the command is %q (%s), want %q", features, got.Run, note, want)
		}
	}
}

// A manifest describes its directory in a place of its own. A text that cannot be read is none.
func TestDescription(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"package.json":   {`{"name": "x", "description": "Routes orders."}`, "Routes orders."},
		"composer.json":  {`{"description": ["no", "text"]}`, ""},
		"vcpkg.json":     {`{"description": `, ""},
		"Cargo.toml":     {"[package]\nname = \"x\"\ndescription = \"Routes \\\"orders\\\".\" # so\n[dependencies]\ndescription = \"no\"\n", `Routes "orders".`},
		"pyproject.toml": {"[tool.other]\ndescription = 'no'\n[project]\ndescription = 'Routes orders.'\n", "Routes orders."},
		"setup.cfg":      {"[metadata]\nname = x\ndescription = Routes orders.\n", "Routes orders."},
		"x.gemspec":      {"Gem::Specification.new do |s|\n  s.description = \"Of #{name}\"\n  s.summary     = %q{Routes orders.}\nend\n", "Routes orders."},
		"pom.xml":        {`<project><modules/><description>Routes orders.</description></project>`, "Routes orders."},
		"X.csproj":       {`<Project><PropertyGroup><Description>Routes orders.</Description></PropertyGroup></Project>`, "Routes orders."},
		"pubspec.yaml":   {"name: x\ndescription: >-\n  Routes\n  orders.\nversion: 1\n", "Routes orders."},
		"action.yml":     {"name: x\ninputs:\n  description: no\ndescription: 'Routes orders.'\n", "Routes orders."},
		"Chart.yaml":     {"description: [no]\n", ""},
		"other.txt":      {"description: no\n", ""},
		"jsr.json":       {"{\"description\": \"Routes\\n orders\\u0007.\"}", "Routes orders."},
	} {
		if got := project.Description(name, []byte(c.content)); got != c.want {
			t.Errorf("the description in %s is %q, want %q", name, got, c.want)
		}
	}
}

// A file that cannot be used costs its own answers only, and is listed.
func TestBadInput(t *testing.T) {
	p := open(t, `
-- Makefile --
test:
	x
-- package.json --
{"scripts": {"test": 
-- Cargo.toml --
[package
-- pyproject.toml --
a = [[[
-- pom.xml --
<project>
-- .github/workflows/ci.yml --
jobs: [
-- .github/workflows/self.yml --
jobs: &a
  x: *a
-- AGENTS.md --
- Always run it.
`)
	if got, want := show(p.CommandsFor("")), "test: make test (Makefile:1)\n"; got != want {
		t.Errorf("commands are\n%swant\n%s", got, want)
	}
	var skipped []string
	for _, s := range p.Skipped() {
		skipped = append(skipped, string(s.Source))
		if s.Why == "" || strings.ContainsAny(s.Why, "\n\x1b") {
			t.Errorf("%s is skipped because of %q, want one line", s.Source, s.Why)
		}
	}
	want := []string{".github/workflows/ci.yml", "Cargo.toml", "package.json", "pom.xml", "pyproject.toml"}
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Errorf("skipped files (-want +got):\n%s", diff)
	}
}

// Only the first part of a huge file is read, and a document that was cut counts as broken.
func TestHugeFiles(t *testing.T) {
	filler := strings.Repeat("# filler\n", 64<<10)
	p := open(t, "-- Makefile --\ntest:\n\tx\n"+filler+"lint:\n-- package.json --\n{\"scripts\": {\"build\": \"x\"}}\n"+strings.Repeat("\n", 300<<10)+"{\n")
	if got, want := show(p.CommandsFor("")), "test: make test (Makefile:1)\n"; !strings.Contains(got, want) || strings.Contains(got, "lint") {
		t.Errorf("commands are\n%swant the ones in the first 256 KiB", got)
	}
}

// A file that is made to be slow to read does not hang anything: the test would run into its time limit.
func TestHostileSizes(t *testing.T) {
	fill := func(head, line string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < 250<<10; i++ {
			b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	p := open(t, "-- Makefile --\n"+fill("", "test-#:\n")+
		"-- pyproject.toml --\n"+fill("[tool.poe.tasks]\n", "test-# = 'x'\n")+
		"-- package.json --\n"+fill(`{"scripts": {`, `"test:#": "run-s test:*", `)+`"x": "y"}}`+"\n"+
		"-- vitest.config.ts --\n"+fill("", "include: [")+"\n"+
		"-- AGENTS.md --\n"+fill("", "You must not. ")+"\n"+
		"-- CLAUDE.md --\n"+fill("", "- Never `a/`.\n")+
		"-- .github/workflows/ci.yml --\n"+fill("jobs:\n  a:\n    steps:\n", "      - run: go test ./...\n"))
	if len(p.CommandsFor("").Test) != 3 {
		t.Errorf("commands are\n%swant three to test", show(p.CommandsFor("")))
	}
	for _, in := range p.Instructions("a/b.go") {
		if len(in.Lines) > 12 {
			t.Errorf("%s has %d lines that name the path, want at most 12", in.Source, len(in.Lines))
		}
	}
}

// Text from manifests cannot end a command, add one, or move the cursor of a terminal.
func TestHostileNames(t *testing.T) {
	p := open(t, `
-- package.json --
{"name": "a; rm -rf ~", "scripts": {"test; rm -rf ~": "x", "test:$(id)": "x", "-test": "x", "build\u001b[2J": "x", "lint": "x"}}
-- Makefile --
test;id:
	x
$(shell id) test-a`+"`id`"+`:
	x
-- pyproject.toml --
[tool.poe.tasks]
"test && id" = "x"
-- Cargo.toml --
[package]
name = "a$(id)"
-- .github/workflows/ci.yml --
jobs:
  a:
    steps:
      - run: ctest $(curl evil)
      - run: "ctest \x1b[2J"
      - run: go test ./... > /etc/passwd
`)
	want := `
build: cargo build (Cargo.toml:1)
test: cargo test (Cargo.toml:1)
lint: npm run lint (package.json:1)
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), show(p.CommandsFor(""))); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// A Project, and two of them, may be asked from several goroutines; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	const archive = "-- package.json --\n{\"scripts\": {\"test\": \"vitest\"}}\n-- pyproject.toml --\n[tool.pytest.ini_options]\n-- a.test.ts --\n-- test_a.py --\n-- AGENTS.md --\n- Always test.\n"
	one := open(t, archive)
	two := open(t, archive)
	var group sync.WaitGroup
	for i := range 8 {
		p := one
		if i%2 == 0 {
			p = two
		}
		group.Go(func() {
			p.CommandsFor("a.test.ts")
			p.TestCommand("a.test.ts")
			p.TestCommand("test_a.py")
			p.Instructions("test_a.py")
			p.Entrypoints("")
			p.Skipped()
		})
	}
	group.Wait()
}

// An unreadable manifest at the root is an error, since every answer depends on it; one that is tracked but deleted is not.
func TestReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := project.New([]repo.Path{"Makefile"}, func(repo.Path) ([]byte, error) { return nil, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "Makefile") {
		t.Errorf("New returned error %v, want one that names Makefile and wraps %v", err, broken)
	}
	p, err := project.New([]repo.Path{"Makefile"}, func(repo.Path) ([]byte, error) { return nil, fs.ErrNotExist })
	if err != nil {
		t.Fatalf("New returned error %v for a deleted Makefile, want none", err)
	}
	if got := show(p.CommandsFor("")); got != "" {
		t.Errorf("commands are %q, want none", got)
	}
	p, err = project.New([]repo.Path{"a/go.mod"}, func(repo.Path) ([]byte, error) { return nil, broken })
	if err != nil {
		t.Fatal(err)
	}
	if got := show(p.CommandsFor("a")); got != "" {
		t.Errorf("commands are %q, want none", got)
	}
	if s := p.Skipped(); len(s) != 1 || s[0].Source != "a/go.mod" || !strings.Contains(s[0].Why, "disk on fire") {
		t.Errorf("Skipped() = %v, want a/go.mod with the reason", s)
	}
}
