package scale

import (
	"math"
	"testing"
)

// margin is by how much arithmetic and simulation may differ, in calls and in how busy
// workers are: the arithmetic knows neither of directories that two commits make stale
// together, nor of several below one above.
const margin = 0.15

func near(t *testing.T, what string, got, want, margin float64) {
	t.Helper()
	if math.Abs(got-want) > margin*math.Abs(want) {
		t.Errorf("%s: %g, want %g within %g%%", what, got, want, 100*margin)
	}
}

// Nothing is lost and nothing is done before its time, whether there are slots to spare or
// far too few.
func TestConservation(t *testing.T) {
	for _, slots := range []int{3, 15, 200} {
		a := Defaults()
		a.Commits = 2
		p := Simulate(a, Days{Days: 1, Slots: slots, Seed: 7})
		if p.Commits == 0 || p.Fresh != p.Commits {
			t.Errorf("%d slots: %d of %d commits became fresh", slots, p.Fresh, p.Commits)
		}
		if p.Early != 0 {
			t.Errorf("%d slots: %d directories were begun before one below", slots, p.Early)
		}
		if most := float64(p.Commits) * (p.Own + p.Above); float64(p.Calls) > most {
			t.Errorf("%d slots: %d calls for %g stale directories", slots, p.Calls, most)
		}
		if p.Busy > 1 || p.PeakBusy > 1+1e-9 {
			t.Errorf("%d slots were busy for %g, %g of an hour", slots, p.Busy, p.PeakBusy)
		}
	}
}

// Little's law: those inside, counted over time, are as many as come in a second times how
// long each stays.
func TestLittle(t *testing.T) {
	a := Defaults()
	for _, slots := range []int{10, 40} {
		p := Simulate(a, Days{Days: 2, Slots: slots, Seed: 3})
		near(t, "inside", p.MeanInside, p.Rate*p.MeanStay, 1e-9)
		// Slots are busy for as long as calls take.
		near(t, "busy", p.Busy*float64(slots), p.Rate*a.Latency, 0.02)
	}
}

// The same seed plays the same days.
func TestDeterministic(t *testing.T) {
	a := Defaults()
	d := Days{Days: 1, Slots: 20, Seed: 11}
	if x, y := Simulate(a, d), Simulate(a, d); x != y {
		t.Errorf("%+v, then %+v", x, y)
	}
}

// With slots to spare and one directory to a commit, a commit is fresh when the calls up to
// the root were made one after the other; the arithmetic says how many.
func TestIdle(t *testing.T) {
	a := Defaults()
	a.Cutoff, a.Own, a.Commits = 0, 1, 0.5
	p := Simulate(a, Days{Days: 4, Slots: 10_000, Seed: 5})
	near(t, "own", p.Own, 1, 1e-9)
	near(t, "calls", float64(p.Calls), float64(p.Commits)*(1+p.Above), 0.05)
	near(t, "median time", p.P50, a.Latency*(1+p.Above), 0.25)
}

// Arithmetic and simulation agree on calls and on how busy workers are, as docs/scale.md
// says.
func TestAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("plays days")
	}
	for _, s := range Scenarios(Defaults())[1:] {
		days := 1
		if s.Commits < 10 {
			days = 3
		}
		n := Compute(s.Assumptions, Last)
		p := Simulate(s.Assumptions, Days{Days: days, Slots: int(n.Slots), Seed: 1})
		near(t, s.Name+": own", p.Own, s.Own, 0.15)
		near(t, s.Name+": above", p.Above, s.Above, 0.15)
		near(t, s.Name+": calls", float64(p.Calls)/float64(days), n.Calls, margin)
		near(t, s.Name+": busiest hour", p.PeakBusy, s.Load, margin)
	}
}

// When there are too few slots because of a few repositories, it is these that wait: one with
// a commit a day hardly notices.
func TestFair(t *testing.T) {
	a := Defaults()
	a.Repositories, a.CommitLean = 300, 2 // few of these bring most of it
	n := Compute(a, Last)
	ample := Simulate(a, Days{Days: 1, Slots: 10_000, Seed: 2})
	p := Simulate(a, Days{Days: 1, Slots: int(n.Slots / 4), Seed: 2})
	if p.P95 < 5*ample.P95 {
		t.Errorf("95%% of the commits are fresh within %g s, %g with slots to spare: that is no shortage", p.P95, ample.P95)
	}
	if p.QuietP95 > 5*ample.QuietP95 {
		t.Errorf("quiet repositories wait for %g s, %g with slots to spare", p.QuietP95, ample.QuietP95)
	}
}

// Every assumption can be set, and one that is off is noticed.
func TestSet(t *testing.T) {
	a := Defaults()
	if err := a.Set("commits=7,cutoff=0.25"); err != nil || a.Commits != 7 || a.Cutoff != 0.25 {
		t.Errorf("%v, %g commits, cutoff %g", err, a.Commits, a.Cutoff)
	}
	for _, bad := range []string{"", "commits", "commits=x", "nothing=1", "commits=-1"} {
		if a.Set(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	a = Defaults()
	for _, f := range a.Fields() {
		if f.Low > *f.Value || f.High < *f.Value {
			t.Errorf("%s: %g is not between %g and %g", f.Key, *f.Value, f.Low, f.High)
		}
	}
}

// Figures that can be done in one's head.
func TestCompute(t *testing.T) {
	a := Assumptions{
		Developers: 10, Repositories: 5, Files: 1000, FilesPerDirectory: 10, Described: 1,
		Clones: 2, Commits: 4, Changed: 3, Own: 2, Above: 3, Cutoff: 0,
		OwnTokens: 100, AboveTokens: 60, DescribeTokens: 50, Input: 1e6, Output: 1e6,
		Latency: 10, Peak: 2, Load: 0.5, Survey: 1, Syncs: 1, Jobs: 1,
	}
	n := Compute(a, Measured{RowBytes: 1, RecordBytes: 10, DirectoryBytes: 100})
	for what, v := range map[string][2]float64{
		"rows":           {n.Rows, 4000},       // 20 clones of 200 files
		"records":        {n.Records, 1100},    // 1,000 files, 100 directories
		"record bytes":   {n.RecordBytes, 2e4}, // 1,000 of 10, 100 of 100
		"calls":          {n.Calls, 200},       // 40 commits of 5 directories
		"row writes":     {n.RowWrites, 480},   // 40 commits of 3 files in 4 clones
		"tokens":         {n.Tokens, 6400},
		"dollars":        {n.Dollars, 6400},
		"first survey":   {n.SurveyTokens, 50_000},
		"middle":         {n.Median, 200},
		"sizes all same": {n.Largest, 200},
	} {
		near(t, what, v[0], v[1], 1e-9)
	}
	if out := Compute(Scenarios(a)[0].Assumptions, Last); out.Dollars != 0 || out.SurveyDollars != 0 || out.Calls != 0 {
		t.Errorf("outlines cost %g, at first %g, in %g calls", out.Dollars, out.SurveyDollars, out.Calls)
	}
	for _, s := range Sensitivity(a, Measured{}, func(n Numbers) float64 { return n.Dollars }) {
		if s.Key == "clones" && (s.AtLow != 1 || s.AtHigh != 1) {
			t.Errorf("clones do not cost tokens: %g to %g", s.AtLow, s.AtHigh)
		}
	}
}
