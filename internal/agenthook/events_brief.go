package agenthook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"ken/internal/brief"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/tree"
)

// promptTime limits the search for the files of a prompt: the user waits for it.
const promptTime = 300 * time.Millisecond

// promptPlaces names the files that a prompt may be about, from the search index as it is. It returns "" without an
// index, in doubt, and after promptTime.
func (h *Call) promptPlaces(ctx context.Context, prompt string) (string, error) {
	quick, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	found, err := h.Finder.Prompt(quick, prompt)
	if err != nil {
		if quick.Err() != nil {
			return "", ctx.Err()
		}
		return "", err
	}
	places := make([]Place, len(found))
	for i, p := range found {
		places[i] = Place{Path: p.Path, Line: p.Line}
		if len(p.Symbols) > 0 {
			places[i].Symbol = p.Symbols[0].Name
		}
	}
	text := Places(places)
	return h.tellOnce("places", digest(text), text), nil
}

// greet returns the headline and the brief of the repository. If the repository was never
// verified, it returns the headline alone: a hook does not read every file.
func (h *Call) greet(ctx context.Context) (string, error) {
	_, verified, err := h.Store.LastVerification(ctx, h.Workspace.Git.Worktree())
	if err != nil {
		return "", err
	}
	if !verified {
		rep, err := h.Registry.Status(ctx, registry.VerifyOptions{OmitNew: true})
		if err != nil || rep.State == registry.StateNew {
			return "", err
		}
		return Greeting(rep.Headline(), ""), nil
	}
	work := tree.NewWorkTree(h.Sources)
	if err := work.Verify(ctx); err != nil {
		return "", err
	}
	headline := work.Headline()
	quick, cancel := h.within(ctx, greetShare)
	defer cancel()
	room := GreetingRoom(headline)
	b, err := h.Briefer.BriefWithoutIndex(quick, work, room/brief.BytesPerToken)
	if err != nil {
		if quick.Err() != nil && ctx.Err() == nil {
			return Greeting(headline, NoBrief), nil
		}
		return "", err
	}
	text, _ := b.Quoted(room)
	return Greeting(headline, text), nil
}

// editFiles is the number of files of an edit that a hook describes.
const editFiles = 3

// beforeEdit returns the briefs of files before an edit, each once per session. It returns "" if that takes too long,
// and omits files about which ken has no facts.
func (h *Call) beforeEdit(ctx context.Context, paths []repo.Path) (text string, err error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p repo.Path) bool { return h.Memory.WasTold(editOf(p), briefed) })
	if len(paths) == 0 {
		return "", nil
	}
	quick, cancel := h.within(ctx, editShare)
	defer cancel()
	x := h.Finder.OpenExisting(quick)
	if x != nil {
		defer func() { err = errors.Join(err, x.Close()) }()
	}
	said, err := h.editBriefs(quick, x, paths[:min(len(paths), editFiles)])
	if err != nil && x != nil && quick.Err() == nil { // the index may be damaged; it is only a cache
		said, err = h.editBriefs(quick, nil, paths[:min(len(paths), editFiles)])
	}
	if err != nil && quick.Err() != nil {
		return "", ctx.Err()
	}
	return strings.Join(said, "\n"), err
}

// briefed is the word in the memory for the brief of a file before an edit.
const briefed = "briefed"

func editOf(p repo.Path) string { return "edit of " + string(p) }

func (h *Call) editBriefs(ctx context.Context, x *searchindex.Index, paths []repo.Path) (said []string, err error) {
	r, err := h.Briefer.NewEditReader(ctx, x)
	if err != nil {
		return nil, err
	}
	known, err := h.Registry.Show(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		facts, indexed, err := r.Facts(ctx, p, &known[i])
		if err != nil {
			return nil, err
		}
		limit := MaxEdit / len(paths)
		b := brief.BeforeEdit(facts, limit/brief.BytesPerToken)
		text, _ := b.Quoted(limit)
		if text = h.tellOnce(editOf(p), briefed, BeforeEdit(p.String(), text, indexed)); text != "" {
			said = append(said, strings.TrimRight(text, "\n"))
		}
	}
	return said, nil
}
