package app

import (
	"testing"
	"time"

	"ken/internal/pgtest"
	"ken/internal/queue/queuetest"
	"ken/internal/repo"
	"ken/internal/surveyrun"
	"ken/internal/testrepo"
)

// Who looks after a while sees what was handed out meanwhile, at once. A server that stalls holds
// up the first who looks and, for as long as it does, nobody after him; then the runs are unknown.
func TestRunsAreLookedAtAnew(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	t.Setenv("KEN_STORE", proxy.Address())
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	commit, err := repo.ParseID(r.Commit("begin"))
	if err != nil {
		t.Fatal(err)
	}
	space, err := openRuns(t.Context(), r.Dir)
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
			t.Errorf("after %d were handed out: %+v", n, got)
		}
	}

	proxy.Stall(true)
	later()
	look.patient = time.Millisecond
	if got := look.part(t.Context(), patience); got == nil || got.Unknown == nil {
		t.Errorf("of a server that stalls: %+v", got)
	}
	later()
	look.asking.Lock() // there is no answer until this is unlocked
	if got := look.part(t.Context(), time.Hour); got == nil || got.Unknown == nil {
		t.Errorf("the second who looks at a server that stalls: %+v", got)
	}
	look.asking.Unlock()
	proxy.Stall(false) // what was cut off in the middle is waited for otherwise
}

// Before the first answer nothing is known of runs; that there is no store is not known either.
func TestRunsAreUnknownUntilTheFirstAnswer(t *testing.T) {
	t.Parallel()
	look := &runsCache{root: testrepo.New(t).Dir}
	look.asking.Lock() // there is no answer until this is unlocked
	got := look.part(t.Context(), time.Millisecond)
	look.asking.Unlock()
	if got == nil || got.Unknown == nil {
		t.Errorf("without an answer: %+v, want that it is not known", got)
	}
	if got := look.part(t.Context(), patience); got != nil {
		t.Errorf("without a store: %+v, want nothing", got)
	}
}
