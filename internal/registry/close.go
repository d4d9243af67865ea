package registry

import (
	"context"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// CloseOptions describe the work of an agent. The zero value closes the commit at HEAD.
type CloseOptions struct {
	Rev     string      // the commit that touched the paths; HEAD if empty
	Paths   []repo.Path // the touched paths; those of Rev if nil
	Updates []Update    // the summaries that the agent wrote
}

// A CloseResult is the result of Close.
type CloseResult struct {
	Commit       repo.ID              `json:"commit"`
	Updated      []WriteResult        `json:"updated"`
	NeedsSummary []FileNeedingSummary `json:"needs_summary"`
	Unknown      string               `json:"unknown,omitempty"` // why the touched paths are unknown
	LastVerified repo.ID              `json:"last_verified_sha"`
	State        State                `json:"state"`
	Reasons      []Reason             `json:"reasons"`
	Counts       Counts               `json:"counts"`
}

// A FileNeedingSummary is a touched path without a current summary.
type FileNeedingSummary struct {
	repo.PathJSON
	ID      repo.ID     `json:"content_id"`
	MD5     repo.MD5    `json:"content_md5"`
	Summary fresh.State `json:"summary"` // none, or stale
}

// Close ends a piece of work. It stores the given summaries, lists touched paths without a summary, and verifies
// everything since the last verification. Only then does the recorded commit move to HEAD, so commits of others in
// between are verified too.
func (r *Registry) Close(ctx context.Context, opts CloseOptions) (*CloseResult, error) {
	out := &CloseResult{Updated: []WriteResult{}, NeedsSummary: []FileNeedingSummary{}}
	touched, err := r.touched(ctx, opts, out)
	if err != nil {
		return nil, err
	}
	if len(opts.Updates) > 0 {
		if out.Updated, err = r.Write(ctx, opts.Updates); err != nil {
			return nil, err
		}
	}
	rep, err := r.Verify(ctx, VerifyOptions{})
	if err != nil {
		return nil, err
	}
	if out.Commit.IsZero() {
		out.Commit = rep.Head
	}
	out.LastVerified, out.State, out.Reasons, out.Counts = rep.LastVerified, rep.State, rep.Reasons, rep.Counts
	known, err := r.Show(ctx, touched)
	if err != nil {
		return nil, err
	}
	for i, k := range known {
		if !k.untracked && (k.Verdict == fresh.None || k.Verdict == fresh.Stale) {
			out.NeedsSummary = append(out.NeedsSummary, FileNeedingSummary{
				PathJSON: touched[i].JSON(), ID: k.CurrentID, MD5: k.CurrentMD5, Summary: k.Verdict,
			})
		}
	}
	return out, nil
}

// touched returns the paths that the work touched. If git does not know what HEAD changed, as at the edge of a
// shallow clone, Close still stores the given summaries: their paths count as touched, and Unknown says why.
func (r *Registry) touched(ctx context.Context, opts CloseOptions, out *CloseResult) ([]repo.Path, error) {
	if opts.Paths != nil {
		return opts.Paths, nil
	}
	rev := opts.Rev
	if rev == "" {
		rev = "HEAD"
	}
	commit, paths, err := r.git.ChangedBy(ctx, rev)
	if err == nil || opts.Rev != "" || len(opts.Updates) == 0 || ctx.Err() != nil {
		out.Commit = commit
		return paths, err
	}
	out.Unknown = err.Error()
	for _, u := range opts.Updates {
		if u.Refused == "" {
			paths = append(paths, u.Path)
		}
	}
	return paths, nil
}
