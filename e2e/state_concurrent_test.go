package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ken/internal/testrepo"
)

// stateRounds is the number of rounds of each test.
const stateRounds = 3

// patience is how long a command waits for the lock on a busy machine.
const patience = "1m"

// A hundred processes update the document at once; all succeed, and no key is lost.
func TestStateConcurrentUpdates(t *testing.T) {
	const writers = 100
	for round := range stateRounds {
		r := testrepo.New(t)
		r.Write("a.txt", "a\n")
		r.Commit("first")
		var crowd sync.WaitGroup
		for i := range writers {
			crowd.Go(func() {
				if o := ken(t, r, nil, "state", "--wait", patience, "update", fmt.Sprintf("k%d=%d", i, i)); o.status != 0 {
					t.Errorf("round %d, writer %d: %+v", round, i, o)
				}
			})
		}
		crowd.Wait()
		doc := decode[map[string]any](t, mustKen(t, r, "state", "get", "--json"))
		for i := range writers {
			if doc[fmt.Sprintf("k%d", i)] != float64(i) {
				t.Errorf("round %d: k%d is %v", round, i, doc[fmt.Sprintf("k%d", i)])
			}
		}
		if len(doc) != writers {
			t.Errorf("round %d: %d keys", round, len(doc))
		}
		if b, err := os.ReadFile(filepath.Join(r.Dir, ".ken/state/.journal.jsonl")); err != nil || strings.Count(string(b), "\n") != writers {
			t.Errorf("round %d: %d lines in the journal, %v", round, strings.Count(string(b), "\n"), err)
		}
		if left := listed(t, filepath.Join(r.Dir, ".ken/state")); len(left) != 3 { // with .gitignore
			t.Errorf("round %d: files remain: %q", round, left)
		}
	}
}

// Twenty processes add deferred work at once and get twenty ids.
func TestStateConcurrentDefers(t *testing.T) {
	const writers = 20
	for round := range stateRounds {
		r := testrepo.New(t)
		r.Write("a.txt", "a\n")
		r.Commit("first")
		var crowd sync.WaitGroup
		for i := range writers {
			crowd.Go(func() {
				if o := ken(t, r, nil, "state", "--wait", patience, "defer", "add", fmt.Sprintf("thing %d", i)); o.status != 0 {
					t.Errorf("round %d, writer %d: %+v", round, i, o)
				}
			})
		}
		crowd.Wait()
		ids, titles := map[string]bool{}, map[string]bool{}
		for _, d := range decode[[]struct{ ID, Title string }](t, mustKen(t, r, "state", "defer", "list", "--json")) {
			ids[d.ID], titles[d.Title] = true, true
		}
		if len(ids) != writers || len(titles) != writers || !ids["DEF-001"] || !ids["DEF-020"] {
			t.Errorf("round %d: ids %v of %v", round, ids, titles)
		}
	}
}

// Writers and readers run at once while a program keeps removing the lock file. All
// succeed, and nothing is lost or torn.
func TestStateConcurrentCommands(t *testing.T) {
	const each = 8
	r := testrepo.New(t)
	r.Write("a.txt", "a\n")
	r.Commit("first")
	mustKen(t, r, "state", "init", "--type", "dev")
	stop := make(chan struct{})
	var vandal, crowd sync.WaitGroup
	vandal.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := os.Remove(filepath.Join(r.Dir, ".ken/state/.lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("removing the lock file failed with %v", err)
					return
				}
			}
		}
	})
	for i := range each {
		for _, args := range [][]string{
			{"update", fmt.Sprintf("k%d=%d", i, i)},
			{"put", fmt.Sprintf("slice-%d.md", i), "-m", fmt.Sprint(i)},
			{"defer", "add", fmt.Sprint(i)},
			{"cleanup", "--apply"},
			{"evict"},
			{"get", "--json"},
			{"audit", "--json"},
		} {
			crowd.Go(func() {
				if o := ken(t, r, nil, append([]string{"state", "--wait", patience}, args...)...); o.status != 0 {
					t.Errorf("ken state %q failed: %+v", args, o)
				}
			})
		}
	}
	crowd.Wait()
	close(stop)
	vandal.Wait()
	doc := decode[map[string]any](t, mustKen(t, r, "state", "get", "--json"))
	for i := range each {
		if doc[fmt.Sprintf("k%d", i)] != float64(i) {
			t.Errorf("k%d is lost", i)
		}
		if b, err := os.ReadFile(filepath.Join(r.Dir, ".ken/state", fmt.Sprintf("slice-%d.md", i))); err != nil || string(b) != fmt.Sprint(i) {
			t.Errorf("slice-%d.md is %q, %v", i, b, err)
		}
	}
	if n := len(decode[[]struct{ ID string }](t, mustKen(t, r, "state", "defer", "list", "--json"))); n != each {
		t.Errorf("%d deferrals", n)
	}
}

// Processes that start workflows at once each get their own. The document of the last
// one is in the directory, and all others are in the archive.
func TestStateConcurrentInits(t *testing.T) {
	const writers = 4
	r := testrepo.New(t)
	r.Write("a.txt", "a\n")
	r.Commit("first")
	var crowd sync.WaitGroup
	ids := make([]string, writers)
	for i := range writers {
		crowd.Go(func() {
			o := ken(t, r, nil, "state", "init", "--type", "dev", "--json")
			if o.status != 0 {
				t.Errorf("ken state init failed: %+v", o)
				return
			}
			ids[i] = decode[struct {
				Workflow struct {
					ID string `json:"workflow_id"`
				}
			}](t, o.stdout).Workflow.ID
		})
	}
	crowd.Wait()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "cat '"+r.Dir+"'/.ken/state/workflow.yaml '"+r.Dir+"'/.ken/state/.archive/*/files/workflow.yaml").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id == "" || !strings.Contains(string(out), "workflow_id: "+id) {
			t.Errorf("workflow %q is lost", id)
		}
	}
}

func stamped(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
