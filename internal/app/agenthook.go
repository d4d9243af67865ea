package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ken/internal/agenthook"
	"ken/internal/cli"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/repo"
	"ken/internal/spec"
)

// answerHook answers a hook of an agent's client with the current state. Outside a
// repository the answer is empty.
func answerHook(ctx context.Context, dir string, e agenthook.Event, c agenthook.Input) (said string, err error) {
	where, err := hookDir(ctx, dir, c)
	if err != nil || where == "" {
		return "", err
	}
	w, err := open(ctx, openOptions{dir: where})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if c.Session == "" {
		c.Session = session()
	}
	h := &hookEvent{w: w, file: sessionIn(w.git.GitDir(), c.Session)}
	h.memory = h.file.load()
	if end, ok := ctx.Deadline(); ok {
		h.left = max(time.Until(end), 1)
	}
	switch e {
	case agenthook.SessionStart, agenthook.SubagentStart:
		removeOldSessions(w.git.GitDir(), time.Now())
		said, err = h.greet(ctx)
	case agenthook.UserPromptSubmit:
		said, err = h.places(ctx, c.Prompt)
	case agenthook.PreToolUse:
		said, err = h.beforeTool(ctx, c)
	case agenthook.PostToolUse:
		said, err = h.afterTool(ctx, c)
	case agenthook.Stop:
		said, err = h.stop(ctx)
	}
	if err != nil {
		return "", err
	}
	return said, h.file.add(h.lines.String())
}

// hookDir returns the directory for an input: that of its first file, or that of the agent
// if it names no file. It returns "" outside a repository, and for a file outside the
// agent's repository and its worktrees.
func hookDir(ctx context.Context, dir string, c agenthook.Input) (string, error) {
	if dir == "" {
		dir = "."
	}
	if info, err := os.Stat(c.Dir); c.Dir != "" && filepath.IsAbs(c.Dir) && err == nil && info.IsDir() {
		dir = c.Dir
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		if fault.KindOf(err) == fault.NoRepo {
			err = nil
		}
		return "", err
	}
	if len(c.Paths) == 0 || !filepath.IsAbs(c.Paths[0]) {
		return dir, nil
	}
	at := existing(filepath.Dir(c.Paths[0]))
	other, err := git.Open(ctx, at)
	if err != nil && ctx.Err() != nil {
		return "", err // timed out before ken knew whose file it is
	}
	if err != nil || other.CommonDir() != g.CommonDir() {
		return "", nil
	}
	return at, nil
}

// A hookEvent is one call of a hook in a session.
type hookEvent struct {
	w      *workspace
	file   sessionFile
	memory *agenthook.Memory
	lines  strings.Builder // to add to the session file

	// left is the time that the hook has; 0 is no limit.
	left time.Duration
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
func (h *hookEvent) within(ctx context.Context, share time.Duration) (context.Context, context.CancelFunc) {
	if h.left == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, max(h.left/share, 1))
}

// once returns the text, or "" if what is the last that the session was told about the
// subject.
func (h *hookEvent) once(subject, what, text string) string {
	if text == "" || h.memory.Told(subject, what) {
		return ""
	}
	h.lines.WriteString(agenthook.ToldLine(subject, what))
	return text
}

// paths returns the paths of an input, from the root, without those outside it.
func (h *hookEvent) paths(c agenthook.Input) []repo.Path {
	var list []repo.Path
	for _, p := range c.Paths {
		resolve := h.w.Path
		if filepath.IsAbs(p) {
			resolve = h.w.RootPath
		}
		if path, err := resolve(p); err == nil && path != "" {
			list = append(list, path)
		}
	}
	return list
}

// beforeTool says which specs govern the files that the agent will edit, and what to know
// about them.
func (h *hookEvent) beforeTool(ctx context.Context, c agenthook.Input) (string, error) {
	if c.Access != agenthook.Edit {
		return "", nil
	}
	paths := h.paths(c)
	specs, err := h.governed(ctx, paths)
	if err != nil {
		return "", err
	}
	files, err := h.beforeEdit(ctx, paths)
	if err != nil {
		return "", err
	}
	return strings.Join(slices.DeleteFunc([]string{specs, files}, func(s string) bool { return s == "" }), "\n"), nil
}

func (h *hookEvent) governed(ctx context.Context, paths []repo.Path) (string, error) {
	// The session knows the specs of these paths already.
	paths = slices.DeleteFunc(slices.Clone(paths), func(p repo.Path) bool { return h.memory.Told(specOf(p), governed) })
	if len(paths) == 0 || !exists(filepath.Join(h.w.git.Root(), spec.Root)) {
		return "", nil
	}
	owners, err := h.w.Spec().Owners(ctx, paths)
	if err != nil {
		return "", err
	}
	var said []string
	var drifts map[string]int
	threshold := cmp.Or(h.w.GatePolicy().Threshold, spec.DefaultThreshold)
	for i, o := range owners {
		if len(o.Governing) > 0 && drifts == nil {
			drifts = h.drifts(ctx)
		}
		what := governed
		var specs []agenthook.Spec
		for _, g := range o.Governing {
			drift, known := drifts[g.ID]
			s := agenthook.Spec{ID: g.ID, Desc: g.Desc, DriftUnknown: !known}
			if !known {
				what = driftUnknown
			}
			if drift >= threshold {
				s.Blocks = drift
			}
			specs = append(specs, s)
		}
		if text := h.once(specOf(paths[i]), what, agenthook.GoverningSpecs(paths[i].String(), specs)); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n"), nil
}

// drifts returns the drift of each spec by its id, without specs whose drift is unknown or
// takes too long. The map is not nil.
func (h *hookEvent) drifts(ctx context.Context) map[string]int {
	drifts := make(map[string]int)
	specs := h.w.Spec()
	if !specs.Listed() {
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

// The words for what a session was told about the specs of a path. After driftUnknown, it is
// told again when the drift is known.
const (
	governed     = "governed"
	driftUnknown = "drift-unknown"
)

func specOf(p repo.Path) string { return "spec of " + string(p) }

// afterTool records what the agent saw, and says which summary its edit made stale.
func (h *hookEvent) afterTool(ctx context.Context, c agenthook.Input) (string, error) {
	paths := h.paths(c)
	if c.Access == agenthook.Other || len(paths) == 0 {
		return "", nil
	}
	known, err := h.w.registry.Show(ctx, paths)
	if err != nil {
		return "", err
	}
	var said []string
	for i, k := range known {
		if was, _ := h.memory.Seen(paths[i]); !k.CurrentID.IsZero() && was != k.CurrentID {
			h.lines.WriteString(agenthook.SeenLine(paths[i], k.CurrentID))
		}
		if c.Access != agenthook.Edit {
			continue
		}
		h.lines.WriteString(agenthook.EditedLine(paths[i]))
		text := h.once("summary of "+string(paths[i]), k.Verdict.String(), agenthook.StaleSummary(paths[i].String(), k.Verdict, k.Grade))
		if text != "" {
			said = append(said, text)
		}
	}
	if c.Access == agenthook.Edit {
		// Some clients cannot answer before an edit. The others know the specs already.
		text, err := h.governed(ctx, paths)
		if err != nil {
			return "", err
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n"), nil
}

// stop reviews the files that the session edited, until it has told something. It does not build
// a search index, nor wait for one that is being built.
func (h *hookEvent) stop(ctx context.Context) (string, error) {
	edited := h.memory.Edited()
	const subject, reviewed = "review", "told"
	if len(edited) == 0 || h.memory.Told(subject, reviewed) || !h.w.hasSearchIndex(ctx) {
		return "", nil
	}
	r, err := h.w.Review(ctx, cli.ReviewOptions{Only: edited})
	if fault.KindOf(err) == fault.Usage {
		return "", nil // there is nothing to compare with
	}
	if err != nil {
		return "", err
	}
	lines := make([]string, len(r.Lines))
	for i := range r.Lines {
		lines[i] = r.Lines[i].String()
	}
	return h.once(subject, reviewed, agenthook.Review(lines, r.More)), nil
}
