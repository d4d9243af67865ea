package app

import (
	"testing"
	"time"

	"ken/internal/board"
	"ken/internal/ken"
	"ken/internal/pgtest"
	"ken/internal/queue/queuetest"
	"ken/internal/repo"
	"ken/internal/surveyrun"
	"ken/internal/testrepo"
	"ken/internal/worker"
)

// runsCache returns new runs a second later. A server that stalls delays only the first caller; the runs are unknown
// then.
func TestRunsCacheIsRenewed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	t.Setenv("KEN_STORE", proxy.Address())
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	commit, err := repo.ParseID(r.Commit("begin"))
	if err != nil {
		t.Fatal(err)
	}
	space, err := worker.OpenRuns(t.Context(), r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	look := &runsCache{root: r.Dir, patient: patience}
	defer look.close()
	later := func() {
		look.mu.Lock()
		defer look.mu.Unlock()
		look.at = time.Time{}
	}
	for n := 1; n <= 2; n++ {
		if _, err := space.Queue.StartRun(t.Context(), surveyrun.Run{Repository: space.Repository(), Commit: commit, Provider: "command"}, queuetest.Tree("d", 1)); err != nil {
			t.Fatal(err)
		}
		later()
		if got := look.part(t.Context(), patience); got == nil || got.Known == nil || len(got.Known.Runs) != n {
			t.Errorf("after %d runs were started: %+v", n, got)
		}
	}

	proxy.Stall(true)
	later()
	look.patient = time.Millisecond
	if got := look.part(t.Context(), patience); got == nil || got.Unknown == nil {
		t.Errorf("first answer of a stalled server: %+v", got)
	}
	later()
	look.asking.Lock() // there is no answer until this is unlocked
	if got := look.part(t.Context(), time.Hour); got == nil || got.Unknown == nil {
		t.Errorf("second answer of a stalled server: %+v", got)
	}
	look.asking.Unlock()
	proxy.Stall(false) // what was cut off in the middle is waited for otherwise
}

// Before the first answer, runs are unknown, also in a repository without a team's store.
func TestRunsAreUnknownBeforeFirstAnswer(t *testing.T) {
	t.Parallel()
	look := &runsCache{root: testrepo.New(t).Dir}
	look.asking.Lock() // there is no answer until this is unlocked
	got := look.part(t.Context(), time.Millisecond)
	look.asking.Unlock()
	if got == nil || got.Unknown == nil {
		t.Errorf("without an answer: %+v, want unknown runs", got)
	}
	if got := look.part(t.Context(), patience); got != nil {
		t.Errorf("without a store: %+v, want nothing", got)
	}
}

// The last runs are those of the server that is configured now, not of an earlier one.
func TestLastRunsBelongToTheirServer(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := testrepo.New(t)
	r.Commit("begin")
	lastRunsOf := func(address string, save bool) *board.Part[board.Runs] {
		t.Helper()
		t.Setenv("KEN_STORE", address)
		w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if w.Team, err = w.OpenTeam(t.Context()); err != nil {
			t.Fatal(err)
		}
		if save {
			w.Cache.Save(runsKey(w), []byte(`{"runs":[]}`))
		}
		return lastRuns(t.Context(), w)
	}
	if got := lastRunsOf("postgres://one.invalid/ken", true); got == nil || got.Known == nil {
		t.Errorf("the last runs of the first server are %+v; want those that were saved", got)
	}
	if got := lastRunsOf("postgres://two.invalid/ken", false); got != nil {
		t.Errorf("the last runs of the second server are %+v; want nothing", got)
	}
}
