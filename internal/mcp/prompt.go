package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A prompt describes a task that a user can start by name: which tools to call, in
// which order, until when.
type prompt struct {
	name, title, about, text string
	// path describes the path argument; "" if the prompt has none.
	path string
}

var prompts = []prompt{
	{
		name: "bootstrap", title: "Describe this repository",
		about: "Describe every directory that has no summary yet, children before parents.",
		text: `Describe this repository with ken's tools.

1. Call brief. If everything is described and fresh, stop and say so.
2. Call survey_next. Read its answer. Open a file only if that is not enough.
3. Call survey_submit with the path and lease that it names, and text: what the directory is for, where things are, what a newcomer would get wrong. Put summaries of its own files that you read into files. If the old text in the answer still holds, submit keep: true.
4. If the summary is rejected, follow the reason. If it is superseded, or fenced (your lease ended), continue with 2.
5. Repeat from 2 until no directory is ready. If some are left to describe, other agents have them: say so.

Write only what you read. At the end, list what you could not find out.`,
	},
	{
		name: "refresh", title: "Update stale summaries",
		about: "Read the changed files, and rewrite or confirm their stale summaries.",
		path:  "only below this directory, from the repository root",
		text: `Update the stale summaries of this repository.

1. Call file_registry_verify with format: "json". Take the stale paths: those with a changed interface first, then body, then the others. Note the content_id of each.
2. For each path, call brief. It returns the text.
3. Read the file. If the text still holds, keep it. If not, write a new one: what the file is for and how it works, for a reader who does not open it.
4. Call file_registry_update_summaries once for a batch: updates with path, read (the content_id that you noted), and summary, or keep: true.
5. An entry that is superseded changed while you read it: repeat it. A rejected entry has a reason.
6. Then repeat survey_next (with the path of the scope, if there is one) and survey_submit until no directory is ready, to update the directories.

Do not summarise a file that you did not read.`,
	},
	{
		name: "reconcile-drift", title: "Reconcile specs with their code",
		about: "Find specs whose code changed. Edit those that are wrong, acknowledge those that still hold.",
		path:  "only the specs that govern this path",
		text: `Compare the drifted specs of this repository with the code that they govern.

1. Call spec without arguments. Take the specs with drift, the highest grade first.
2. For each, call spec with its id and history: true. Read its text and the files that are ahead of it.
3. If the spec is wrong now, edit only the spec.md at its path. If the code is wrong, say so and change nothing. If the spec still holds, note its id.
4. Call spec_ack with the noted ids and a reason: what changed in the code, and why the spec still holds.
5. Never acknowledge a spec that you did not read. If something is unknown, say why.`,
	},
}

func (s *server) addPrompts(m *mcp.Server) {
	for _, p := range prompts {
		def := &mcp.Prompt{Name: p.name, Title: p.title, Description: p.about}
		if p.path != "" {
			def.Arguments = []*mcp.PromptArgument{{Name: "path", Description: p.path}}
		}
		m.AddPrompt(def, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := p.text
			if path := strings.TrimSpace(req.Params.Arguments["path"]); path != "" && p.path != "" {
				text += "\n\nScope: " + p.path + ": " + line(path)
			}
			return &mcp.GetPromptResult{
				Description: p.about,
				Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
			}, nil
		})
	}
}
