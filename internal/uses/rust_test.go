package uses_test

import "testing"

func TestRust(t *testing.T) {
	const lib = `
		-- Cargo.toml --
		[package]
		name = "my-app"
		edition = "2021"
		[dependencies]
		my-lib = { path = "crates/lib" }
		serde = "1"
		short = { package = "my-lib", path = "crates/lib" }
		-- crates/lib/Cargo.toml --
		[package]
		name = "my-lib"
		edition = "2021"
		-- crates/lib/src/lib.rs --
		import self::net
		decl module net
		decl func top
		reexport net::Conn >Conn
		-- crates/lib/src/net.rs --
		decl struct Conn
		decl method Conn.open
		decl module inner
		decl func inner.deep
		-- src/main.rs --
		import self::app
		local module app
	`
	runCases(t, []resolveCase{
		{
			name: "the module tree, crate, self and super",
			archive: lib + `
				-- src/app/mod.rs --
				decl module view
				decl func helper
				-- src/app/view.rs --
				import super::helper >helper
				import crate::app::view::own >own
				import crate::util >util
				decl func own
				call helper
				call util::trim
				call crate::util::pad
				call self::own
				-- src/util.rs --
				decl func trim
				decl func pad
				-- src/fmt.rs --
				decl struct Formatter
			`,
			from: "src/app/view.rs",
			want: `
				src/app/mod.rs#helper
			`,
		},
		{
			name: "modules count only if they are declared",
			archive: `
				-- Cargo.toml --
				[package]
				name = "x"
				edition = "2021"
				-- src/lib.rs --
				import self::util
				decl module util
				decl module app
				-- src/util.rs --
				decl func trim
				decl func pad
				-- src/app.rs --
				import crate::util >util
				import std::fmt >fmt
				call util::trim
				call crate::util::pad
				use fmt::Formatter
				-- src/fmt.rs --
				decl struct Formatter
			`,
			from: "src/app.rs",
			want: `
				src/util.rs#pad
				src/util.rs#trim
			`,
		},
		{
			name: "crates of the tree by name, with re-exports",
			archive: lib + `
				-- src/app.rs --
				import my_lib::net::Conn >Conn
				import my_lib >my_lib
				import short::net::inner::deep >deep
				import serde::Serialize >Serialize
				call Conn::open
				use Conn
				call my_lib::top
				use my_lib::Conn
				call deep
				use Serialize
				call .open
			`,
			from: "src/app.rs",
			want: `
				crates/lib/src/lib.rs
				crates/lib/src/lib.rs#top
				crates/lib/src/net.rs#Conn
				crates/lib/src/net.rs#Conn via crates/lib/src/lib.rs
				crates/lib/src/net.rs#Conn.open
				crates/lib/src/net.rs#inner.deep
			`,
		},
		{
			name:    "a file declares its modules",
			archive: lib + "-- src/app.rs --\n",
			from:    "src/main.rs",
			want:    `src/app.rs`,
		},
		{
			name: "tests and programs use the library by its name",
			archive: `
				-- Cargo.toml --
				[package]
				name = "my-lib"
				edition = "2021"
				-- src/lib.rs --
				decl func top
				-- tests/it.rs --
				import my_lib::top >top
				import crate::top >mine
				import self::common
				local module common
				call top
				call common::setup
				use mine
				-- tests/common/mod.rs --
				decl func setup
			`,
			from: "tests/it.rs",
			want: `
				src/lib.rs#top
				tests/common/mod.rs
				tests/common/mod.rs#setup
			`,
		},
		{
			name: "a crate from a registry with the name of one in the tree is likely",
			archive: `
				-- a/Cargo.toml --
				[package]
				name = "a"
				edition = "2021"
				[dependencies]
				b = "1.0"
				shared.workspace = true
				-- Cargo.toml --
				[workspace]
				members = ["a", "b", "shared"]
				[workspace.dependencies]
				shared = { path = "shared" }
				-- b/Cargo.toml --
				[package]
				name = "b"
				edition = "2021"
				-- b/src/lib.rs --
				decl func f
				-- shared/Cargo.toml --
				[package]
				name = "shared"
				edition = "2021"
				-- shared/src/lib.rs --
				decl func s
				-- c/Cargo.toml --
				[package]
				name = "c"
				-- c/src/lib.rs --
				decl func c
				-- a/src/main.rs --
				import b::f >f
				import shared::s >s
				import c::c >c
				call f
				call s
				call c
			`,
			from: "a/src/main.rs",
			want: `
				likely b/src/lib.rs#f
				shared/src/lib.rs#s
			`,
		},
		{
			name: "two crates with the same modules",
			archive: `
				-- a/Cargo.toml --
				[package]
				name = "a"
				edition = "2021"
				-- a/src/lib.rs --
				decl module net
				decl module app
				-- a/src/net.rs --
				decl func open
				-- a/src/app.rs --
				import crate::net::open >open
				call open
				-- b/Cargo.toml --
				[package]
				name = "b"
				edition = "2021"
				-- b/src/lib.rs --
				decl module net
				-- b/src/net.rs --
				decl func open
			`,
			from: "a/src/app.rs",
			want: `a/src/net.rs#open`,
		},
		{
			name: "re-exports in a cycle, and a broken manifest",
			archive: `
				-- Cargo.toml --
				[package]
				name = "x"
				edition = "2021"
				-- sub/Cargo.toml --
				[package
				-- src/lib.rs --
				decl module a
				decl module b
				import crate::a::x >x
				use x
				-- src/a.rs --
				reexport crate::b::x >x
				-- src/b.rs --
				reexport crate::a::x >x
			`,
			from: "src/lib.rs",
		},
		{
			name: "super in an inline module is the file itself",
			archive: `
				-- Cargo.toml --
				[package]
				name = "x"
				edition = "2021"
				-- src/lib.rs --
				decl module a
				decl func run
				decl func other
				-- src/a.rs --
				decl func run
				local module tests
				import super::run >run
				import super::* *
				import super::super::other >other
				call run
				call other
			`,
			from: "src/a.rs",
			want: `src/lib.rs#other`,
		},
		{
			name: "globs: of the names of a module above, also private ones, and of names that a module passes on",
			archive: `
				-- Cargo.toml --
				[package]
				name = "x"
				edition = "2021"
				-- src/lib.rs --
				decl module a
				decl module lexer
				decl module tangle
				decl module cmd
				import crate::lexer::Lexer >Lexer
				import crate::tangle::tangle >tangle
				-- src/lexer.rs --
				decl struct Lexer
				decl method Lexer.lex
				-- src/tangle.rs --
				decl func tangle
				-- src/cmd/mod.rs --
				decl module cmd
				reexport crate::cmd::cmd *
				-- src/cmd/cmd.rs --
				decl struct Init
				-- src/a.rs --
				import super *
				import crate::cmd::Init >Init
				call Lexer::lex
				call tangle
				use Init
			`,
			from: "src/a.rs",
			want: `
				src/cmd/cmd.rs#Init via src/cmd/mod.rs
				src/cmd/mod.rs
				likely src/lexer.rs#Lexer.lex via src/lib.rs
				likely src/lib.rs
			`,
		},
	})
}
