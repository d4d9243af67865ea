package uses_test

import "testing"

func TestJava(t *testing.T) {
	const code = `
		-- core/src/main/java/org/x/core/Engine.java --
		package org.x.core
		decl class Engine
		decl method Engine.start
		decl class Engine.Options
		decl const Engine.LIMIT
		-- core/src/main/java/org/x/core/Helper.java --
		package org.x.core
		decl class Helper
		decl method Helper.help
		-- core/src/main/java/org/x/util/Text.java --
		package org.x.util
		decl class Text
		decl method Text.wrapLines
		-- core/src/test/java/org/x/core/Fake.java --
		package org.x.core
		decl class Fake
	`
	runCases(t, []resolveCase{
		{
			name: "imports, static imports, the own package and full names",
			archive: code + `
				-- core/src/main/java/org/x/core/Main.java --
				package org.x.core
				import org.x.util.Text >Text
				import org.x.core.Engine LIMIT
				import org.x.core.Engine.Options >Options
				import java.util.List >List
				call Helper.help
				call Engine.start
				use LIMIT
				use Options
				use List
				use Fake
				call Text.wrapLines
				call org.x.util.Text.wrapLines
			`,
			from: "core/src/main/java/org/x/core/Main.java",
			want: `
				core/src/main/java/org/x/core/Engine.java#Engine.LIMIT
				core/src/main/java/org/x/core/Engine.java#Engine.Options
				core/src/main/java/org/x/core/Engine.java#Engine.start
				core/src/main/java/org/x/core/Helper.java#Helper.help
				core/src/main/java/org/x/util/Text.java#Text.wrapLines
			`,
		},
		{
			name: "an import of all classes counts for those that exist",
			archive: code + `
				-- app/src/main/java/org/x/app/App.java --
				package org.x.app
				import org.x.core *
				import java.util *
				import org.x.util.Text *
				use Engine
				use List
				use Missing
				call wrapLines
			`,
			from: "app/src/main/java/org/x/app/App.java",
			want: `
				core/src/main/java/org/x/core/Engine.java#Engine
				core/src/main/java/org/x/util/Text.java#Text.wrapLines
			`,
		},
		{
			name: "a call on a type from outside has no edge",
			archive: code + `
				-- app/src/main/java/org/x/app/Web.java --
				package org.x.app
				import jakarta.Request >Request
				import org.x.util.Text >Text
				use Text
				call Request.wrapLines
				call Unknown.wrapLines
				call .wrapLines
				-- app/src/main/java/org/x/app/Request.java --
				package org.x.app
				decl class Request
				decl method Request.wrapLines
			`,
			from: "app/src/main/java/org/x/app/Web.java",
			want: `
				core/src/main/java/org/x/util/Text.java#Text
				likely core/src/main/java/org/x/util/Text.java#Text.wrapLines
			`,
		},
		{
			name: "one class in two modules: the own one, else ambiguous",
			archive: `
				-- a/src/main/java/u/Util.java --
				package u
				decl class Util
				-- b/src/main/java/u/Util.java --
				package u
				decl class Util
				-- b/src/main/java/b/B.java --
				package b
				import u.Util >Util
				use Util
				-- c/src/main/java/c/C.java --
				package c
				import u.Util >Util
				use Util
			`,
			from: "b/src/main/java/b/B.java",
			want: `b/src/main/java/u/Util.java#Util`,
		},
		{
			name: "one class in two other modules",
			archive: `
				-- a/src/main/java/u/Util.java --
				package u
				decl class Util
				-- b/src/main/java/u/Util.java --
				package u
				decl class Util
				-- c/src/main/java/c/C.java --
				package c
				import u.Util >Util
				use Util
			`,
			from: "c/src/main/java/c/C.java",
			want: `ambiguous 2`,
		},
		{
			name: "a test sees the tests of its package",
			archive: code + `
				-- core/src/test/java/org/x/core/EngineTest.java --
				package org.x.core
				use Fake
				use Engine
			`,
			from: "core/src/test/java/org/x/core/EngineTest.java",
			want: `
				core/src/main/java/org/x/core/Engine.java#Engine
				core/src/test/java/org/x/core/Fake.java#Fake
			`,
		},
	})
}
