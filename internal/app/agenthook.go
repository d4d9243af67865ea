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
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/git"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/survey"
)

// hear answers a hook of an agent's client. What is said is what holds at this moment.
// Outside of a repository nothing is said.
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
		h.driftTime = max(time.Until(end)/driftShare, 1)
	}
	switch e {
	case agenthook.SessionStart, agenthook.SubagentStart:
		removeOldSessions(w.git.GitDir(), time.Now())
		said, err = h.greet(ctx)
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

// hookDir is the directory of the work tree that a call is about: where its files
// lie, if that is in the agent's repository or a worktree of it, else where the agent is.
// It is "" where that is in none.
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
		return "", err // whose file it is was not found out in time
	}
	if err != nil || other.CommonDir() != g.CommonDir() {
		return "", nil
	}
	return at, nil
}

// A hookEvent is one hook of a session.
type hookEvent struct {
	w      *workspace
	file   sessionFile
	memory *agenthook.Memory
	lines  strings.Builder // to be remembered

	// driftTime is how long it may take to find out how far specs are behind; 0 for as long
	// as it takes.
	driftTime time.Duration
}

// driftShare is the part of a hook's time that may pass until it is known how far specs are
// behind: of two seconds, 250 ms. A kept listing is read at once, and one new commit is too;
// a hook does not walk a whole history.
const driftShare = 8

// once returns a text unless the session was told just that about the subject last.
func (h *hookEvent) once(subject, what, text string) string {
	if text == "" || h.memory.Told(subject, what) {
		return ""
	}
	h.lines.WriteString(agenthook.ToldLine(subject, what))
	return text
}

// greet says how far what is known can be trusted, and the first of it. Where nothing was
// verified yet, or the root is not described, there is no more to say than that: reading
// every file is not for a hook to begin.
func (h *hookEvent) greet(ctx context.Context) (string, error) {
	_, verified, err := h.w.store.Baseline(ctx, h.w.git.Worktree())
	if err != nil {
		return "", err
	}
	if verified {
		root, err := h.w.store.LatestOf(ctx, []repo.Path{""})
		if err != nil {
			return "", err
		}
		if len(root[""]) > 0 {
			return h.brief(ctx)
		}
	}
	rep, err := h.w.registry.Status(ctx, registry.VerifyOptions{OmitNew: true})
	if err != nil || rep.State == registry.StateNew {
		return "", err
	}
	return agenthook.Greeting(rep.Headline(), ""), nil
}

// introduce verifies, and sums up the root.
func (h *hookEvent) brief(ctx context.Context) (string, error) {
	tree := &surveyTree{w: h.w}
	b, err := h.w.surveyOf(tree, nil).Brief(ctx, survey.BriefOptions{Budget: agenthook.MaxGreeting / survey.BytesPerToken, Quoted: true})
	if err != nil {
		return "", err
	}
	return agenthook.Greeting(tree.headline, b.Quoted()), nil
}

// paths are those of a call, from the root; those that lead outside are left out.
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

// before says what governs the files that are about to be edited.
func (h *hookEvent) beforeTool(ctx context.Context, c agenthook.Input) (string, error) {
	if c.Access != agenthook.Edit {
		return "", nil
	}
	return h.governed(ctx, h.paths(c))
}

func (h *hookEvent) governed(ctx context.Context, paths []repo.Path) (string, error) {
	// What was said needs no second look.
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

// drifts returns the drift of each spec, by its id, as far as it is known or can be found
// out in time. It is not nil.
func (h *hookEvent) drifts(ctx context.Context) map[string]int {
	drifts := make(map[string]int)
	specs := h.w.Spec()
	if !specs.Listed() {
		return drifts
	}
	if h.driftTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.driftTime)
		defer cancel()
	}
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

// The subjects that a session is told about the spec of a path. For a path whose specs' drift is unknown,
// it is told again when that is known.
const (
	governed     = "governed"
	driftUnknown = "drift-unknown"
)

func specOf(p repo.Path) string { return "spec of " + string(p) }

// after remembers what the agent saw, and says what became of what it edited.
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
		text := h.once("summary of "+string(paths[i]), k.Verdict.String(), agenthook.StaleSummary(paths[i].String(), k.Verdict, k.Grade))
		if text != "" {
			said = append(said, text)
		}
	}
	if c.Access == agenthook.Edit {
		// A client that cannot be told before an edit is told behind it; one that was is
		// not told again.
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

// leave says what is stale when the agent stops, unless that is what was said last.
func (h *hookEvent) stop(ctx context.Context) (string, error) {
	rep, err := h.w.registry.Status(ctx, registry.VerifyOptions{OmitNew: true})
	if err != nil {
		return "", err
	}
	var stale []string
	for _, v := range rep.Verdicts {
		if v.Summary == fresh.Stale {
			stale = append(stale, v.RawPath().String())
		}
	}
	text := agenthook.StaleList(stale, rep.Counts.Unknown)
	return h.once("left", digest(text), text), nil
}
