package mcp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

type verifyInput struct {
	commonInput
	Paths []string `json:"paths,omitempty" jsonschema:"files or directories; default: all"`
	Full  bool     `json:"full,omitempty" jsonschema:"read even unchanged files"`
	Dry   bool     `json:"dry,omitempty" jsonschema:"write nothing"`
	All   bool     `json:"all,omitempty" jsonschema:"list unchanged files too"`
	Limit int      `json:"limit,omitempty" jsonschema:"default 50"`
}

// A verified is a report with a limited list of verdicts, those first that need attention.
type verified struct {
	*registry.Report
	Omitted int         `json:"omitted"` // verdicts left out
	Wrong   []pathError `json:"errors,omitempty"`
}

func (s *server) addVerify(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "file_registry_verify", Title: "Compare files with their records",
		Description: "Compares files with their recorded content. Returns counts, then one line per path: match, mismatch, missing or new, " +
			"and whether its summary holds (fresh, stale, none).",
		Annotations: additive(),
	}, func(ctx context.Context, w *ken.Repository, in verifyInput) (answer, error) {
		only, wrong, err := rootPaths(w, in.Paths)
		if err != nil {
			return nil, err
		}
		short := in.Format != "json" && !in.All
		verify := w.Registry.Verify
		if in.Dry {
			verify = w.Registry.Status
		}
		opts := registry.VerifyOptions{Full: in.Full, All: in.All, Paths: only, OmitNew: short, OmitSparse: short}
		rep, err := verify(ctx, opts)
		if untracked, ok := errors.AsType[*registry.NotTrackedError](err); ok && len(untracked.Paths) < len(only) {
			for _, p := range untracked.Paths {
				wrong = append(wrong, pathError{Path: p.JSON().Path, Error: "not tracked", Hint: fault.HintOf(err)})
			}
			opts.Paths = slices.DeleteFunc(only, func(p repo.Path) bool { return slices.Contains(untracked.Paths, p) })
			rep, err = verify(ctx, opts)
		}
		if err != nil {
			return nil, err
		}
		out := limitVerdicts(rep, cmp.Or(in.Limit, listLimit))
		out.Wrong = wrong
		return out, nil
	})
}

// limitVerdicts keeps the verdicts that need attention most.
func limitVerdicts(rep *registry.Report, limit int) *verified {
	out := &verified{Report: rep}
	slices.SortStableFunc(rep.Verdicts, func(a, b registry.FileState) int { return cmp.Compare(urgency(a), urgency(b)) })
	if n := len(rep.Verdicts); n > limit {
		rep.Verdicts, out.Omitted = rep.Verdicts[:limit], n-limit
	}
	return out
}

// urgency is 0 for the paths that need attention most.
func urgency(v registry.FileState) int {
	word, _ := v.Describe()
	i := slices.Index([]string{"stale", "gone", "changed", "new", "fresh", "none", "excluded", "sparse"}, word)
	return i + 1 // unknown and conflicted are not in the list
}

func (v *verified) print(out *text) {
	out.Printf("%s\n", term.Clean(v.Headline()))
	sparse := v.Counts.Sparse
	for _, f := range v.Verdicts {
		if f.Content.Reason == fresh.NotCheckedOut {
			sparse--
		}
		finding, why := f.Content.String(), ""
		switch word, reason := f.Describe(); {
		case word == finding:
			why = reason
		case reason == "":
			why = word
		default:
			why = word + ": " + reason
		}
		if f.PathChanged != "" || f.Content.State == fresh.Unknown { // the reason names a path
			why = out.quote(why)
		}
		out.Line(term.Plain, finding, out.name(f.RawPath().String()), why)
	}
	printWrong(out, v.Wrong)
	if v.Omitted > 0 {
		out.Remarkf("%d more: set limit, or paths to a directory", v.Omitted)
	} else if sparse > 0 {
		out.Line(term.Dim, "sparse", english.Count(sparse, "file"), "not checked out")
	}
	if v.Counts.Stale > 0 {
		out.Remarkf("hint: read the stale files, then call file_registry_update_summaries")
	}
}
