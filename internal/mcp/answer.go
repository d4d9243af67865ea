package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/repo"
	"ken/internal/term"
)

// An answer is the document that a tool returns. Agents get what print writes: the lines
// of the command line, in the words of tools. With format "json" they get the document.
//
// Tools return no structured content: Claude Code and VS Code show a model only the
// structured part of an answer that has one.
type answer interface {
	print(out *term.IO)
}

// commonInput has the arguments of every tool.
type commonInput struct {
	Root   string       `json:"root,omitempty" jsonschema:"directory in a work tree; default: the server's"`
	Format answerFormat `json:"format,omitempty"`
}

// An answerFormat is text or json; "" is text.
type answerFormat string

func (c commonInput) format() answerFormat { return c.Format }

// result returns an answer in a format.
func result(a answer, f answerFormat) (*mcp.CallToolResult, error) {
	var b bytes.Buffer
	if f == "json" {
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(a); err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
		safe := repo.EscapeJSON(b.Bytes())
		b = *bytes.NewBuffer(safe)
	} else {
		a.print(&term.IO{Out: &b, Err: &b})
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: b.String()}}}, nil
}

// listLimit is the default for the lines of a list, so that it does not fill an agent's
// context.
const listLimit = 50
