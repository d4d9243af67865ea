package install

import (
	"fmt"
	"path"
	"slices"

	"ken/internal/repo"
)

// A HooksResult is the result of installing the git hooks.
type HooksResult struct {
	Hooks  []FileResult `json:"hooks"`           // in the order in which git runs them
	DryRun bool         `json:"dry_run"`         // nothing was changed
	Notes  []string     `json:"notes,omitempty"` // what the user should know
}

// A HookStep is the change of a hook, with the hook before it.
type HookStep struct {
	Seen Hook
	FileChange
}

// A HookPlan has the changes of all hooks, decided before the first one is written.
type HookPlan []HookStep

// Plan decides the changes of the hooks in d.
func (d HooksDir) Plan(seen []Hook, opts Options) (HookPlan, error) {
	var plan HookPlan
	for _, p := range seen {
		p.Sourced = d.Sourced
		decide := p.Install
		if opts.Uninstall {
			decide = p.Uninstall
		}
		c, err := decide()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", repo.Path(d.Path), err)
		}
		plan = append(plan, HookStep{p, c})
	}
	return plan, nil
}

// Idle reports whether the plan changes nothing.
func (p HookPlan) Idle() bool {
	return !slices.ContainsFunc(p, func(s HookStep) bool { return s.Op != Nothing })
}

// Result reports a plan for d.
func (r RepoDirs) Result(d HooksDir, plan HookPlan, opts Options) *HooksResult {
	done := &HooksResult{Hooks: []FileResult{}, DryRun: opts.DryRun}
	for _, s := range plan {
		name := s.Seen.Name
		done.Hooks = append(done.Hooks, FileResult{Name: name, Path: r.shown(path.Join(d.Path, name)), Action: s.Action, Note: s.Note, Off: s.Off})
	}
	return done
}
