package uses_test

import (
	"strings"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/uses"
)

// readTree makes a tree whose facts are read from real sources.
func readTree(t *testing.T, archive string) *tree {
	t.Helper()
	tr := &tree{
		content: make(map[repo.Path]string),
		files:   make(map[repo.Path]*uses.ParsedFile),
		refs:    make(map[repo.Path]*outline.References),
	}
	at := repo.Path("")
	for line := range strings.Lines(archive) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(name, " --") {
			at = repo.Path(strings.TrimSuffix(name, " --"))
			tr.content[at] = ""
			continue
		}
		if at != "" {
			tr.content[at] += line
		}
	}
	for p, content := range tr.content {
		o, refs, err := outline.ParseWithReferences(p, []byte(content))
		if err != nil || o.Language == outline.Markdown {
			continue
		}
		tr.files[p] = &uses.ParsedFile{Path: p, Outline: o, Imports: refs.Imports}
		tr.refs[p] = refs
	}
	return tr
}

// The resolvers understand the facts that package outline reads.
func TestRealSources(t *testing.T) {
	for _, c := range []resolveCase{
		{
			name: "Go",
			archive: `
-- go.mod --
module example.com/m
-- server/server.go --
package server

type Server struct{ Addr string }

func New(addr string) *Server { return &Server{Addr: addr} }
-- server/run.go --
package server

func (s *Server) Run() error { return listen(s.Addr) }

func listen(string) error { return nil }
-- main.go --
package main

import (
	"fmt"

	"example.com/m/server"
)

func main() {
	s := server.New(":80")
	start(s)
	fmt.Println(server.Server{Addr: "x"})
}

func start(s *server.Server) { s.Run() }
`,
			from: "main.go",
			want: `
				server/run.go#Server.Run
				server/server.go#New
				server/server.go#Server
				server/server.go#Server.Addr
			`,
		},
		{
			name: "TypeScript",
			archive: `
-- package.json --
{"workspaces": ["packages/*"]}
-- packages/core/package.json --
{"name": "@x/core", "exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"}}}
-- packages/core/src/index.ts --
export { Store as DataStore } from './store.js'
export * from './util.js'
export default function create() {}
-- packages/core/src/store.ts --
export class Store { static open() { return new Store() } persist() {} }
-- packages/core/src/util.ts --
const helper = () => 1
export { helper as help }
export type Options = { a: string }
-- packages/app/main.ts --
import create, { DataStore, help, type Options } from '@x/core'
import * as core from '@x/core'
import fs from 'node:fs'

export function save(s: DataStore) { s.persist() }
save(DataStore.open())
help()
core.help()
create()
fs.readFileSync('x')
export function f(o: Options) { console.log(o) }
`,
			from: "packages/app/main.ts",
			want: `
				likely packages/core/src/index.ts
				likely packages/core/src/index.ts#create
				likely packages/core/src/store.ts#Store via packages/core/src/index.ts
				likely packages/core/src/store.ts#Store.open via packages/core/src/index.ts
				likely packages/core/src/store.ts#Store.persist via packages/core/src/index.ts
				likely packages/core/src/util.ts#Options via packages/core/src/index.ts
				likely packages/core/src/util.ts#helper via packages/core/src/index.ts
			`,
		},
		{
			name: "names behind an imported module",
			archive: `
-- a.ts --
export const only = 1
export function late() {}
export namespace ns { export type T = string }
-- main.ts --
export type Only = typeof import('./a').only
export async function f() { (await import('./a')).late() }
`,
			from: "main.ts",
			want: `
				a.ts#late
				a.ts#only
			`,
		},
		{
			name: "JavaScript with require",
			archive: `
-- lib/a.js --
class Server { listen() {} }
module.exports = Server
-- lib/b.js --
exports.one = function () {}
exports.two = function () {}
-- main.js --
const Server = require('./lib/a')
const { one, two: zwei } = require('./lib/b')
const b = require('./lib/b')
const s = new Server()
s.listen()
one()
zwei()
b.two()
`,
			from: "main.js",
			want: `
				lib/a.js
				lib/a.js#Server.listen
				lib/b.js#one
				lib/b.js#two
			`,
		},
		{
			name: "Python",
			archive: `
-- pyproject.toml --
[project]
name = "thing"
-- src/thing/__init__.py --
from .core import Engine as Engine
from . import util
__all__ = ["Engine", "util"]
-- src/thing/core.py --
class Engine:
    @classmethod
    def make(cls): return cls()
    def run(self): pass
-- src/thing/util.py --
def trim(s): return s.strip()
-- tests/test_core.py --
import json
import thing.util
from thing import Engine

def test(e: Engine):
    Engine.make()
    e.run()
    thing.util.trim("x")
    json.dumps({})
`,
			from: "tests/test_core.py",
			want: `
				src/thing/__init__.py
				src/thing/core.py#Engine via src/thing/__init__.py
				src/thing/core.py#Engine.make via src/thing/__init__.py
				src/thing/core.py#Engine.run via src/thing/__init__.py
				src/thing/util.py
				src/thing/util.py#trim
			`,
		},
		{
			name: "Rust",
			archive: `
-- Cargo.toml --
[package]
name = "my-app"
edition = "2021"
-- src/lib.rs --
pub mod net;
pub use net::Conn;
-- src/net.rs --
pub struct Conn { pub fd: i32 }
impl Conn { pub fn open() -> Conn { Conn { fd: 1 } } }
pub fn ping() {}
-- src/main.rs --
use my_app::net::{self, ping};
use my_app::Conn;
use std::fmt;

fn show(c: &Conn, f: &mut fmt::Formatter) { f.write_char(c.fd); }

fn main() {
    ping();
    net::ping();
    let c = Conn::open();
}
`,
			from: "src/main.rs",
			want: `
				src/lib.rs
				src/net.rs#Conn via src/lib.rs
				src/net.rs#Conn.fd via src/lib.rs
				src/net.rs#Conn.open via src/lib.rs
				src/net.rs#ping
			`,
		},
		{
			name: "Java",
			archive: `
-- src/main/java/org/x/core/Engine.java --
package org.x.core;
public class Engine { public static Engine make() { return null; } public void start() {} public static final int LIMIT = 3; }
-- src/main/java/org/x/app/Helper.java --
package org.x.app;
class Helper { static void help() {} }
-- src/main/java/org/x/app/Main.java --
package org.x.app;
import java.util.List;
import org.x.core.Engine;
import static org.x.core.Engine.LIMIT;
class Main {
  void run(Engine e, List<String> l) {
    e.start();
    Engine.make();
    Helper.help();
    l.start();
    int x = LIMIT;
  }
}
`,
			from: "src/main/java/org/x/app/Main.java",
			want: `
				src/main/java/org/x/app/Helper.java#Helper.help
				src/main/java/org/x/core/Engine.java#Engine
				src/main/java/org/x/core/Engine.java#Engine.LIMIT
				src/main/java/org/x/core/Engine.java#Engine.make
				src/main/java/org/x/core/Engine.java#Engine.start
			`,
		},
		{
			name: "C",
			archive: `
-- src/net.h --
#include <stdio.h>
struct conn { int fd; };
int net_open(struct conn *c);
#define LIMIT 3
-- src/net.c --
#include "net.h"
int net_open(struct conn *c) { return c->fd; }
-- src/main.c --
#include "net.h"
int main(void) {
  struct conn c;
  c.fd = LIMIT;
  return net_open(&c);
}
`,
			from: "src/main.c",
			want: `
				likely src/net.c#net_open
				src/net.h
				src/net.h#LIMIT
				src/net.h#conn
				src/net.h#conn.fd
				src/net.h#net_open
			`,
		},
		{
			name: "Ruby",
			archive: `
-- lib/app/parser.rb --
module App
  class Parser
    def parse_lines; end
  end
end
-- lib/app/main.rb --
require_relative 'parser'
require 'json'
module App
  class Main
    def go
      Parser.new.parse_lines
      JSON.parse('x')
    end
  end
end
`,
			from: "lib/app/main.rb",
			want: `
				lib/app/parser.rb
				likely lib/app/parser.rb#App.Parser
				likely lib/app/parser.rb#App.Parser.parse_lines
			`,
		},
		{
			name: "PHP",
			archive: `
-- src/Models/User.php --
<?php
namespace App\Models;
class User { public static function saveAll() {} }
-- src/Http/Kernel.php --
<?php
namespace App\Http;
use App\Models\User;
use Symfony\Thing;
class Kernel { public function go() { User::saveAll(); new Thing(); new User(); } }
`,
			from: "src/Http/Kernel.php",
			want: `
				likely src/Models/User.php#User
				likely src/Models/User.php#User.saveAll
			`,
		},
		{
			name: "C#",
			archive: `
-- A.cs --
namespace App.Core;
public class Engine { public void Ignite() {} }
-- D.cs --
using App.Core;
using System;
namespace App.Web;
class Page { void Go(Engine e) { e.Ignite(); Console.WriteLine("x"); } }
`,
			from: "D.cs",
			want: `
				likely A.cs#Engine
				likely A.cs#Engine.Ignite
			`,
		},
		{
			name: "shell",
			archive: `
-- scripts/lib.sh --
log_info() { echo "$1"; }
-- scripts/run.sh --
#!/bin/sh
. "$(dirname "$0")/lib.sh"
log_info hello
`,
			from: "scripts/run.sh",
			want: `
				likely scripts/lib.sh
				likely scripts/lib.sh#log_info
			`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			compareEdges(t, c, readTree(t, c.archive).edgesOf(t, c.from))
		})
	}
}
