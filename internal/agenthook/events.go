package agenthook

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ken/internal/brief"
	"ken/internal/fault"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/spec"
	"ken/internal/tree"
)

// Features are the features of a repository that hooks ask.
type Features struct {
	tree.Sources
	Finder    *find.Finder
	Briefer   *brief.Briefer
	Reviewer  *review.Reviewer
	Spec      *spec.Reader
	Threshold int // of the gate
}

// A Call is one call of a hook in a session.
type Call struct {
	Features
	Memory *Memory       // of the session
	Left   time.Duration // the time that the hook has; 0 is no limit

	lines strings.Builder // to add to the memory
}

// NewLines returns the lines to add to the memory of the session.
func (h *Call) NewLines() string { return h.lines.String() }

// Answer returns the text for the agent, "" for none.
func (h *Call) Answer(ctx context.Context, e Event, c Input) (string, error) {
	switch e {
	case SessionStart, SubagentStart:
		return h.greet(ctx)
	case UserPromptSubmit:
		return h.promptPlaces(ctx, c.Prompt)
	case PreToolUse:
		return h.beforeTool(ctx, c)
	case PostToolUse:
		return h.afterTool(ctx, c)
	case Stop:
		return h.stop(ctx)
	default:
		return "", nil
	}
}

// A hook gives its parts a share of its time, two seconds as a rule, so that the others can still
// answer.
const (
	// 250 ms are enough for a cached listing and a few new commits; a hook does not walk a whole
	// history.
	driftShare = 8
	editShare  = 4
	greetShare = 2
)

// within limits a part of the hook to a share of its time.
func (h *Call) within(ctx context.Context, share time.Duration) (context.Context, context.CancelFunc) {
	if h.Left == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, max(h.Left/share, 1))
}

// tellOnce returns a text about a subject, and "" if the session was told it already. The word what identifies the text
// in the memory of the session.
func (h *Call) tellOnce(subject, what, text string) string {
	if text == "" || h.Memory.WasTold(subject, what) {
		return ""
	}
	h.lines.WriteString(ToldLine(subject, what))
	return text
}

// paths returns the paths of an input, from the root, without those outside it.
func (h *Call) paths(c Input) []repo.Path {
	var list []repo.Path
	for _, p := range c.Paths {
		if path, err := h.Workspace.Path(p); err == nil && path != "" {
			list = append(list, path)
		}
	}
	return list
}

// beforeTool returns the specs that govern the files that the agent is about to edit, and the briefs of these files.
func (h *Call) beforeTool(ctx context.Context, c Input) (string, error) {
	if c.Access != Edit {
		return "", nil
	}
	paths := h.paths(c)
	specs, err := h.governingSpecs(ctx, paths)
	if err != nil {
		return "", err
	}
	files, err := h.beforeEdit(ctx, paths)
	if err != nil {
		return "", err
	}
	return strings.Join(slices.DeleteFunc([]string{specs, files}, func(s string) bool { return s == "" }), "\n"), nil
}

func (h *Call) governingSpecs(ctx context.Context, paths []repo.Path) (string, error) {
	// The session knows the specs of these paths already.
	paths = slices.DeleteFunc(slices.Clone(paths), func(p repo.Path) bool { return h.Memory.WasTold(specOf(p), governed) })
	if len(paths) == 0 || !h.Workspace.OnDisk(ctx, spec.Root) {
		return "", nil
	}
	owners, hasMoved, err := h.owners(ctx, paths)
	if err != nil {
		return "", err
	}
	var said []string
	var drifts map[string]int
	threshold := cmp.Or(h.Threshold, spec.DefaultThreshold)
	for i, o := range owners {
		if len(o.Governing) > 0 && drifts == nil {
			drifts = h.drifts(ctx)
		}
		if len(o.Governing) == 0 && !hasMoved {
			if text := h.tellOnce("moved code", driftUnknown, MovedCodeUnknown(paths[i].String())); text != "" {
				said = append(said, text)
			}
		}
		what := governed
		var specs []Spec
		for _, g := range o.Governing {
			drift, known := drifts[g.ID]
			s := Spec{ID: g.ID, Desc: g.Desc, DriftUnknown: !known}
			if !known {
				what = driftUnknown
			}
			if drift >= threshold {
				s.Blocks = drift
			}
			specs = append(specs, s)
		}
		if text := h.tellOnce(specOf(paths[i]), what, GoverningSpecs(paths[i].String(), specs)); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n"), nil
}

// owners returns the specs of paths. If the history takes too long, hasMoved is false, and specs whose code was moved
// to a path are missing.
func (h *Call) owners(ctx context.Context, paths []repo.Path) (owners []spec.Ownership, hasMoved bool, err error) {
	if h.Spec.HasCachedListing() {
		quick, cancel := h.within(ctx, driftShare)
		defer cancel()
		if owners, err := h.Spec.Owners(quick, paths); err == nil {
			return owners, true, nil
		}
	}
	owners, err = h.Spec.OwnersByEntry(ctx, paths)
	return owners, false, err
}

// drifts returns the drift of each spec by its id, without specs whose drift is unknown or
// takes too long. The map is not nil.
func (h *Call) drifts(ctx context.Context) map[string]int {
	drifts := make(map[string]int)
	specs := h.Spec
	if !specs.HasCachedListing() {
		return drifts
	}
	ctx, cancel := h.within(ctx, driftShare)
	defer cancel()
	l, err := specs.List(ctx)
	if err != nil {
		return drifts
	}
	for i := range l.Nodes {
		if n := &l.Nodes[i]; !n.Ghost && n.Drift != nil {
			drifts[n.ID] = *n.Drift
		}
	}
	return drifts
}

// These words record in the memory which text about the specs of a path the session was told. After driftUnknown, the
// hook tells it again when the drift is known.
const (
	governed     = "governed"
	driftUnknown = "drift-unknown"
)

func specOf(p repo.Path) string { return "spec of " + string(p) }

// afterTool records the contents that the agent saw, and returns which summaries its edit made stale.
func (h *Call) afterTool(ctx context.Context, c Input) (string, error) {
	paths := h.paths(c)
	if c.Access == Other || len(paths) == 0 {
		return "", nil
	}
	known, err := h.Registry.Show(ctx, paths)
	if err != nil {
		return "", err
	}
	var said []string
	for i, k := range known {
		if was, _ := h.Memory.Seen(paths[i]); !k.CurrentID.IsZero() && was != k.CurrentID {
			h.lines.WriteString(SeenLine(paths[i], k.CurrentID))
		}
		if c.Access != Edit {
			continue
		}
		h.lines.WriteString(EditedLine(paths[i]))
		text := h.tellOnce("summary of "+string(paths[i]), k.Verdict.String(), StaleSummary(paths[i].String(), k.Verdict, k.Grade))
		if text != "" {
			said = append(said, text)
		}
	}
	if c.Access == Edit {
		// Some clients cannot answer before an edit. The others know the specs already.
		text, err := h.governingSpecs(ctx, paths)
		if err != nil {
			return "", err
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n"), nil
}

// stop reviews the files that the session edited. It tells the agent about a review once per session. It neither builds
// a search index nor waits for one that is being built.
func (h *Call) stop(ctx context.Context) (string, error) {
	edited := h.Memory.Edited()
	const subject, reviewed = "review", "told"
	if len(edited) == 0 || h.Memory.WasTold(subject, reviewed) || !h.Finder.HasIndex(ctx) {
		return "", nil
	}
	r, err := h.Reviewer.Review(ctx, review.Options{Only: edited})
	if fault.KindOf(err) == fault.Usage {
		return "", nil // there is nothing to compare with
	}
	if err != nil {
		return "", err
	}
	var lines []string
	for i := range r.Lines {
		if r.Lines[i].Kind != review.Unsure { // there may be nothing to do
			lines = append(lines, r.Lines[i].String())
		}
	}
	return h.tellOnce(subject, reviewed, Review(lines, r.More)), nil
}
