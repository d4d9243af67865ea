package web

import (
	"context"
	"errors"
	"sync"

	"ken/internal/fault"
	"ken/internal/spec"
)

// A historyCache keeps the histories of specs until their board changes. In a large repository, reading one takes a
// quarter of a second.
type historyCache struct {
	mu sync.Mutex
	at map[historyKey]*spec.Timeline
}

type historyKey struct{ worktree, id, tag string }

// maxHistories is the number of histories to keep.
const maxHistories = 64

func newHistoryCache() *historyCache { return &historyCache{at: make(map[historyKey]*spec.Timeline)} }

func (c *historyCache) get(ctx context.Context, key historyKey, from *spec.Reader) (*spec.Timeline, *fault.Unknown) {
	c.mu.Lock()
	kept, ok := c.at[key]
	c.mu.Unlock()
	if ok {
		return kept, nil
	}
	history, err := from.Timeline(ctx, key.id)
	if _, none := errors.AsType[*spec.UnknownSpecError](err); none {
		return nil, nil // only other worktrees have it
	}
	if err != nil {
		return nil, unread(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.at) >= maxHistories {
		clear(c.at)
	}
	c.at[key] = history
	return history, nil
}
