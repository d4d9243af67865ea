package uses_test

import "testing"

func TestByName(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "Ruby: files that are required, classes and methods with one declaration",
			archive: `
				-- lib/app/parser.rb --
				decl module App
				decl class App.Parser
				decl method App.Parser.parse_lines
				decl method App.Parser.run
				-- lib/app/other.rb --
				decl module App
				decl class App.Other
				decl method App.Other.twice
				-- lib/app/third.rb --
				decl class App.Third
				decl method App.Third.twice
				decl method App.Third.thrice
				-- lib/app/fourth.rb --
				decl method App.Fourth.thrice
				-- lib/app/main.rb --
				import app/parser
				import ./other
				import json
				use Parser
				use App::Other
				use JSON::Parser
				call .parse_lines
				call .run
				call .twice
				call .thrice
			`,
			from: "lib/app/main.rb",
			want: `
				lib/app/other.rb
				likely lib/app/other.rb#App.Other
				likely lib/app/other.rb#App.Other.twice
				likely lib/app/parser.rb
				likely lib/app/parser.rb#App.Parser
				likely lib/app/parser.rb#App.Parser.parse_lines
				ambiguous 1
			`,
		},
		{
			name: "there is no edge to another language",
			archive: `
				-- a.py --
				decl class Widget
				decl method Widget.draw_all
				-- b.go --
				package b
				decl func draw_all
				-- main.rb --
				use Widget
				call draw_all
				call .draw_all
			`,
			from: "main.rb",
		},
		{
			name: "PHP: namespaces decide",
			archive: `
				-- src/Models/User.php --
				package App\Models
				decl class User
				decl method User.save_all
				-- src/Other/User.php --
				package App\Other
				decl class User
				-- src/Http/Request.php --
				package App\Http
				decl class Request
				-- src/Http/Kernel.php --
				package App\Http
				import App\Models\User >User
				import Symfony\Thing >Thing
				use User
				call User::save_all
				use Thing
				use Request
				-- src/Thing.php --
				package App
				decl class Thing
			`,
			from: "src/Http/Kernel.php",
			want: `
				likely src/Http/Request.php#Request
				likely src/Models/User.php#User
				likely src/Models/User.php#User.save_all
			`,
		},
		{
			name: "C#: names of the own namespace, those above and those that are imported",
			archive: `
				-- A.cs --
				package App.Core
				decl class Engine
				-- B.cs --
				package App
				decl class Root
				-- C.cs --
				package Other
				decl class Task
				-- D.cs --
				package App.Web
				import App.Core *
				import System.Threading.Tasks *
				use Engine
				use Root
				use Task
				call XDocument.Save
				-- E.cs --
				package App.Web
				decl class Store
				decl method Store.Save
			`,
			from: "D.cs",
			want: `
				likely A.cs#Engine
				likely B.cs#Root
			`,
		},
		{
			name: "shell: files that are sourced",
			archive: `
				-- scripts/lib.sh --
				decl func log_info
				-- scripts/util/strings.sh --
				decl func trim_all
				-- scripts/run.sh --
				import ./lib.sh
				import ${DIR}/util/strings.sh
				import /etc/profile
				import $UNKNOWN
				call log_info
				call trim_all
			`,
			from: "scripts/run.sh",
			want: `
				scripts/lib.sh
				likely scripts/lib.sh#log_info
				likely scripts/util/strings.sh
				likely scripts/util/strings.sh#trim_all
			`,
		},
	})
}

func TestVendoredFilesHaveNoEdges(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "node_modules",
			archive: `
				-- node_modules/x/a.js --
				import ./b b
				use b
				-- node_modules/x/b.js --
				decl func b
			`,
			from: "node_modules/x/a.js",
		},
		{
			name: "Go's vendor",
			archive: `
				-- go.mod --
				module m
				-- vendor/x/a.go --
				package x
				use b
				-- vendor/x/b.go --
				package x
				decl func b
			`,
			from: "vendor/x/a.go",
		},
	})
}
