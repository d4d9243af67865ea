package content

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// rewatch is how often the directories to be watched are asked for anew: some come,
// some go.
const rewatch = 5 * time.Second

// Watch calls nudge soon after something in one of some directories has changed, until
// ctx ends. It promises nothing: where the system has no such thing, or has no more
// room for it, less is noticed, or nothing at all.
func Watch(ctx context.Context, dirs func(context.Context) []string, nudge func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	defer w.Close()
	again := time.NewTicker(rewatch)
	defer again.Stop()
	at := make(map[string]bool)
	add := func() {
		now := make(map[string]bool)
		for _, d := range dirs(ctx) {
			now[d] = at[d] || w.Add(d) == nil
		}
		for d := range at {
			if _, ok := now[d]; !ok {
				_ = w.Remove(d)
			}
		}
		at = now
	}
	add()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			add()
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if e.Op != fsnotify.Chmod && !strings.HasSuffix(filepath.Base(e.Name), "-shm") { // which readers touch
				nudge()
			}
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			nudge() // something was missed
		}
	}
}
