package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/term"
)

type findInput struct {
	commonInput
	Words findWords `json:"words" jsonschema:"words of the task, or a list of terms"`
	Kind  string    `json:"kind,omitempty" jsonschema:"only these, such as code,test,doc"`
	Limit int       `json:"limit,omitempty" jsonschema:"most places to list; default 10"`
}

// findWords is a string or a list of strings; [normalise] makes it a list.
type findWords []string

func (s *server) addFind(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "find",
		Description: "Call this first when you look for code: from a task in words to the places that matter, best first, each with line, symbol and reason. " +
			"Searches names, code, comments, summaries, specs, documents and past commits.",
		Annotations: readOnly(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in findInput) (answer, error) {
		if strings.TrimSpace(strings.Join(in.Words, "")) == "" {
			return nil, &fault.Error{
				Kind: fault.Usage, Hint: "for example: " + exampleOf("find", []string{"words"}),
				Err: errors.New("words is empty"),
			}
		}
		return withRepository(ctx, s, req, in.Root, func(w *ken.Repository) (answer, error) {
			kinds, err := find.ParseKinds(kindsOf(in.Kind))
			if err != nil {
				return nil, &fault.Error{Kind: fault.Usage, Err: err}
			}
			found, err := w.Finder().Find(ctx, find.Query{Words: in.Words, Limit: in.Limit, Kinds: kinds}, repo.ID{})
			if err != nil {
				return nil, err
			}
			return featureDocument{found, found.Quoted()}, nil
		})
	})
}

// kindsOf splits a list of kinds.
func kindsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// A featureDocument is an answer whose text and JSON form a feature makes.
type featureDocument struct {
	document any
	text     string // with texts of the repository in quotes
}

// MarshalJSON writes the document of the feature.
func (d featureDocument) MarshalJSON() ([]byte, error) { return json.Marshal(d.document) }

func (d featureDocument) print(out *text) { out.Printf("%s", term.CleanText(d.text)) }
