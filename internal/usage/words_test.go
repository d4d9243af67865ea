package usage

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/outline"
)

// A word counts in code and in strings, not in comments and not as a part of a longer one. Members are marked.
func TestWordsIn(t *testing.T) {
	for name, tt := range map[string]struct {
		lang outline.Language
		text string
		want string // code, quoted, member, by line
	}{
		"go":              {outline.Go, "x := run() // run\n/* run\n */ y := `\\`+\"a run\\\"\"\nruns(rerun)", "1 code, 3 quoted"},
		"go raw":          {outline.Go, "`\nrun\n`\nrun", "2 quoted, 4 code"},
		"members":         {outline.TypeScript, "a.run()\nconst { run, b } = c\nf(run, b)\n<A run={1} />\nf({run: 1})", "1 member, 2 member, 3 code, 4 member, 5 member"},
		"templates":       {outline.TypeScript, "`a ${run} run`", "1 quoted"},
		"not a string":    {outline.JavaScript, "x = /'/\nrun", "2 code"},
		"python":          {outline.Python, "def f():\n    \"\"\"run\n    \"\"\"\n    g(\"\"\"\n    run\"\"\", 'run', f'{run}', run=1) # run", "5 quoted, 5 quoted, 5 member"},
		"rust":            {outline.Rust, "fn f<'a>(x: &'a str) { run('\"') }\nrun", "1 code, 2 code"},
		"shell":           {outline.Bash, "echo $# \"run\n run\" # run", "1 quoted, 2 quoted"},
		"unknown":         {outline.Unknown, "run it\n# run\n  -- run\nreruns", "1 code"},
		"the end is open": {outline.Go, "\"run", "1 quoted"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range wordsIn([]byte(tt.text), "run", tt.lang) {
				what := "code"
				switch {
				case w.quoted:
					what = "quoted"
				case w.member:
					what = "member"
				}
				got = append(got, fmt.Sprint(w.line, " ", what))
			}
			if has := strings.Join(got, ", "); has != tt.want {
				t.Errorf("has %q, expected %q", has, tt.want)
			}
		})
	}
}
