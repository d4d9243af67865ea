package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/term"
)

type findInput struct {
	commonInput
	Query phrasings `json:"query" jsonschema:"words, or a list of phrasings"`
	Kind  string    `json:"kind,omitempty" jsonschema:"only code, test or doc"`
	Limit int       `json:"limit,omitempty" jsonschema:"default 10"`
}

// phrasings is a string or a list of strings; [normalise] makes it a list.
type phrasings []string

// check returns an error if the query has no word.
func (in findInput) check() error {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.ContainsFunc(strings.Join(in.Query, ""), isWord) {
		return nil
	}
	return &fault.Error{Hint: "for example: " + exampleOf("find", []string{"query"}), Err: errors.New("query is empty: give words")}
}

func (s *server) addFind(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "find", Title: "Find code by words",
		Description: "Lists the places that matter, best first, with line, symbol and reason. Give four to eight words that the code itself would use " +
			"(parts of names, terms, messages), not the user's sentence; if unsure, several phrasings.",
		Annotations: readOnly(),
	}, func(ctx context.Context, w *ken.Repository, in findInput) (answer, error) {
		kinds, err := find.ParseKinds(strings.FieldsFunc(in.Kind, func(r rune) bool { return r == ',' || r == ' ' }))
		if err != nil {
			return nil, &fault.Error{Kind: fault.Usage, Err: err}
		}
		found, err := w.Finder().FindAny(ctx, in.Query, find.Query{Limit: in.Limit, Kinds: kinds}, repo.ID{})
		if err != nil {
			return nil, err
		}
		return featureDocument{found, found.Quoted()}, nil
	})
}

// A featureDocument is an answer whose text and JSON form a feature makes.
type featureDocument struct {
	document any
	text     string // with texts of the repository in quotes
}

// MarshalJSON writes the document of the feature.
func (d featureDocument) MarshalJSON() ([]byte, error) { return json.Marshal(d.document) }

func (d featureDocument) print(out *text) { out.Printf("%s", term.CleanText(d.text)) }
