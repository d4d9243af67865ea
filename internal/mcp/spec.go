package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/unicode/norm"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
)

type specInput struct {
	commonInput
	ID      string   `json:"id,omitempty" jsonschema:"one spec: its text and status"`
	Paths   []string `json:"paths,omitempty" jsonschema:"files: the specs that govern them, and their status"`
	History bool     `json:"history,omitempty" jsonschema:"with id: also list its versions"`
	Limit   int      `json:"limit,omitempty" jsonschema:"most specs to list; default 30"`
}

// specLimit keeps a list from filling an agent's context. Omitted counts the others.
const specLimit = 30

func (s *server) addSpec(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "spec",
		Description: "Specs say what files are meant to do. Set id or paths; with none, lists all specs, most drift first. " +
			"Call with paths before you edit them. drift: commits to governed files since the spec was edited or acknowledged.",
		Annotations: readOnly(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in specInput) (answer, error) {
		return withRepository(ctx, s, req, in.Root, func(w *ken.Repository) (answer, error) {
			out, err := answerSpec(ctx, w, in)
			if err != nil {
				return nil, withSpecHint(err)
			}
			return out, nil
		})
	})
}

// withSpecHint replaces the hint of an error about specs, which names a command, by one
// that names the tool.
func withSpecHint(err error) error {
	hint := ""
	none, isNone := errors.AsType[*spec.UnknownSpecError](err)
	switch {
	case errors.Is(err, spec.ErrNoReason):
		hint = "set reason: why the specs still hold"
	case errors.Is(err, spec.ErrNoNodes), isNone && len(none.Near) == 0:
		hint = "call spec without arguments to list the specs"
	default:
		return err
	}
	return &fault.Error{Kind: fault.KindOf(err), Hint: hint, Err: err}
}

func answerSpec(ctx context.Context, w *ken.Repository, in specInput) (*specAnswer, error) {
	in.ID = nodeID(in.ID)
	limit := in.Limit
	if limit <= 0 {
		limit = specLimit
	}
	switch {
	case in.ID != "" && len(in.Paths) > 0:
		return nil, &fault.Error{
			Kind: fault.Usage, Err: errors.New("set only one of id, paths"),
			Hint: "id shows one spec, paths lists the specs that govern files; none of them lists all specs",
		}
	case in.History && in.ID == "":
		return nil, &fault.Error{Kind: fault.Usage, Err: errors.New("history needs id"), Hint: "set id as well"}
	case in.ID != "":
		return specOf(ctx, w.Spec(), in.ID, in.History)
	case len(in.Paths) > 0:
		paths, wrong, err := rootPaths(w, in.Paths)
		if err != nil {
			return nil, err
		}
		out, err := specOwners(ctx, w.Spec(), paths, limit)
		if err != nil {
			return nil, err
		}
		out.Wrong = wrong
		return out, nil
	}
	l, err := w.Spec().List(ctx)
	if err != nil {
		return nil, err
	}
	return listAnswer(l, limit), nil
}

// nodeID normalises an id: copied from a directory name, it may have another Unicode
// form.
func nodeID(asked string) string { return norm.NFC.String(strings.TrimSpace(asked)) }

// specOf answers for one spec. A spec that only another worktree has comes without its
// text.
func specOf(ctx context.Context, r *spec.Reader, id string, history bool) (*specAnswer, error) {
	l, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	seen := nodeIn(l, id)
	n, err := r.Node(ctx, id)
	switch {
	case seen != nil && seen.Ghost:
		return nodeAnswer(l, seen, nil), nil
	case err != nil:
		return nil, err
	case seen == nil:
		return nil, errChanged
	}
	out := nodeAnswer(l, seen, &n.Body)
	if history {
		rows, err := r.History(ctx, id)
		if err != nil {
			out.Node.Unknown = append(out.Node.Unknown, fault.NewUnknown(spec.FactHistory, err))
		}
		out.Node.addHistory(rows)
	}
	return out, ctx.Err()
}

// errChanged means that the specs changed during the call.
var errChanged = &fault.Error{Hint: "call again", Err: errors.New("the specs changed while ken read them")}

func nodeIn(l *spec.Listing, id string) *spec.ListedSpec {
	for i := range l.Nodes {
		if l.Nodes[i].ID == id {
			return &l.Nodes[i]
		}
	}
	return nil
}

// specOwners returns the specs that govern paths, with their status.
func specOwners(ctx context.Context, r *spec.Reader, paths []repo.Path, limit int) (*specAnswer, error) {
	owners, err := r.Owners(ctx, paths)
	if err != nil {
		return nil, err
	}
	l, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	return ownersAnswer(l, owners, limit), nil
}
