package web

import (
	"context"
	"errors"
	"sync"

	"ken/internal/board"
	"ken/internal/spec"
)

// A storyCache keeps the histories of specs until their board changes. Reading one
// takes a quarter of a second in a large history.
type storyCache struct {
	mu sync.Mutex
	at map[storyKey]*spec.Timeline
}

type storyKey struct{ worktree, id, tag string }

// maxStories is the number of histories to keep.
const maxStories = 64

func newStoryCache() *storyCache { return &storyCache{at: make(map[storyKey]*spec.Timeline)} }

func (c *storyCache) get(ctx context.Context, key storyKey, from *spec.Reader) (*spec.Timeline, *board.Unread) {
	c.mu.Lock()
	kept, ok := c.at[key]
	c.mu.Unlock()
	if ok {
		return kept, nil
	}
	story, err := from.Timeline(ctx, key.id)
	if _, none := errors.AsType[*spec.UnknownSpecError](err); none {
		return nil, nil // only other worktrees have it
	}
	if err != nil {
		return nil, unread(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.at) >= maxStories {
		clear(c.at)
	}
	c.at[key] = story
	return story, nil
}
