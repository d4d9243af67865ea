package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/english"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/term"
)

type docsInput struct {
	commonInput
	Paths []string `json:"paths,omitempty" jsonschema:"documents or directories; default: all"`
	Limit int      `json:"limit,omitempty" jsonschema:"default 50"`
}

// A staleDocs is a report about documents, with the mentions in instruction files first.
type staleDocs struct {
	docs.DocumentsJSON
	Mentions []docs.MentionJSON `json:"mentions"`
	Omitted  int                `json:"omitted"`
	Wrong    []pathError        `json:"errors,omitempty"`

	stale []docs.CheckedMention // those of Mentions
}

func (s *server) addDocs(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "docs", Title: "Stale lines of documents",
		Description: "Lines of AGENTS.md, skills, README and docs that are no longer true: each names a path, symbol, command or option that was " +
			"there when the line was written and is gone or moved now, with the commit. Call it before you rely on a document.",
		Annotations: readOnly(),
	}, func(ctx context.Context, w *ken.Repository, in docsInput) (answer, error) {
		paths, wrong, err := rootPaths(w, in.Paths)
		if err != nil {
			return nil, err
		}
		rep, err := w.Documents().Check(ctx, docs.Options{Paths: paths})
		if err != nil {
			return nil, err
		}
		for _, p := range rep.WithoutDocuments {
			wrong = append(wrong, pathError{Path: p.JSON().Path, Error: "no tracked document"})
		}
		return staleIn(rep, cmp.Or(in.Limit, listLimit), wrong), nil
	})
}

func staleIn(rep *docs.Report, limit int, wrong []pathError) *staleDocs {
	out := &staleDocs{DocumentsJSON: rep.JSON(), Mentions: []docs.MentionJSON{}, Wrong: wrong, stale: rep.Stale()}
	slices.SortStableFunc(out.stale, func(a, b docs.CheckedMention) int { return cmp.Compare(rank(a.File), rank(b.File)) })
	if n := len(out.stale); n > limit {
		out.stale, out.Omitted = out.stale[:limit], n-limit
	}
	for i := range out.stale {
		out.Mentions = append(out.Mentions, out.stale[i].JSON())
	}
	return out
}

// rank is 0 for instruction files of agents, which an agent has read already.
func rank(p repo.Path) int {
	if mention.RoleOf(p) == mention.Agent {
		return 0
	}
	return 1
}

func (d *staleDocs) print(out *text) {
	checked := 0
	for _, n := range d.Counts {
		checked += n
	}
	out.Printf("%s in %s (%d checked)\n", english.Count(len(d.stale)+d.Omitted, "stale mention"), english.Count(d.Documents, "document"), checked)
	for i := range d.stale {
		m := &d.stale[i]
		verdict := m.Verdict.String()
		said := strings.TrimLeft(strings.TrimPrefix(m.Quoted(subjectLength), verdict), " ,")
		out.Line(term.Plain, verdict, fmt.Sprintf("%s:%d", out.name(m.File.String()), m.Line), out.quote(m.Text)+"  "+said)
	}
	printWrong(out, d.Wrong)
	var hidden []string
	for _, why := range slices.Sorted(maps.Keys(d.Hidden)) {
		hidden = append(hidden, fmt.Sprintf("%s %d", why, d.Hidden[why]))
	}
	if len(hidden) > 0 {
		out.Printf("not listed: %s; see them in a shell: ken docs --all\n", strings.Join(hidden, ", "))
	}
	if d.Omitted > 0 {
		out.Remarkf("%d more: set limit, or paths", d.Omitted)
	}
	for _, u := range d.Unknown {
		out.Line(term.Plain, "unknown", u.What, out.quote(u.Why))
	}
}

// subjectLength is how many characters of a commit's subject a line has.
const subjectLength = 72
