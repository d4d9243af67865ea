package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

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
	print(out *text)
}

// A text is what an agent reads. Texts of the repository are in quotes.
type text struct {
	term.IO
	quoted bool // something is in quotes
}

// name returns a name of the repository, in quotes unless it is one ordinary word.
func (t *text) name(name string) string {
	shown := repo.QuotedName(name)
	t.quoted = t.quoted || shown != name
	return shown
}

// quote returns a text of the repository in quotes; "" stays.
func (t *text) quote(said string) string {
	if strings.TrimSpace(said) == "" {
		return ""
	}
	t.quoted = true
	return repo.Quotation(said)
}

// textOf returns the text of an answer, after the note about quotations if it has some.
func textOf(a answer) string {
	var b bytes.Buffer
	t := &text{IO: term.IO{Out: &b, Err: &b}}
	a.print(t)
	if t.quoted {
		return repo.QuotationNote + "\n" + b.String()
	}
	return b.String()
}

// commonInput has the arguments of every tool.
type commonInput struct {
	Root   string       `json:"root,omitempty"`
	Format answerFormat `json:"format,omitempty"`
}

// An answerFormat is text or json; "" is text.
type answerFormat string

func (c commonInput) common() commonInput { return c }

// result returns an answer in a format.
func result(a answer, f answerFormat) (*mcp.CallToolResult, error) {
	said := ""
	if f == "json" {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(a); err != nil {
			return nil, fmt.Errorf("write the answer: %w", err)
		}
		said = string(repo.EscapeJSON(b.Bytes()))
	} else {
		said = textOf(a)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
}

// listLimit is the default for the lines of a list, so that it does not fill an agent's
// context.
const listLimit = 50

// textRunes limits a text on one line.
const textRunes = 160

// line shortens a text to one line.
func line(text string) string {
	return repo.Shorten(strings.Join(strings.Fields(text), " "), textRunes)
}
