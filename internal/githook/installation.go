package githook

import (
	"fmt"
	"path"

	"ken/internal/repo"
)

// Options say what is done with the hooks. The zero value puts ken's part in.
type Options struct {
	Uninstall bool // take ken's part out instead of putting it in
	DryRun    bool // only say what would be done
}

// An Installation is what was done with the hooks.
type Installation struct {
	Hooks  []Outcome `json:"hooks"`           // in the order git runs them
	DryRun bool      `json:"dry_run"`         // nothing was done
	Notes  []string  `json:"notes,omitempty"` // what the user should know
}

// An Outcome is what was done with a hook.
type Outcome struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // from the root, or absolute where it lies elsewhere
	Action string `json:"action"`
	Note   string `json:"note,omitempty"`
	Off    bool   `json:"-"` // see [Change]
}

// A Step is what is done to a hook, because of what was seen there.
type Step struct {
	Seen Place
	Change
}

// A Plan is what is done in a directory of hooks: everything is decided before
// anything is written.
type Plan []Step

// Plan decides what is done with the hooks that were seen in d.
func (d Dir) Plan(seen []Place, opts Options) (Plan, error) {
	var plan Plan
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
		plan = append(plan, Step{p, c})
	}
	return plan, nil
}

// Idle reports whether there is nothing to be done.
func (p Plan) Idle() bool {
	for _, s := range p {
		if s.Deed != Nothing {
			return false
		}
	}
	return true
}

// Installation tells of a plan for d.
func (r Repo) Installation(d Dir, plan Plan, opts Options) *Installation {
	done := &Installation{Hooks: []Outcome{}, DryRun: opts.DryRun}
	for _, s := range plan {
		name := s.Seen.Name
		done.Hooks = append(done.Hooks, Outcome{Name: name, Path: r.shown(path.Join(d.Path, name)), Action: s.Action, Note: s.Note, Off: s.Off})
	}
	return done
}
