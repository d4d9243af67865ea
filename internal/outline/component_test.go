package outline_test

import (
	"testing"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

func TestReferencesOfSvelte(t *testing.T) {
	testReferences(t, "a.svelte", []refsCase{
		{"the names of imports in markup are uses", `
<script lang="ts" module>
	import { shared } from "./shared";
	export const size = shared(1);
</script>

<script lang="ts">
	import Button from "./Button.svelte";
	import * as Dialog from "./dialog";
	import { count, unused, color } from "./stores.svelte.js";
	let { title }: Props = $props();
	$: doubled = $count * 2;
</script>

<!-- Button -->
<Dialog.Root {title}>
	<Button color={size} on:click={() => $count++}>{text.unused}</Button>
	<Button />
</Dialog.Root>

<style>
	.unused { color: red }
</style>
`, `
2 import ./shared: shared
7 import ./Button.svelte: default=Button
8 import ./dialog: =Dialog
9 import ./stores.svelte.js: count, unused, color
3 call shared
10 type Props
10 call $props
11 - doubled
11,16 - count
15,18 - Dialog.Root
16,17 - Button
`},
		{"a script in a comment, of data or in a style is no code", `
<!-- <script>import a from "./a"</script> -->
<script type="application/ld+json">{"@type": "Thing"}</script>
<style>/* <script>import b from "./b"</script> */</style>
<script generics="T extends Record<string, Row>">import type { Row } from "./row"; export let a = 1 > 0</script>
<p>{a}</p>
`, `
4 import ./row: Row
4 - Row
`},
	})
}

func TestReferencesOfVue(t *testing.T) {
	testReferences(t, "a.vue", []refsCase{
		{"elements may be written with hyphens", `
<template>
  <my-button :label="label" @click="go($label)"><other-thing/></my-button>
</template>

<script>
import MyButton from './MyButton.vue'
import OtherThing from './OtherThing.vue'
import label from './label'
import { go } from './go'
export default { components: { MyButton } }
</script>
`, `
6 import ./MyButton.vue: default=MyButton
7 import ./OtherThing.vue: default=OtherThing
8 import ./label: default=label
9 import ./go: go
2,10 - MyButton
2 - label
2 - go
2 - OtherThing
`},
	})
}

func TestReferencesOfAstro(t *testing.T) {
	testReferences(t, "a.astro", []refsCase{
		{"the frontmatter and scripts are code", `
---
import Layout from "../Layout.astro";
import { list } from "../data";
const all = await list();
if (!all) return Astro.redirect("/");
---
<Layout title="a --- b">{all.map((x) => <p>{x}</p>)}</Layout>
<script>
	import { start } from "../start";
	start();
</script>
`, `
2 import ../Layout.astro: default=Layout
3 import ../data: list
9 import ../start: start
4 call list
5 call Astro.redirect
7 - Layout
10 call start
`},
		{"a page may have no code", "<p>---</p>\n", ""},
	})
}

// A component's markup has no structure, so each change of it is one of the body.
func TestGradeOfComponents(t *testing.T) {
	const code = "<script>\n\texport function go(a) {\n\t\treturn a\n\t}\n</script>\n"
	for _, c := range []struct {
		name, before, after string
		want                fresh.Grade
	}{
		{"code, format", code, "<script>\n\texport function go(a) { return a }\n</script>\n", fresh.GradeFormat},
		{"code, signature", code, "<script>\n\texport function go(b) {\n\t\treturn a\n\t}\n</script>\n", fresh.GradeInterface},
		{"markup behind code", code + "<p>one</p>\n", code + "<p>two</p>\n", fresh.GradeBody},
		{"only markup", "<p>one</p>\n", "<p>two</p>\n", fresh.GradeBody},
		{"style", code + "<style>a { color: red }</style>", code + "<style>a { color: blue }</style>", fresh.GradeBody},
	} {
		for _, p := range []repo.Path{"a.vue", "a.svelte"} {
			before, err := outline.Parse(p, []byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			after, err := outline.Parse(p, []byte(c.after))
			if err != nil {
				t.Fatal(err)
			}
			if got := outline.Grade(before, after); got != c.want {
				t.Errorf("%s, %s: the grade is %s, want %s", p, c.name, got, c.want)
			}
		}
	}
}

func TestReferencesOfModuleExpressions(t *testing.T) {
	testReferences(t, "a.ts", []refsCase{
		{"names behind an imported module", `
type A = typeof import("./a").alpha
let b: import("./b").ns.Beta
const c = (await import("./c")).gamma
require("./d").delta()
import("./e").then(m => m.any)
`, `
1 import ./a: =import#0
2 import ./b: =import#1
3 import ./c: =import#2
4 import ./d: =import#3
5 import ./e
1 - import#0.alpha
2 - import#1.ns
2 - import#1.ns.Beta
3 - import#2.gamma
4 call import#3.delta
5 - .any
`},
	})
}
