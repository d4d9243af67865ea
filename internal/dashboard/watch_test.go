package dashboard

import (
	"strings"
	"testing"
	"time"

	"ken/internal/content"
)

// The watcher reports changes of refs, files, specs and the state directory.
func TestWatchedPlaces(t *testing.T) {
	r := newRepo(t)
	r.Write(".ken/state/keep", "")
	p := NewFingerprinter(FingerprintOptions{Root: r.Dir})
	for name, change := range map[string]func(text string){
		"a ref":   func(text string) { r.Write(".git/refs/heads/side.lock", text) },
		"an edit": func(text string) { r.Write("api.go", text) },
		"a spec":  func(text string) { r.Write(".spec/api/spec.md", text) },
		"a state": func(text string) { r.Write(".ken/state/odd.txt", text) },
	} {
		t.Run(name, func(t *testing.T) {
			nudged := make(chan struct{}, 1)
			go content.Watch(t.Context(), p.Places, func() {
				select {
				case nudged <- struct{}{}:
				default:
				}
			})
			again := time.NewTicker(20 * time.Millisecond) // until it is watched
			defer again.Stop()
			late := time.After(time.Minute)
			for i := 0; ; i++ {
				select {
				case <-nudged:
					return
				case <-late:
					t.Fatal("the watcher reported nothing")
				case <-again.C:
					change(strings.Repeat("x", i))
				}
			}
		})
	}
}
