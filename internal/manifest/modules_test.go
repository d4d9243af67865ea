package manifest_test

import (
	"testing"

	"ken/internal/manifest"

	"github.com/google/go-cmp/cmp"
)

func TestParseModuleRules(t *testing.T) {
	for _, test := range []struct {
		name, base, content string
		want                manifest.ModuleRules
	}{
		{
			"SvelteKit", "svelte.config.js", `
import adapter from '@sveltejs/adapter-auto';
/** @type {import('@sveltejs/kit').Config} */
export default { kit: {
	adapter: adapter({ a: [1, 2] }),
	alias: {
		$components: './src/components', // "not": 'this'
		"$scripts": '../../scripts',
		'my-file/*': "src/my/*",
		computed: process.env.X,
		[name]: 'x',
		...more,
	},
} };`,
			manifest.ModuleRules{
				Aliases: map[string]string{"$components": "src/components", "$scripts": "../../scripts", "my-file/*": "src/my/*"},
				Library: "src/lib",
			},
		},
		{
			"another library", "svelte.config.ts", `export default { kit: { files: { lib: 'lib', routes: x() } } }`,
			manifest.ModuleRules{Aliases: map[string]string{}, Library: "lib"},
		},
		{
			"a computed library", "svelte.config.js", `export default { kit: { files: { lib: join('a', b) } } }`,
			manifest.ModuleRules{Aliases: map[string]string{}},
		},
		{
			"Vite", "vite.config.ts", `
export default defineConfig({ resolve: { alias: {
	'@': path.resolve(__dirname, './src'),
	"~": fileURLToPath(new URL('./app', import.meta.url)),
	root: '/lib',
	vue: 'vue/dist/vue.esm-bundler.js',
	twice: resolve(__dirname, "a"),
	both: resolve(__dirname, "a", "b"),
	template: resolve(__dirname, ` + "`${dir}/a`" + `),
} }, test: { alias: { twice: resolve(__dirname, "b") } } })`,
			manifest.ModuleRules{Aliases: map[string]string{"@": "src", "~": "app", "root": "lib"}},
		},
		{
			"Nuxt", "nuxt.config.ts", `export default defineNuxtConfig({ modules: ['a'] })`,
			manifest.ModuleRules{Aliases: map[string]string{}, Sources: []string{".", "app"}},
		},
		{
			"Nuxt with a directory of sources", "nuxt.config.js", `export default { srcDir: 'client/', ssr: false }`,
			manifest.ModuleRules{Aliases: map[string]string{}, Sources: []string{"client"}},
		},
		{"broken", "vite.config.js", `export default { alias: { a: "b`, manifest.ModuleRules{Aliases: map[string]string{}}},
		{"unclosed comment", "vite.config.js", `a /* alias: { "/a": "/b" }`, manifest.ModuleRules{Aliases: map[string]string{}}},
	} {
		if diff := cmp.Diff(test.want, manifest.ParseModuleRules(test.base, []byte(test.content))); diff != "" {
			t.Errorf("%s: rules of %s (-want +got):\n%s", test.name, test.base, diff)
		}
	}
	for base, want := range map[string]bool{
		"svelte.config.js": true, "vite.config.mts": true, "vitest.config.ts": true, "nuxt.config.ts": true,
		"vite.config.ts.md": false, "my.vite.config.ts": false, "package.json": false,
	} {
		if got := manifest.IsModuleConfig(base); got != want {
			t.Errorf("IsModuleConfig(%s) = %t, want %t", base, got, want)
		}
	}
}
