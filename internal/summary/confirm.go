// Package summary answers for the summaries of files and directories together.
// Files belong to registry, directories to survey.
package summary

import (
	"context"
	"fmt"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/tree"
)

// Summaries are the summaries of one repository.
type Summaries struct {
	Registry *registry.Registry
	Sources  tree.Sources
	Surveys  *survey.Factory
	Author   func(context.Context) string // who confirms
}

// Confirmed is the result of a confirmation. Verdict, Reasons, Basis and Above are about directories.
type Confirmed struct {
	registry.WriteResult
	Basis   fresh.Digest   `json:"basis,omitzero"`
	Verdict *fresh.Verdict `json:"verdict,omitempty"`
	Reasons []string       `json:"reasons,omitempty"`
	Above   []string       `json:"above,omitempty"` // directories above it that are fresh again because of it
}

// Confirm records that the summaries of files and directories hold for their current content or, for one path, for the
// content that read names. A path that git tracks is a file, also if it is a submodule; any other path may be a
// directory.
func (s *Summaries) Confirm(ctx context.Context, paths []repo.Path, read string) ([]Confirmed, error) {
	written, err := s.Registry.Confirm(ctx, paths, read)
	if err != nil {
		return nil, err
	}
	out := make([]Confirmed, len(written))
	var which []int
	var ask []survey.Confirmation
	for i, done := range written {
		out[i].WriteResult = done
		if done.Untracked {
			which = append(which, i)
			ask = append(ask, survey.Confirmation{Path: paths[i], Author: s.Author(ctx)})
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	// A basis has 64 digits. So has a content id in a repository with SHA-256; such an id is no basis of this directory.
	if read != "" && ask[0].Read.UnmarshalText([]byte(read)) != nil {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "take it from: ken summary diff " + fault.Quote(string(repo.DirLabel(ask[0].Path))),
			Err: fmt.Errorf("%s: --read %q is not the basis of a directory", repo.DirLabel(ask[0].Path), read),
		}
	}
	confirmed, err := s.Surveys.WorkTree(nil).Confirm(ctx, ask)
	if err != nil {
		return nil, err
	}
	for k, c := range confirmed {
		if !c.NotFound {
			out[which[k]] = confirmedDirectory(c, read == "")
		}
	}
	return out, nil
}

// confirmedDirectory returns the result for a directory in the form of those for files.
func confirmedDirectory(c survey.Confirmed, assumed bool) Confirmed {
	done := Confirmed{
		WriteResult: registry.WriteResult{PathJSON: repo.DirLabel(c.Path).JSON(), Result: registry.Stored, Reason: c.Refused},
		Basis:       c.Basis, Verdict: &c.Verdict, Reasons: c.Reasons,
	}
	if c.Refused != "" {
		done.Result = registry.Rejected
		return done
	}
	done.Assumed = assumed
	if c.Verdict.State != fresh.Fresh {
		done.Reason = "stored, but still " + c.Verdict.Word()
	}
	for _, p := range c.Above {
		done.Above = append(done.Above, repo.DirLabel(p).JSON().Path)
	}
	return done
}
