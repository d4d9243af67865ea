package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/usage"
)

type usesInput struct {
	commonInput
	Path   string `json:"path,omitempty" jsonschema:"file or directory, or PATH#SYMBOL"`
	Symbol string `json:"symbol,omitempty" jsonschema:"name or Type.method"`
	Tests  bool   `json:"tests,omitempty" jsonschema:"only the tests"`
	All    bool   `json:"all,omitempty"`
}

// check returns an error if nothing is asked for.
func (in usesInput) check() error {
	if in.Path+in.Symbol == "" {
		return &fault.Error{Hint: "for example: " + exampleOf("uses", []string{"path", "symbol"}), Err: errors.New("set path or symbol")}
	}
	return nil
}

func (s *server) addUses(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "uses", Title: "Who uses a symbol or file",
		Description: "Who uses it, with lines and how sure ken is; what it uses; the command that runs its tests; what changes with it. " +
			"Mentions that ken cannot resolve, and what it could not read, are listed apart.",
		Annotations: readOnly(),
	}, func(ctx context.Context, w *ken.Repository, in usesInput) (answer, error) {
		asked := in.Path
		if in.Symbol != "" {
			asked = strings.TrimPrefix(in.Path+"#"+in.Symbol, "#")
		}
		a, err := usersOf(ctx, w, usage.Query{Asked: asked, Tests: in.Tests})
		if err != nil {
			return nil, err
		}
		doc := featureDocument{a, a.Quoted(in.All)}
		if in.Tests {
			doc.document = a.TestsDocument()
		}
		return doc, nil
	})
}

// usersOf answers a query whose paths start at the root.
func usersOf(ctx context.Context, w *ken.Repository, q usage.Query) (*usage.Answer, error) {
	q.FromRoot = true
	q.Limit = usage.NoLimit // the text has its own limits
	return usage.Ask(ctx, w.Finder(), q)
}
