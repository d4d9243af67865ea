package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// CloseOptions says what an agent did. The zero value closes the commit at HEAD.
type CloseOptions struct {
	Rev     string      // the commit whose paths were touched; HEAD when empty
	Paths   []repo.Path // the touched paths; those of Rev when nil
	Updates []Update    // the texts it wrote
}

// A Closing is what closing a piece of work left behind.
type Closing struct {
	Commit       repo.ID   `json:"commit"`
	Updated      []Written `json:"updated"`
	NeedsSummary []Needed  `json:"needs_summary"`
	LastVerified repo.ID   `json:"last_verified_sha"`
	State        State     `json:"state"`
	Reasons      []Reason  `json:"reasons"`
	Counts       Counts    `json:"counts"`
}

// A Needed is a touched path whose content nobody has put into words yet.
type Needed struct {
	repo.PathJSON
	ID      repo.ID     `json:"content_id"`
	MD5     repo.MD5    `json:"content_md5"`
	Summary fresh.State `json:"summary"` // none, or stale
}

// Close ends a piece of work: the given texts are kept, the touched paths that
// still lack one are listed, and everything between the baseline and HEAD is
// verified. Only then does the baseline advance, so a commit that somebody else
// slipped in between is never vouched for unseen.
func (r *Registry) Close(ctx context.Context, opts CloseOptions) (*Closing, error) {
	touched := opts.Paths
	var commit repo.ID
	if touched == nil {
		rev := opts.Rev
		if rev == "" {
			rev = "HEAD"
		}
		var err error
		if commit, touched, err = r.git.Touched(ctx, rev); err != nil {
			return nil, err
		}
	}
	out := &Closing{Commit: commit, Updated: []Written{}, NeedsSummary: []Needed{}}
	if len(opts.Updates) > 0 {
		var err error
		if out.Updated, err = r.Write(ctx, opts.Updates); err != nil {
			return nil, err
		}
	}
	rep, err := r.Verify(ctx, VerifyOptions{})
	if err != nil {
		return nil, err
	}
	if commit.IsZero() {
		out.Commit = rep.Head
	}
	out.LastVerified, out.State, out.Reasons, out.Counts = rep.LastVerified, rep.State, rep.Reasons, rep.Counts
	known, err := r.Show(ctx, touched)
	if err != nil {
		return nil, err
	}
	for i, k := range known {
		if k.Verdict == fresh.None || k.Verdict == fresh.Stale {
			out.NeedsSummary = append(out.NeedsSummary, Needed{
				PathJSON: touched[i].JSON(), ID: k.CurrentID, MD5: k.CurrentMD5, Summary: k.Verdict,
			})
		}
	}
	return out, nil
}
