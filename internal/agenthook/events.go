package agenthook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"ken/internal/docs"
	"ken/internal/fresh"
	"ken/internal/project"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/session"
	"ken/internal/spec"
	"ken/internal/survey"
	"ken/internal/tree"
)

// Features are the features of a repository that hooks ask.
type Features struct {
	tree.Sources
	Documents *docs.Checker
	Surveys   *survey.Factory
	Spec      *spec.Reader
	// Memories returns what one client remembers about the repository.
	Memories func(client string) []session.Memory
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
		return h.greet(ctx, c.Client)
	case PreToolUse:
		return h.beforeEdit(ctx, c)
	case PostToolUse:
		return "", h.recordSeen(ctx, c)
	default:
		return "", nil
	}
}

// A hook gives its parts a share of its time, two seconds as a rule, so that the others can still answer.
const (
	// 250 ms are enough for a cached listing and a few new commits; a hook does not walk a whole history.
	ownersShare    = 8
	documentsShare = 2
	summariesShare = 4
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
	h.Memory.told[subject] = what
	h.lines.WriteString(ToldLine(subject, what))
	return text
}

// greet returns what a new session should know. It returns "" in a repository that was never verified and whose
// documents were never checked: nobody asked ken about it.
func (h *Call) greet(ctx context.Context, client string) (string, error) {
	var g Greeting
	wasChecked, err := h.addStaleMentions(ctx, client, &g)
	if err != nil {
		return "", err
	}
	_, isVerified, err := h.Store.LastVerification(ctx, h.Workspace.Git.Worktree())
	if err != nil || !isVerified && !wasChecked {
		return "", err
	}
	if isVerified {
		if g.Summaries, err = h.staleSummaries(ctx); err != nil {
			return "", err
		}
	}
	if g.Commands, err = h.commands(ctx); err != nil {
		return "", err
	}
	return g.String(), nil
}

// addStaleMentions adds the stale mentions in documents that agents read, if ken knows them without a long check.
func (h *Call) addStaleMentions(ctx context.Context, client string, g *Greeting) (wasChecked bool, err error) {
	quick, cancel := h.within(ctx, documentsShare)
	defer cancel()
	g.Mentions, wasChecked, err = h.Documents.StaleForAgents(quick, h.Memories(client))
	g.MentionsUnknown = err != nil && (errors.Is(err, docs.ErrSlow) || quick.Err() != nil)
	if g.MentionsUnknown {
		return true, ctx.Err()
	}
	return wasChecked, err
}

// staleSummaries verifies the work tree and counts the stale summaries of files and directories. It returns 0 if that
// takes too long, also because another ken holds the lock of the store.
func (h *Call) staleSummaries(ctx context.Context) (int, error) {
	quick, cancel := h.within(ctx, summariesShare)
	defer cancel()
	rep, err := h.Registry.Verify(quick, registry.VerifyOptions{OmitNew: true})
	var directories *survey.DirCounts
	if err == nil {
		directories, err = h.Surveys.DirCounts(quick, rep, true, nil)
	}
	switch {
	case err != nil && quick.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, err
	case directories == nil:
		return rep.Counts.Stale, nil
	}
	return rep.Counts.Stale + directories.Stale, nil
}

// maxManifest is the limit for the bytes of a manifest.
const maxManifest = 1 << 20

// commands returns how to test and lint the repository.
func (h *Call) commands(ctx context.Context) (project.Commands, error) {
	snapshot, err := h.Workspace.Git.Snapshot(ctx)
	if err != nil {
		return project.Commands{}, err
	}
	var paths []repo.Path
	for i := range snapshot.Index.Entries {
		paths = append(paths, snapshot.Index.Entries[i].Path)
	}
	paths = slices.Compact(paths) // a conflict has several entries
	read := func(p repo.Path) ([]byte, error) { return h.Workspace.ReadFile(ctx, p, maxManifest), nil }
	p, err := project.New(paths, read)
	if err != nil {
		return project.Commands{}, err
	}
	return p.CommandsFor(""), nil
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

// beforeEdit returns the specs that govern the files that the agent is about to edit, and their summaries that are
// stale.
func (h *Call) beforeEdit(ctx context.Context, c Input) (string, error) {
	paths := h.paths(c)
	if c.Access != Edit || len(paths) == 0 {
		return "", nil
	}
	specs, err := h.governingSpecs(ctx, paths)
	if err != nil {
		return "", err
	}
	summaries, err := h.summariesBeforeEdit(ctx, paths)
	if err != nil {
		return "", err
	}
	return strings.Join(slices.Concat(specs, summaries), "\n"), nil
}

// The words that record in the memory what a session was told.
const (
	governed     = "governed"
	staleSummary = "stale"
	unknownOwner = "unknown"
)

func (h *Call) governingSpecs(ctx context.Context, paths []repo.Path) (said []string, err error) {
	subject := func(p repo.Path) string { return "spec of " + string(p) }
	wasTold := func(p repo.Path) bool { return h.Memory.WasTold(subject(p), governed) }
	paths = slices.DeleteFunc(slices.Clone(paths), wasTold)
	if len(paths) == 0 || !h.Workspace.OnDisk(ctx, spec.Root) {
		return nil, nil
	}
	owners, hasMoved, err := h.owners(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, o := range owners {
		text := h.tellOnce(subject(paths[i]), governed, GoverningSpecs(paths[i].String(), h.withoutTold(o.Governing)))
		if len(o.Governing) == 0 && !hasMoved {
			text = h.tellOnce("moved code", unknownOwner, MovedCodeUnknown(paths[i].String()))
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return said, nil
}

// withoutTold returns claims, without the descriptions that the session was told.
func (h *Call) withoutTold(claims []spec.Claim) []spec.Claim {
	claims = slices.Clone(claims)
	for i := range claims {
		c := &claims[i]
		c.Desc = h.tellOnce("description of spec "+c.ID, governed, c.Desc)
	}
	return claims
}

// owners returns the specs of paths. If the history takes too long, hasMoved is false, and specs whose code was moved
// to a path are missing.
func (h *Call) owners(ctx context.Context, paths []repo.Path) (owners []spec.Ownership, hasMoved bool, err error) {
	if h.Spec.HasCachedListing() {
		quick, cancel := h.within(ctx, ownersShare)
		defer cancel()
		if owners, err := h.Spec.Owners(quick, paths); err == nil {
			return owners, true, nil
		}
	}
	owners, err = h.Spec.OwnersByEntry(ctx, paths)
	return owners, false, err
}

func (h *Call) summariesBeforeEdit(ctx context.Context, paths []repo.Path) (said []string, err error) {
	known, err := h.Registry.Show(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i := range known {
		if known[i].Verdict != fresh.Stale {
			continue
		}
		subject := "summary of " + string(paths[i])
		if text := h.tellOnce(subject, staleSummary, StaleSummary(paths[i].String(), &known[i])); text != "" {
			said = append(said, text)
		}
	}
	return said, nil
}

// recordSeen records the contents that the agent saw: of files that it read as a whole, or edited.
func (h *Call) recordSeen(ctx context.Context, c Input) error {
	paths := h.paths(c)
	if c.Access == Other || len(paths) == 0 {
		return nil
	}
	known, err := h.Registry.Show(ctx, paths)
	if err != nil {
		return err
	}
	for i, k := range known {
		was, _ := h.Memory.Seen(paths[i])
		if !k.CurrentID.IsZero() && was != k.CurrentID {
			h.lines.WriteString(SeenLine(paths[i], k.CurrentID))
		}
	}
	return nil
}
