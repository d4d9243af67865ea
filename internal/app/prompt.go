package app

import (
	"context"
	"errors"
	"time"

	"ken/internal/agenthook"
	"ken/internal/find"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// promptTime limits the search for the files of a prompt: the user waits for it.
const promptTime = 300 * time.Millisecond

// places names the files that a prompt may be about, from the search index as it is. Without an
// index, in doubt and after promptTime it says nothing.
func (h *hookEvent) places(ctx context.Context, prompt string) (said string, err error) {
	quick, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	x := searchindex.OpenExisting(quick, h.w.searchIndexFile())
	if x == nil {
		return "", nil
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	found, err := find.Prompt(quick, x, &currentFiles{findTree{w: h.w}}, prompt)
	if err != nil {
		if quick.Err() != nil {
			return "", ctx.Err()
		}
		return "", err
	}
	places := make([]agenthook.Place, len(found))
	for i, p := range found {
		places[i] = agenthook.Place{Path: p.Path, Line: p.Line}
		if len(p.Symbols) > 0 {
			places[i].Symbol = p.Symbols[0].Name
		}
	}
	text := agenthook.Places(places)
	return h.once("places", digest(text), text), nil
}

// currentFiles reads files of the work tree without listing it first.
type currentFiles struct{ findTree }

// Read returns the content of a file, nil if it cannot be read.
func (t *currentFiles) Read(ctx context.Context, p repo.Path) (content []byte) {
	err := t.w.files.Bytes(ctx, []repo.Path{p}, find.MaxBytes, func(_ int, b []byte, err error) {
		if err == nil {
			content = append([]byte{}, b...)
		}
	})
	if err != nil {
		return nil
	}
	return content
}
