package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A prompt is a piece of work that a user can ask for by name: which tools to call, in
// which order, until when.
type prompt struct {
	name, title, about, text string
	// path is what its argument narrows the work to; "" when it takes none.
	path string
}

var prompts = []prompt{
	{
		name: "bootstrap", title: "Describe this repository",
		about: "Describe every directory that has no text yet, leaves first.",
		text: `Describe this repository with ken's tools.

1. Call orient. If it says that everything is described and fresh, stop and say so.
2. Call survey_next. Read item.prompt: it holds all you need; open a file only where it does not.
3. Call survey_submit with path and lease as they were handed out, and text: what the directory is for, what lies where, what a newcomer would get wrong. Put summaries of its own files that you read into files. If the old text in the prompt still holds, submit keep: true.
4. If result is rejected, the reason says what to do better; if superseded or fenced, go on with 2.
5. Repeat from 2 until item is null. If remaining is not 0 then, others hold what remains: say so.

State only what you read. Finish with what you could not tell.`,
	},
	{
		name: "refresh", title: "Bring stale knowledge up to date",
		about: "Read what changed, and write or confirm the summaries that are stale.",
		path:  "only below this directory, from the repository root",
		text: `Bring what ken knows about this repository up to date.

1. Call file_registry_verify. Take the paths whose summary is stale, the grade interface first, then body, then content.
2. For each, call knowledge with its path: the text, its grade, and current_id, the content that is there now.
3. Read the file. If the text still holds, keep it; else write a new one: what the file is for and how it works, for a colleague who will not open it.
4. Call file_registry_update_summaries once for a batch: updates with path, read (the current_id of what you read), and summary, or keep: true.
5. What comes back as superseded changed while you read: take it again. What is rejected says why.
6. Then survey_next and survey_submit until item is null, for the directories above.

Do not summarise what you did not read.`,
	},
	{
		name: "reconcile-drift", title: "Reconcile specs with their code",
		about: "Find specs that their code has moved away from; edit what is wrong, acknowledge what still holds.",
		path:  "only the nodes that govern this path",
		text: `Reconcile the specs of this repository with the code that they govern.

1. Call spec without arguments. Take the nodes with drift, the highest grade first.
2. For each, call spec with its id and history: true. Read its body, and the files named in behind.
3. Decide: if the spec is wrong now, edit the spec.md at its path so that it is right, together with nothing else. If the code is wrong, say so and leave both. If the spec still holds, collect its id.
4. Call spec_ack with the ids that hold and a reason that names what changed in the code and why that does not matter to the spec.
5. Never acknowledge what you did not read. What is unknown stays so: say why.`,
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
				text += "\n\nThis time " + p.path + ": " + line(path)
			}
			return &mcp.GetPromptResult{
				Description: p.about,
				Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
			}, nil
		})
	}
}
