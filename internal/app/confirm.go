package app

import (
	"context"
	"fmt"

	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

// Confirm keeps what is said of files and directories for what is there now. What git
// tracks under a name is a file, a submodule included; any other name may be a
// directory's.
func (w *workspace) Confirm(ctx context.Context, paths []repo.Path, read string) ([]cli.Confirmed, error) {
	written, err := w.registry.Confirm(ctx, paths, read)
	if err != nil {
		return nil, err
	}
	out := make([]cli.Confirmed, len(written))
	var which []int
	var ask []survey.Confirmation
	for i, done := range written {
		out[i].Written = done
		if done.Untracked {
			which = append(which, i)
			ask = append(ask, survey.Confirmation{Path: paths[i], Author: author(ctx, w.git, w.author)})
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	// A basis is named by 64 digits; so is a content where git uses SHA-256, and
	// then it is another's.
	if read != "" && ask[0].Read.UnmarshalText([]byte(read)) != nil {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "take it from: ken diff " + fault.Quote(string(repo.DirLabel(ask[0].Path))),
			Err: fmt.Errorf("%s: --read %q is not the basis of a directory", repo.DirLabel(ask[0].Path), read),
		}
	}
	said, err := w.Survey(nil).Confirm(ctx, ask)
	if err != nil {
		return nil, err
	}
	for k, c := range said {
		if !c.None {
			out[which[k]] = confirmedDirectory(c, read == "")
		}
	}
	return out, nil
}

// confirmedDirectory puts a directory's answer beside those about files.
func confirmedDirectory(c survey.Confirmed, assumed bool) cli.Confirmed {
	done := cli.Confirmed{
		Written: registry.Written{PathJSON: repo.DirLabel(c.Path).JSON(), Result: registry.Stored, Reason: c.Refused},
		Basis:   c.Basis, Verdict: &c.Verdict, Reasons: c.Reasons,
	}
	if c.Refused != "" {
		done.Result = registry.Rejected
		return done
	}
	done.Assumed = assumed
	if c.Verdict != survey.Fresh {
		done.Reason = "stored, but still " + c.Verdict.Word()
	}
	for _, p := range c.Above {
		done.Above = append(done.Above, repo.DirLabel(p).JSON().Path)
	}
	return done
}
