package modeltest

import (
	"encoding/json"

	"ken/internal/model"
)

// CallReply returns a reply that calls a tool.
func CallReply(name string, args any) model.Reply {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return model.Reply{Stop: model.ToolUse, Calls: []model.Call{{ID: "1", Name: name, Args: b}}}
}

// SubmitReply returns a reply that submits a summary.
func SubmitReply(text string) model.Reply {
	return CallReply("submit", map[string]any{"summary": text})
}

// LastMessage returns the text of the last message to the model, with the results of its calls.
func LastMessage(req model.Request) string {
	last := req.Messages[len(req.Messages)-1]
	text := last.Text
	for _, r := range last.Results {
		text += r.Text
	}
	return text
}
