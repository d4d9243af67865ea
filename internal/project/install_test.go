package project_test

import (
	"strings"
	"testing"

	"ken/internal/project"
	"ken/internal/repo"
)

func commandLines(list []project.Command) string {
	var lines []string
	for _, c := range list {
		lines = append(lines, c.Run+" # "+string(c.Source))
	}
	return strings.Join(lines, "\n")
}

// Lock files, manifests and what CI runs say how the dependencies are installed.
func TestInstall(t *testing.T) {
	for _, test := range []struct {
		name, archive string
		path          repo.Path
		want          string
	}{
		{name: "npm with a lock file", archive: "-- package.json --\n{\"dependencies\": {\"a\": \"1\"}}\n-- package-lock.json --\n{}\n", want: "npm ci # package-lock.json"},
		{name: "npm without a lock file", archive: "-- package.json --\n{\"devDependencies\": {\"a\": \"1\"}}\n", want: "npm install # package.json"},
		{name: "a package without dependencies", archive: "-- package.json --\n{\"name\": \"a\"}\n", want: ""},
		{
			name: "a member of a pnpm workspace", path: "packages/a",
			archive: "-- package.json --\n{}\n-- pnpm-lock.yaml --\n-- pnpm-workspace.yaml --\npackages: ['packages/*']\n-- packages/a/package.json --\n{\"name\": \"a\", \"dependencies\": {\"b\": \"1\"}}\n",
			want:    "pnpm install # pnpm-lock.yaml",
		},
		{name: "yarn", archive: "-- package.json --\n{\"packageManager\": \"yarn@4\", \"dependencies\": {\"a\": \"1\"}}\n-- yarn.lock --\n", want: "yarn install # yarn.lock"},
		{name: "uv", archive: "-- pyproject.toml --\n[project]\nname = 'a'\n-- uv.lock --\n", want: "uv sync # uv.lock"},
		{name: "poetry", archive: "-- pyproject.toml --\n[tool.poetry]\nname = 'a'\n", want: "poetry install # pyproject.toml"},
		{
			name:    "pip with extras",
			archive: "-- pyproject.toml --\n[build-system]\nrequires = []\n[project]\nname = 'a'\n[project.optional-dependencies]\ndev = ['x']\ndocs = ['y']\n",
			want:    "pip install -e '.[dev]' # pyproject.toml",
		},
		{
			name:    "pip with requirements",
			archive: "-- setup.py --\n-- requirements/dev.txt --\nx\n-- requirements/docs.txt --\ny\n",
			want:    "pip install -e . # setup.py\npip install -r requirements/dev.txt # requirements/dev.txt",
		},
		{name: "bundler", archive: "-- Gemfile --\n", want: "bundle install # Gemfile"},
		{name: "composer", archive: "-- composer.json --\n{\"require\": {\"a/b\": \"1\"}}\n", want: "composer install # composer.json"},
		{name: "go", archive: "-- go.mod --\nmodule a\n-- go.sum --\n", want: "go mod download # go.sum"},
		{name: "go without dependencies", archive: "-- go.mod --\nmodule a\n", want: ""},
		{name: "cargo", archive: "-- Cargo.toml --\n[package]\nname = 'a'\n", want: "cargo fetch # Cargo.toml"},
		{name: "submodules", archive: "-- CMakeLists.txt --\nproject(a)\n-- .gitmodules --\n", want: "git submodule update --init --recursive # .gitmodules"},
		{name: "a target", archive: "-- Makefile --\nsetup:\n\tx\ninstall:\n\ty\n", want: "make setup # Makefile"},
		{
			name: "only CI says it",
			archive: "-- .github/workflows/test.yml --\njobs:\n  t:\n    steps:\n      - run: pip install -e .[test] tox\n      - run: pip install tox\n" +
				"-- a.py --\n",
			want: "pip install -e '.[test]' tox # .github/workflows/test.yml",
		},
		{
			name:    "only CONTRIBUTING says it",
			archive: "-- CONTRIBUTING.md --\n## Setup\n\n```sh\npip install -r tools/dev.txt\npip install a-package\n```\n-- a.py --\n-- tools/dev.txt --\n",
			want:    "pip install -r tools/dev.txt # CONTRIBUTING.md",
		},
		{name: "nothing says it", archive: "-- a.c --\n", want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := commandLines(open(t, test.archive).CommandsFor(test.path).Install); got != test.want {
				t.Errorf("install commands are\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestRunProgram(t *testing.T) {
	for _, test := range []struct{ name, archive, want string }{
		{
			name:    "a console script",
			archive: "-- pyproject.toml --\n[build-system]\nrequires = []\n[project]\nname = 'a'\n[project.scripts]\nserve-a = 'a.main:run'\n-- a/main.py --\n",
			want:    "serve-a # pyproject.toml",
		},
		{
			name:    "a console script in setup.py",
			archive: "-- setup.py --\nsetup(entry_points={\n    'console_scripts': [\n        'serve-a = a.main:run',\n    ],\n})\n-- a/main.py --\n",
			want:    "serve-a # setup.py",
		},
		{name: "a package that can be run", archive: "-- pyproject.toml --\n[project]\nname = 'a'\n-- a/__main__.py --\n", want: "python -m a # a/__main__.py"},
		{name: "a program of a gem", archive: "-- a.gemspec --\n-- Gemfile --\n-- exe/serve-a --\n", want: "bundle exec exe/serve-a # exe/serve-a"},
		{name: "a program of a package", archive: "-- package.json --\n{\"name\": \"a\", \"bin\": {\"serve-a\": \"bin/a.js\"}}\n-- bin/a.js --\n", want: "node bin/a.js # package.json"},
		{name: "a library", archive: "-- package.json --\n{\"name\": \"a\", \"main\": \"a.js\"}\n-- a.js --\n", want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := commandLines(open(t, test.archive).CommandsFor("").Run); got != test.want {
				t.Errorf("run commands are\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Manifests say which versions of a language the project needs.
func TestNeeds(t *testing.T) {
	p := open(t, `
-- go.mod --
module a

go 1.24.0
-- package.json --
{
  "engines": {"node": ">=20", "npm": ">=10"}
}
-- pyproject.toml --
[project]
requires-python = ">=3.10"
-- Cargo.toml --
[package]
name = "a"
rust-version = "1.85"
-- a.gemspec --
  s.required_ruby_version = ">= 3.1"
-- composer.json --
{"require": {"php": "^8.2"}}
-- pom.xml --
<project><properties><maven.compiler.release>17</maven.compiler.release></properties></project>
-- CMakeLists.txt --
cmake_minimum_required(VERSION 3.20)
`)
	var lines []string
	for _, n := range p.Needs("") {
		lines = append(lines, n.Text+" # "+string(n.Source))
	}
	want := `Go 1.24.0 # go.mod
Node.js >=20 # package.json
npm >=10 # package.json
Python >=3.10 # pyproject.toml
Rust 1.85 # Cargo.toml
Ruby >= 3.1 # a.gemspec
PHP ^8.2 # composer.json
Java 17 # pom.xml
CMake 3.20 # CMakeLists.txt`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("needs are\n%s\nwant\n%s", got, want)
	}
}

// The same manager with other flags is the same command.
func TestInstallOnce(t *testing.T) {
	p := open(t, "-- package.json --\n{\"dependencies\": {\"a\": \"1\"}}\n-- pnpm-lock.yaml --\n-- .github/workflows/test.yml --\n"+
		"jobs:\n  t:\n    steps:\n      - run: pnpm install --frozen-lockfile\n      - run: pnpm i\n")
	if got, want := commandLines(p.CommandsFor("").Install), "pnpm install # pnpm-lock.yaml"; got != want {
		t.Errorf("install commands are\n%s\nwant\n%s", got, want)
	}
}
