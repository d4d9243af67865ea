package uses_test

import "testing"

func TestScriptPaths(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "extensions, index files and compiled names",
			archive: `
				-- src/a.ts --
				decl func a
				-- src/b/index.tsx --
				decl func b
				-- src/c.tsx --
				decl func c
				-- src/d.js --
				decl func d
				-- src/e.mts --
				decl func e
				-- src/f.json --
				{}
				-- src/g.vue --
				-- src/index.ts --
				decl func root
				-- src/main.ts --
				import ./a a
				import ./b b
				import ./c.js c
				import ./d.js d
				import ./e.mjs e
				import ./f.json >f
				import ./g.vue default>g
				import . root
				import ./missing x
				import ../../../outside x
				import ./raw.txt?raw default>raw
				call a
				call b
				use c
				use d
				use e
				use f
				use g
				use root
				-- src/raw.txt --
			`,
			from: "src/main.ts",
			want: `
				src/a.ts#a
				src/b/index.tsx#b
				src/c.tsx#c
				src/d.js#d
				src/e.mts#e
				src/f.json
				src/g.vue
				src/index.ts#root
				src/raw.txt
			`,
		},
		{
			name: "a file beside a directory of the same name",
			archive: `
				-- a.ts --
				decl func file
				-- a/index.ts --
				decl func dir
				-- main.ts --
				import ./a file
				import ./a/ dir
				use file
				use dir
			`,
			from: "main.ts",
			want: `
				a.ts#file
				a/index.ts#dir
			`,
		},
		{
			name: "members of what is imported",
			archive: `
				-- color.ts --
				decl enum Color
				decl member Color.Red
				decl class Palette
				decl method Palette.mix
				-- main.ts --
				import ./color Color Palette>P
				import ./color >ns
				use Color.Red
				call P.mix
				call P.missing
				use ns.Palette
				use ns.Palette.mix
			`,
			from: "main.ts",
			want: `
				color.ts#Color.Red
				color.ts#Palette
				color.ts#Palette.mix
			`,
		},
		{
			name: "an unused import and one for side effects",
			archive: `
				-- a.ts --
				decl class A
				-- b.ts --
				-- main.ts --
				import ./a A
				import ./b
			`,
			from: "main.ts",
			want: `
				a.ts#A
				b.ts
			`,
		},
		{
			name: "globals and packages from outside hide local namesakes",
			archive: `
				-- log.ts --
				decl class Logger
				decl method Logger.log
				decl method Logger.request
				decl func describe
				-- main.ts --
				import ./log Logger
				import express default>express
				call describe
				call console.log
				call express.request
				use Logger
				-- fs.ts --
				decl func readFile
				-- tsconfig.json --
				{"compilerOptions": {"baseUrl": "."}}
				-- other.ts --
				import fs readFile
				call readFile
			`,
			from: "main.ts",
			want: `log.ts#Logger`,
		},
		{
			name: "baseUrl does not hide a module of Node",
			archive: `
				-- fs.ts --
				decl func readFile
				-- tsconfig.json --
				{"compilerOptions": {"baseUrl": "."}}
				-- other.ts --
				import fs readFile
				call readFile
			`,
			from: "other.ts",
		},
		{
			name: "a file in node_modules is not the repository's own",
			archive: `
				-- package.json --
				{"name": "root", "workspaces": ["**"]}
				-- node_modules/dep/package.json --
				{"name": "dep", "main": "index.js"}
				-- node_modules/dep/index.js --
				decl func dep
				-- main.ts --
				import dep dep
				call dep
			`,
			from: "main.ts",
		},
		{
			name: "require and whole modules",
			archive: `
				-- a.js --
				decl func one
				-- b.js --
				decl func module.exports
				-- c.js --
				local class Server
				local method Server.listen
				reexport "" Server>default
				-- main.js --
				import ./a >a
				import ./b >b
				import ./c >Server
				call a.one
				call b
				call Server.listen
			`,
			from: "main.js",
			want: `
				a.js#one
				b.js#module.exports
				c.js#Server.listen
			`,
		},
	})
}

func TestScriptReexports(t *testing.T) {
	const barrel = `
		-- lib/a.ts --
		decl func a
		local func hidden
		reexport "" hidden>shown
		-- lib/b.ts --
		decl class b
		decl method b.run
		-- lib/c.ts --
		decl func default
		-- lib/d.ts --
		decl func d
		-- lib/index.ts --
		reexport ./a a>first shown
		reexport ./b *
		reexport ./c default>c
		reexport ./d >d
		reexport outside *
		reexport outside far
	`
	runCases(t, []resolveCase{
		{
			name: "the barrel and, via it, the definitions",
			archive: barrel + `
				-- main.ts --
				import ./lib first b c d far shown
				call first
				call b.run
				use c
				call d.d
				use far
				use shown
			`,
			from: "main.ts",
			want: `
				lib/a.ts#a via lib/index.ts
				lib/a.ts#hidden via lib/index.ts
				lib/b.ts#b.run via lib/index.ts
				lib/c.ts#default via lib/index.ts
				lib/d.ts#d via lib/index.ts
				lib/index.ts
			`,
		},
		{
			name: "through the barrel as a whole",
			archive: barrel + `
				-- main.ts --
				import ./lib >lib
				call lib.first
				call lib.nothing
			`,
			from: "main.ts",
			want: `
				lib/a.ts#a via lib/index.ts
				lib/index.ts
			`,
		},
		{
			name: "a module that the barrel passes on as a whole",
			archive: barrel + `
				-- main.ts --
				import ./lib d
				call d.d
			`,
			from: "main.ts",
			want: `
				lib/d.ts#d via lib/index.ts
				lib/index.ts
			`,
		},
		{
			name: "a module that a module passes on whose names are all passed on",
			archive: `
				-- core.ts --
				decl func parse
				-- external.ts --
				reexport ./core >core
				-- index.ts --
				reexport ./external *
				-- main.ts --
				import ./index >z
				import ./index core
				call z.core.parse
				call core.parse
			`,
			from: "main.ts",
			want: `
				core.ts#parse via index.ts
				index.ts
			`,
		},
		{
			name:    "the barrel uses what it re-exports",
			archive: barrel,
			from:    "lib/index.ts",
			want: `
				lib/a.ts#a
				lib/a.ts#hidden
				lib/b.ts
				lib/c.ts#default
				lib/d.ts
			`,
		},
		{
			name: "a cycle of re-exports ends",
			archive: `
				-- a.ts --
				reexport ./b *
				reexport ./b x
				-- b.ts --
				reexport ./a *
				reexport ./a x
				-- main.ts --
				import ./a x y
				use x
				use y
			`,
			from: "main.ts",
			want: `a.ts`,
		},
		{
			name: "a name that two modules pass on is ambiguous",
			archive: `
				-- a.ts --
				decl func x
				-- b.ts --
				decl func x
				-- index.ts --
				reexport ./a *
				reexport ./b *
				-- main.ts --
				import ./index x
				use x
			`,
			from: "main.ts",
			want: `
				index.ts
				ambiguous 1
			`,
		},
		{
			name: "a chain of barrels",
			archive: `
				-- x.ts --
				decl func x
				-- two.ts --
				reexport ./x x
				-- one.ts --
				reexport ./two *
				-- main.ts --
				import ./one x
				use x
			`,
			from: "main.ts",
			want: `
				one.ts
				x.ts#x via one.ts
			`,
		},
		{
			name: "a default that is passed on as a default, through a directory and a subpath of a package",
			archive: `
				-- package.json --
				{"workspaces": ["ui"]}
				-- ui/package.json --
				{"name": "ui", "exports": {"./button": "./button/index.ts"}}
				-- ui/button/Button.ts --
				local class Button
				reexport "" Button>default
				-- ui/button/index.ts --
				reexport ./Button default
				-- main.ts --
				import ./ui/button/ default>A
				import ui/button default>B
				use A
				use B
			`,
			from: "main.ts",
			want: `
				ui/button/Button.ts#Button via ui/button/index.ts
				ui/button/index.ts
			`,
		},
		{
			name: "a default is not passed on by a star",
			archive: `
				-- x.ts --
				decl func default
				-- index.ts --
				reexport ./x *
				-- main.ts --
				import ./index default>x
				use x
			`,
			from: "main.ts",
			want: `index.ts`,
		},
	})
}

func TestScriptTSConfig(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "paths of the nearest configuration, with comments",
			archive: `
				-- tsconfig.json --
				{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}
				-- src/x.ts --
				decl func x
				-- app/tsconfig.json --
				{
					// nested
					"compilerOptions": {"paths": {"@/*": ["./code/*"], "one": ["./code/x.ts"],}},
				}
				-- app/code/x.ts --
				decl func x
				-- app/main.ts --
				import @/x x
				import one x>y
				use x
				use y
			`,
			from: "app/main.ts",
			want: `app/code/x.ts#x`,
		},
		{
			name: "paths are inherited, relative to the file that has them",
			archive: `
				-- config/base.json --
				{"compilerOptions": {"baseUrl": "..", "paths": {"lib/*": ["packages/*/src"]}}}
				-- tsconfig.json --
				{"extends": ["./config/base"]}
				-- packages/x/src/index.ts --
				decl func x
				-- web/tsconfig.json --
				{"extends": "../tsconfig.json"}
				-- web/main.ts --
				import lib/x x
				import web/other other
				use x
				use other
				-- web/other.ts --
				decl func other
			`,
			from: "web/main.ts",
			want: `
				packages/x/src/index.ts#x
				web/other.ts#other
			`,
		},
		{
			name: "an alias that matches too much does not hide a package",
			archive: `
				-- package.json --
				{"workspaces": ["packages/*"]}
				-- tsconfig.json --
				{"compilerOptions": {"paths": {"@*": ["./src/*"], "*": ["./src/*"]}}}
				-- packages/ui/package.json --
				{"name": "@org/ui", "main": "./index.ts"}
				-- packages/ui/index.ts --
				decl func Button
				-- src/local.ts --
				decl func local
				-- src/main.ts --
				import @org/ui Button
				import react useState
				import local local
				use Button
				use useState
				use local
			`,
			from: "src/main.ts",
			want: `
				packages/ui/index.ts#Button
				src/local.ts#local
			`,
		},
		{
			name: "only the best pattern of paths counts",
			archive: `
				-- tsconfig.json --
				{"compilerOptions": {"paths": {"lib/*": ["./missing/*"], "*": ["./src/*"]}}}
				-- src/lib/x.ts --
				decl func x
				-- main.ts --
				import lib/x x
				use x
			`,
			from: "main.ts",
		},
		{
			name: "a configuration that extends a file outside of the repository",
			archive: `
				-- tsconfig.json --
				{"extends": "../../secret/tsconfig.json", "compilerOptions": {"paths": {"@/*": ["../../secret/*", "./src/*"]}}}
				-- src/x.ts --
				decl func x
				-- main.ts --
				import @/x x
				use x
			`,
			from: "main.ts",
			want: `src/x.ts#x`,
		},
		{
			name: "configurations that extend each other",
			archive: `
				-- tsconfig.json --
				{"extends": ["./b.json", "./b.json"], "compilerOptions": {"paths": {"@/*": ["./*"]}}}
				-- b.json --
				{"extends": ["./tsconfig.json", "./b.json", "./tsconfig.json"]}
				-- x.ts --
				decl func x
				-- main.ts --
				import @/x x
				use x
			`,
			from: "main.ts",
			want: `x.ts#x`,
		},
		{
			name: "a broken configuration and a broken manifest",
			archive: `
				-- package.json --
				{"name": 5, "workspaces": {
				-- tsconfig.json --
				{"compilerOptions": [
				-- x.ts --
				decl func x
				-- main.ts --
				import ./x x
				import @/x y
				use x
				use y
			`,
			from: "main.ts",
			want: `x.ts#x`,
		},
		{
			name: "options of a solution are in the files beside it",
			archive: `
				-- tsconfig.json --
				{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "../out.json"}]}
				-- tsconfig.app.json --
				{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}
				-- src/x.ts --
				decl func x
				-- src/main.ts --
				import @/x x
				use x
			`,
			from: "src/main.ts",
			want: `src/x.ts#x`,
		},
	})
}

func TestScriptWorkspaces(t *testing.T) {
	const workspace = `
		-- package.json --
		{"private": true, "workspaces": {"packages": ["packages/*", "!packages/skip"]}}
		-- packages/core/package.json --
		{"name": "@org/core", "exports": {
			".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs", "require": "./dist/index.cjs"},
			"./util": {"types": "./types/util.d.ts", "default": "./lib/util.js"},
			"./deep/*": "./dist/deep/*.js",
			"./built": "./dist/built.js",
			"./typed": {"types": "./src/private.ts"}
		}}
		-- packages/core/src/index.ts --
		decl func core
		-- packages/core/src/util.ts --
		decl func util
		-- packages/core/types/util.d.ts --
		decl func util
		-- packages/core/src/deep/thing.ts --
		decl func thing
		-- packages/core/dist/built.js --
		decl func built
		-- packages/core/src/built.ts --
		decl func built
		-- packages/core/src/private.ts --
		decl func secret
		-- packages/plain/package.json --
		{"name": "plain", "main": "lib/main.js", "module": "es/main.js"}
		-- packages/plain/src/main.ts --
		decl func plain
		-- packages/plain/sub/x.ts --
		decl func sub
		-- packages/skip/package.json --
		{"name": "skip", "main": "index.ts"}
		-- packages/skip/index.ts --
		decl func skip
	`
	runCases(t, []resolveCase{
		{
			name: "exports, compiled files and their sources",
			archive: workspace + `
				-- packages/app/package.json --
				{"name": "app", "dependencies": {"@org/core": "workspace:*"}}
				-- packages/app/main.ts --
				import @org/core core
				import @org/core/util util
				import @org/core/deep/thing thing
				import @org/core/built built
				import @org/core/src/private secret
				import @org/core/typed secret>typed
				import plain plain
				import plain/sub/x sub
				import skip skip
				use core
				use util
				use thing
				use built
				use secret
				use plain
				use sub
				use skip
			`,
			from: "packages/app/main.ts",
			want: `
				packages/core/dist/built.js#built
				likely packages/core/src/deep/thing.ts#thing
				likely packages/core/src/index.ts#core
				likely packages/core/src/util.ts#util
				likely packages/plain/src/main.ts#plain
				packages/plain/sub/x.ts#sub
			`,
		},
		{
			name: "a tsconfig proves where the sources of compiled files are",
			archive: `
				-- package.json --
				{"workspaces": ["*"]}
				-- base.json --
				{"compilerOptions": {"outDir": "${configDir}/build"}}
				-- a/package.json --
				{"name": "a", "exports": {".": {"types": "./build/index.d.ts", "import": "./build/index.js"}, "./*": "./build/*.js"}}
				-- a/tsconfig.build.json --
				{"extends": "../base.json", "compilerOptions": {"rootDir": "code"}}
				-- a/code/index.ts --
				decl func a
				-- a/code/part/one.ts --
				decl func one
				-- b/package.json --
				{"name": "b", "main": "out/index.js"}
				-- b/tsconfig.json --
				{"compilerOptions": {"outDir": "out"}, "include": ["src/**/*"]}
				-- b/src/index.ts --
				decl func b
				-- c/package.json --
				{"name": "c", "main": "dist/index.js"}
				-- c/tsconfig.json --
				{"compilerOptions": {"outDir": "dist"}, "include": ["src", "test"]}
				-- c/src/index.ts --
				decl func c
				-- main/main.ts --
				import a a
				import a/part/one one
				import a/none none
				import b b
				import c c
			`,
			from: "main/main.ts",
			want: `
				a/code/index.ts#a
				a/code/part/one.ts#one
				b/src/index.ts#b
				likely c/src/index.ts#c
			`,
		},
		{
			name: "the packager of SvelteKit compiles the library",
			archive: `
				-- package.json --
				{"workspaces": ["*"]}
				-- ui/package.json --
				{"name": "@x/ui", "scripts": {"package": "svelte-kit sync && svelte-package"}, "exports": {
					"./*.svelte": {"svelte": "./dist/*.svelte", "types": "./dist/*.svelte.d.ts"}, "./*": {"import": "./dist/*.js"}}}
				-- ui/svelte.config.js --
				export default {}
				-- ui/src/lib/form/Button.svelte --
				-- ui/src/lib/form/style.ts --
				decl const style
				-- ui/src/lib/state.svelte.ts --
				decl const state
				-- old/package.json --
				{"name": "old", "scripts": {"package": "svelte-package -o out"}, "exports": {"./*.svelte": "./dist/*.svelte"}}
				-- old/svelte.config.js --
				export default {}
				-- old/src/lib/Old.svelte --
				-- app/main.ts --
				import @x/ui/form/Button.svelte default>Button
				import @x/ui/form/style style
				import @x/ui/state.svelte state
				import old/Old.svelte default>Old
				use Button
			`,
			from: "app/main.ts",
			want: `
				ui/src/lib/form/Button.svelte
				ui/src/lib/form/style.ts#style
				ui/src/lib/state.svelte.ts#state
			`,
		},
		{
			name: "a condition for sources comes first",
			archive: `
				-- pnpm-workspace.yaml --
				packages:
				  - 'libs/**'
				-- libs/a/package.json --
				{"name": "a", "exports": {".": {"import": "./index.js", "source": "./code/index.ts"}}}
				-- libs/a/index.js --
				decl func a
				-- libs/a/code/index.ts --
				decl func a
				-- libs/b/main.ts --
				import a a
				use a
			`,
			from: "libs/b/main.ts",
			want: `libs/a/code/index.ts#a`,
		},
		{
			name: "lerna, a dependency from a directory and one from elsewhere",
			archive: `
				-- lerna.json --
				{"packages": ["modules/*"]}
				-- modules/a/package.json --
				{"name": "a"}
				-- modules/a/index.js --
				decl func a
				-- modules/c/package.json --
				{"name": "c", "main": "c.js"}
				-- modules/c/c.js --
				decl func c
				-- extra/lib/package.json --
				{"name": "lib", "main": "lib.js"}
				-- extra/lib/lib.js --
				decl func lib
				-- modules/b/package.json --
				{"name": "b", "dependencies": {"lib": "file:../../extra/lib", "c": "npm:other@1", "far": "file:../../../far"}}
				-- modules/b/main.js --
				import a a
				import lib lib
				import c c
				import far far
				use a
				use lib
				use c
				use far
			`,
			from: "modules/b/main.js",
			want: `
				extra/lib/lib.js#lib
				modules/a/index.js#a
			`,
		},
		{
			name: "two packages with one name are ambiguous",
			archive: `
				-- package.json --
				{"workspaces": ["a", "b", "c"]}
				-- a/package.json --
				{"name": "same", "main": "a.ts"}
				-- a/a.ts --
				decl func x
				-- b/package.json --
				{"name": "same", "main": "b.ts"}
				-- b/b.ts --
				decl func x
				-- c/c.ts --
				import same x
				use x
			`,
			from: "c/c.ts",
			want: `ambiguous 1`,
		},
		{
			name: "imports of the own package, and its own name",
			archive: `
				-- package.json --
				{"name": "me", "exports": {".": "./index.js", "./x": "./dist/x.js"}, "imports": {"#util/*": "./src/util/*.js", "#dep": "dep"}}
				-- index.ts --
				decl func me
				-- src/x.ts --
				decl func x
				-- src/util/log.ts --
				decl func log
				-- src/main.ts --
				import #util/log log
				import #dep dep
				import #none none
				import me me
				import me/x x
				use log
				use dep
				use me
				use x
			`,
			from: "src/main.ts",
			want: `
				index.ts#me
				src/util/log.ts#log
				likely src/x.ts#x
			`,
		},
		{
			name: "a package that is no member takes a version from the registry",
			archive: `
				-- package.json --
				{"name": "lib", "workspaces": ["packages/*"]}
				-- packages/x/package.json --
				{"name": "x", "main": "x.js"}
				-- packages/x/x.js --
				decl func x
				-- example/package.json --
				{"name": "example", "dependencies": {"x": "^1.0.0"}}
				-- example/main.js --
				import x x
				use x
			`,
			from: "example/main.js",
		},
		{
			name: "exports never lead outside of the package",
			archive: `
				-- package.json --
				{"workspaces": ["a", "b"]}
				-- a/package.json --
				{"name": "a", "exports": {".": "./../secret.js", "./x": ["../../far.js", null, 5]}}
				-- secret.js --
				decl func s
				-- b/main.js --
				import a s
				import a/x y
				use s
				use y
			`,
			from: "b/main.js",
		},
	})
}

func TestScriptMembers(t *testing.T) {
	runCases(t, []resolveCase{{
		name: "one declaration in the imported files",
		archive: `
			-- store.ts --
			decl class Store
			decl method Store.persist
			decl method Store.commitAll
			decl method Store.get
			-- queue.ts --
			decl class Queue
			decl method Queue.commitAll
			-- far.ts --
			decl class Far
			decl method Far.onlyHere
			-- main.ts --
			import ./store Store
			import ./queue Queue
			local class Own
			local method Own.mine
			use Store
			use Queue
			call .persist
			call .commitAll
			call .onlyHere
			call .mine
			call .get
			call Own.persist
		`,
		from: "main.ts",
		want: `
			queue.ts#Queue
			store.ts#Store
			likely store.ts#Store.persist
			ambiguous 2
		`,
	}})
}

func TestScriptAliases(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "$lib and the aliases of SvelteKit",
			archive: `
				-- web/svelte.config.js --
				export default { kit: { alias: { $parts: './src/parts', $row: 'src/parts/row.ts', '$up/*': "../shared/*", $computed: x() } } }
				-- web/src/lib/store.ts --
				decl const count
				-- web/src/lib/index.ts --
				decl const all
				-- web/src/parts/Row.svelte --
				-- web/src/parts/row.ts --
				decl func row
				-- shared/text.ts --
				decl func text
				-- web/src/routes/+page.svelte --
				import $lib/store count
				import $lib all
				import $parts/Row.svelte default>Row
				import $row row
				import $up/text text
				import $computed/x x
				import $library/store count>other
				use count
				use Row
				-- other.ts --
				import $lib/store count
			`,
			from: "web/src/routes/+page.svelte",
			want: `
				shared/text.ts#text
				web/src/lib/index.ts#all
				web/src/lib/store.ts#count
				web/src/parts/Row.svelte
				web/src/parts/row.ts#row
			`,
		},
		{
			name: "no $lib without SvelteKit, and none that is computed",
			archive: `
				-- svelte.config.js --
				export default { kit: { files: { lib: dir } } }
				-- src/lib/store.ts --
				decl const count
				-- src/page.ts --
				import $lib/store count
			`,
			from: "src/page.ts",
			want: ``,
		},
		{
			name: "the aliases of Vite, the longest first",
			archive: `
				-- vite.config.ts --
				export default { resolve: { alias: { '@': resolve(__dirname, 'src'), '@/deep': fileURLToPath(new URL('./deep', import.meta.url)) } } }
				-- src/a.ts --
				decl func a
				-- src/deep/b.ts --
				decl func b
				-- deep/b.ts --
				decl func b
				-- main.ts --
				import @/a a
				import @/deep/b b
				import @scope/a x
			`,
			from: "main.ts",
			want: `
				deep/b.ts#b
				src/a.ts#a
			`,
		},
		{
			name: "the directories of Nuxt, unless both have the file",
			archive: `
				-- nuxt.config.ts --
				export default defineNuxtConfig({})
				-- app/a.ts --
				decl func a
				-- b.ts --
				decl func b
				-- app/both.ts --
				decl func both
				-- both.ts --
				decl func both
				-- app/pages/index.vue --
				import ~/a a
				import @/b b
				import ~/both both
			`,
			from: "app/pages/index.vue",
			want: `
				app/a.ts#a
				b.ts#b
			`,
		},
	})
}

func TestLinks(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "imports of TypeScript through links to a file and to a directory",
			archive: `
				-- scripts/real.js --
				decl func cfg
				-- shared/code/deep.ts --
				decl func deep
				-- p/link.js -> ../scripts/real.js --
				-- p/again.js -> link.js --
				-- p/code -> ../shared/code --
				-- p/circle.js -> circle.js --
				-- p/out.js -> ../../elsewhere.js --
				-- p/untracked.js -> ../made.js --
				-- p/main.js --
				import ./link.js cfg
				import ./again cfg>again
				import ./code/deep deep
				import ./circle a
				import ./out.js b
				import ./untracked.js c
				call cfg
			`,
			from: "p/main.js",
			want: `
				p/circle.js
				p/out.js
				scripts/real.js#cfg
				shared/code/deep.ts#deep
			`,
		},
		{
			name: "imports of Python through a link",
			archive: `
				-- scripts/real.py --
				decl func cfg
				-- p/__init__.py --
				-- p/link.py -> ../scripts/real.py --
				-- p/main.py --
				import .link cfg
				import . link
				call cfg
				call link.cfg
			`,
			from: "p/main.py",
			want: `
				p/__init__.py
				scripts/real.py#cfg
				scripts/real.py#cfg via p/__init__.py
			`,
		},
	})
}
