package mcp

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ken/internal/fault"
)

// withHint adds the hint to the text of an error, because models see only the text.
func withHint(err error) error {
	if hint := fault.HintOf(err); hint != "" {
		return fmt.Errorf("%w\nhint: %s", err, forAgents(hint))
	}
	return err
}

// A phrase is a regular expression for a part of a hint, and the tool call that
// replaces it. $1 in call is the argument as JSON.
type phrase struct{ text, call string }

// phrases are applied in order, whole hints before single commands.
var phrases = []phrase{
	{`run ken inside a repository, or: ken -C DIR …`, `give root, a directory in a git work tree: {"root": "/path/to/worktree"}`},
	{`run it inside a repository, or name the directory: ken … --dir DIR`, `give root, a directory in a git work tree, or dir, the state directory`},
	{`or: ken -C DIR …`, `or give root, a directory in the work tree that it is in`},
	{`run ken in the work tree`, `give the work tree as root`},
	{`run ken there`, `give it as root`},
	{` \(about commits, these do: ken brief --at HEAD, ken review A\.\.B\)`, ``},
	{`ken -C WORD …`, `{"root": $1}`},
	{`ken state --dir WORD …`, `{"dir": $1}`},
	{`ken state update phase=implement`, `{"action": "update", "set": {"phase": "implement"}}`},
	{`ken state update KEY=VALUE`, `{"action": "update", "set": {"KEY": "VALUE"}}`},
	{`ken state update\b`, `action update`},
	{`ken state get$`, `{"action": "get"}`},
	{`ken state get WORD`, `{"action": "get", "key": $1}`},
	{`anyway with --force`, `anyway with "force": true`},
	{`list directories(?: with)?: ken survey show$`, `give a directory with tracked files, such as the path in the answer of survey_next`},
	{`ken survey show WORD(?: --json)?`, `brief {"paths": [$1]}`},
	{`--read names the content of`, `read names the content of`},
	{`ken summary set WORD -m TEXT`, `file_registry_update_summaries {"updates": [{"path": $1, "summary": "TEXT"}]}`},
	{`see it as it was: ken (?:brief|uses) --at WORD .*`, `its last content is in the commit $1`},
	{`ken uses WORD`, `uses {"path": $1}`},
	{`ken brief WORD`, `brief {"paths": [$1]}`},
	{`ken brief$`, `brief {}`},
	{`ken find WORD`, `find {"query": $1}`},
	{`ken summary close\b`, `file_registry_update_summaries`},
	{`ken survey next\b`, `survey_next`},
	{`ken spec ls\b`, `spec {}`},
	{`ken spec show WORD`, `spec {"id": $1}`},
	{`ken spec history WORD`, `spec {"id": $1, "history": true}`},
	{`ken spec ack WORD --reason "?TEXT"?`, `spec_ack {"ids": [$1], "reason": "TEXT"}`},
}

// word is an argument as [fault.Quote] writes it.
const word = `('(?:[^']|'\\'')*'|[^\s;']+)`

// phrasePatterns compiles the phrases on first use.
var phrasePatterns = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, p := range phrases {
		all = append(all, regexp.MustCompile(strings.ReplaceAll(p.text, "WORD", word)))
	}
	return all
})

// command matches a ken command in a hint.
var command = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bken (brief|doctor|find|install|serve|share|spec|state|status|summary|survey|uses|verify|worker)\b`)
})

// forAgents replaces commands in a hint by tool calls. If a command is left, it adds
// that ken commands run in a shell.
func forAgents(text string) string {
	for i, p := range phrases {
		find := phrasePatterns()[i]
		text = find.ReplaceAllStringFunc(text, func(said string) string {
			instead := p.call
			if m := find.FindStringSubmatch(said); len(m) > 1 {
				instead = strings.ReplaceAll(instead, "$1", quoted(unquote(m[1])))
			}
			return instead
		})
	}
	if command().MatchString(text) {
		text += " (run ken commands in a shell)"
	}
	return text
}

// unquote reads a word like a shell.
func unquote(word string) string {
	if inner, ok := strings.CutPrefix(word, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, `'`)
	}
	return word
}
