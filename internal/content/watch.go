package content

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// rewatchInterval is the interval at which the list of directories is updated.
const rewatchInterval = 5 * time.Second

// Watch calls onChange soon after a change in one of the directories, until ctx ends. It may miss changes,
// if the system does not support watching or has reached a limit.
func Watch(ctx context.Context, dirs func(context.Context) []string, onChange func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	defer w.Close()
	ticker := time.NewTicker(rewatchInterval)
	defer ticker.Stop()
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
		case <-ticker.C:
			add()
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if e.Op != fsnotify.Chmod && !strings.HasSuffix(filepath.Base(e.Name), "-shm") { // reading a file changes its access time
				onChange()
			}
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			onChange() // an event was lost
		}
	}
}
