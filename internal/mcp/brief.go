package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/brief"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/usage"
)

type briefInput struct {
	commonInput
	Paths  []string `json:"paths,omitempty" jsonschema:"files, directories or PATH#SYMBOL"`
	Budget int      `json:"budget,omitempty" jsonschema:"size of the answer in tokens; default 1500"`
}

// check returns an error if the budget is too small for an answer.
func (in briefInput) check() error {
	if in.Budget != 0 && in.Budget < brief.MinBudget {
		return fmt.Errorf("budget is %d: set at least %d, or leave it out", in.Budget, brief.MinBudget)
	}
	return nil
}

func (s *server) addBrief(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "brief", Title: "What to know about a place",
		Description: "Without paths: is ken's knowledge current, what the repository is, how to build, test and lint. With paths: what they are for, " +
			"instructions, symbols, users, tests, what changes with them. [stale] texts describe older content.",
		Annotations: readOnly(),
	}, func(ctx context.Context, w *ken.Repository, in briefInput) (answer, error) {
		if len(in.Paths) > 0 {
			return briefPaths(ctx, w, in)
		}
		o, err := w.Briefer().Orient(ctx, in.Budget)
		if err != nil {
			return nil, err
		}
		return orientation{o}, nil
	})
}

// An orientation is the state of the repository and its brief.
type orientation struct{ *registry.Orientation }

func (o orientation) print(out *text) {
	out.Printf("%s", o.Brief)
	if o.LeftOut > 0 {
		out.Remarkf("%s left out: call brief with paths, or raise budget", english.Count(o.LeftOut, "line"))
	}
}

// A briefAnswer has the briefs of paths, in their order.
type briefAnswer struct {
	Briefs []pathBrief `json:"briefs"`
	// LeftOut counts the paths that had no room within the budget.
	LeftOut int `json:"left_out"`
}

// A pathBrief is the brief of a path, or the reason why there is none.
type pathBrief struct {
	repo.PathJSON
	Brief *featureDocument `json:"brief,omitempty"`
	Error string           `json:"error,omitempty"`
	Hint  string           `json:"hint,omitempty"`

	text string
}

// briefPaths answers for each path with an equal part of the budget; what one does not need, the
// next ones get. A wrong path is an error for this path alone, unless all are wrong.
func briefPaths(ctx context.Context, w *ken.Repository, in briefInput) (answer, error) {
	names := in.Paths
	left := cmp.Or(in.Budget, brief.DefaultBudget)
	out := &briefAnswer{Briefs: []pathBrief{}}
	var failed []error
	for i, name := range names {
		share := left / (len(names) - i)
		if share < brief.MinBudget {
			share = min(left, brief.MinBudget)
		}
		if share < brief.MinBudget {
			out.LeftOut = len(names) - i
			break
		}
		b, err := briefPath(ctx, w, name, share)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			failed = append(failed, err)
			b = pathBrief{PathJSON: repo.PathJSON{Path: name}, Error: err.Error(), Hint: forAgents(fault.HintOf(err))}
		}
		out.Briefs = append(out.Briefs, b)
		left -= (len(b.text) + brief.BytesPerToken - 1) / brief.BytesPerToken
	}
	if len(failed) == len(names) {
		return nil, allFailed(failed)
	}
	return out, nil
}

// allFailed returns the errors of all paths as one, each with its hint.
func allFailed(list []error) error {
	if len(list) == 1 {
		return list[0]
	}
	for i, err := range list {
		list[i] = withHint(err)
	}
	return errors.New(errors.Join(list...).Error())
}

func briefPath(ctx context.Context, w *ken.Repository, name string, budget int) (pathBrief, error) {
	if strings.Contains(name, "#") {
		return briefSymbol(ctx, w, name)
	}
	path, err := w.RootPath(name)
	if err != nil {
		return pathBrief{}, err
	}
	b, err := w.Briefer().Brief(ctx, brief.Options{Path: path, Budget: budget})
	if err != nil {
		if !strings.Contains(name, "/") {
			if s, failed := briefSymbol(ctx, w, name); failed == nil {
				return s, nil
			}
		}
		return pathBrief{}, err
	}
	text, _ := b.Quoted(budget * brief.BytesPerToken)
	return pathBrief{PathJSON: repo.DirLabel(path).JSON(), Brief: &featureDocument{b, ""}, text: text}, nil
}

// briefSymbol says who uses a symbol, and what tests it.
func briefSymbol(ctx context.Context, w *ken.Repository, name string) (pathBrief, error) {
	u, err := usersOf(ctx, w, usage.Query{Asked: name})
	if err != nil {
		return pathBrief{}, err
	}
	return pathBrief{PathJSON: repo.PathJSON{Path: name}, Brief: &featureDocument{u, ""}, text: u.Quoted(false)}, nil
}

func (b *briefAnswer) print(out *text) {
	for i, p := range b.Briefs {
		if len(b.Briefs)+b.LeftOut > 1 {
			if i > 0 {
				out.Printf("\n")
			}
			out.Printf("== %s ==\n", term.Clean(out.name(p.Display())))
		}
		if p.Error != "" {
			out.Printf("error: %s\n", term.CleanText(p.Error))
			if p.Hint != "" {
				out.Printf("hint: %s\n", term.CleanText(p.Hint))
			}
			continue
		}
		out.Printf("%s\n", strings.TrimRight(p.text, "\n"))
	}
	if b.LeftOut > 0 {
		out.Remarkf("\n%s left out: raise budget, or ask again for them", english.Count(b.LeftOut, "path"))
	}
}
