package scale

import (
	"math"
	"slices"
)

// Measured is what a machine said of the program: bytes with all indexes, WAL with full
// page writes.
type Measured struct {
	RowBytes, RecordBytes, DirectoryBytes float64 // of a table, for each
	RowWAL, RecordWAL, DirectoryWAL       float64 // of writing one anew, thousands at a time
	FewRecordWAL, FewDirectoryWAL         float64 // the same, a few at a time: whole pages go with them
	UpdateWAL                             float64 // of a row that was there, likewise
	SyncWAL                               float64 // of a sync that tells how a work tree stands
	JobWAL                                float64 // of a job, from its insertion to its end
	SyncSeconds                           float64 // of a sync that has nothing new, with its connection
	RefBytes                              float64 // of a record under a ref, packed, with the trees that lead to it
}

// Last is what docs/scale.md reports.
var Last = Measured{
	RowBytes: 393, RecordBytes: 1_280, DirectoryBytes: 5_260,
	RowWAL: 539, RecordWAL: 1_530, DirectoryWAL: 5_420,
	FewRecordWAL: 9_020, FewDirectoryWAL: 16_800, UpdateWAL: 2_820, SyncWAL: 480, JobWAL: 4_780,
	SyncSeconds: 0.02, RefBytes: 929,
}

// Numbers are what it comes to.
type Numbers struct {
	Median, Largest float64 // repositories' files
	Directories     float64

	CloneFiles float64 // rows of a work tree, in the mean
	Rows       float64
	RowBytes   float64

	Records     float64 // after the first survey
	RecordBytes float64
	NewRecords  float64 // a day
	NewBytes    float64 // a day

	RowWrites float64 // a day
	WAL       float64 // bytes a day

	SyncPeak    float64 // a second, each with a connection of its own
	Connections float64 // of these at a time, in the busiest moment
	Kept        float64 // connections that workers keep: one for a slot, one to listen

	Jobs     float64 // directories a day, asked or just looked at
	Calls    float64 // a day: directories that a provider is asked about
	CallPeak float64 // a second
	Slots    float64 // workers' jobs at once

	Tokens  float64 // a day
	Dollars float64 // a day

	SurveyTokens  float64
	SurveyDollars float64
	SurveyCalls   float64 // a second, for as long as it lasts
	SurveySlots   float64
	SurveyWAL     float64 // bytes, in all

	RefMedian, RefLargest float64 // bytes of a repository's ref after the first survey
}

const day = 24 * 60 * 60

// Compute does the arithmetic.
func Compute(a Assumptions, m Measured) (n Numbers) {
	n.Median, n.Largest = a.median(), a.largest()
	n.Directories = a.Files / a.FilesPerDirectory

	n.CloneFiles = a.leaning(a.CloneLean)
	n.Rows = a.Developers * a.Clones * n.CloneFiles
	n.RowBytes = n.Rows * m.RowBytes

	texts := a.Files * a.Described
	model := a.Latency > 0
	if !model {
		texts = 0 // an outline is about a directory; what it says of files is in it
	}
	n.Records = texts + n.Directories
	n.RecordBytes = texts*m.RecordBytes + n.Directories*m.DirectoryBytes

	commits := a.Developers * a.Commits
	asked, changed := a.asked(), a.Changed
	if !model {
		changed = 0
	}
	n.NewRecords = commits * (changed + a.Own + asked)
	n.NewBytes = commits * (changed*m.RecordBytes + (a.Own+asked)*m.DirectoryBytes)

	// A commit reaches the clones of its repository.
	reach := min(a.Developers*a.Clones/a.Repositories*math.Exp(a.CommitLean*a.CloneLean*a.Spread*a.Spread), a.Developers*a.Clones)
	n.RowWrites = commits * a.Changed * reach
	syncs := a.Developers * a.Syncs
	n.Jobs = commits * (a.Own + a.Above)
	n.WAL = n.RowWrites*m.UpdateWAL + commits*(changed*m.FewRecordWAL+(a.Own+asked)*m.FewDirectoryWAL) + syncs*m.SyncWAL

	n.SyncPeak = syncs * a.Peak / day
	n.Connections = n.SyncPeak * m.SyncSeconds

	n.SurveyWAL = texts*m.RecordWAL + n.Directories*m.DirectoryWAL
	n.RefMedian = n.Median * m.RefBytes / a.Files * n.Records
	n.RefLargest = n.Largest * m.RefBytes / a.Files * n.Records
	if !model {
		return n
	}
	n.WAL += n.Jobs * m.JobWAL
	n.SurveyWAL += n.Directories * m.JobWAL
	n.Calls = commits * (a.Own + asked)
	n.CallPeak = n.Calls * a.Peak / day
	n.Slots = math.Ceil(n.CallPeak * a.Latency / a.Load)
	n.Kept = n.Slots + math.Ceil(n.Slots/a.Jobs)
	price := func(tokens, out float64) float64 { return ((tokens-out)*a.Input + out*a.Output) / 1e6 }
	n.Tokens = commits * (a.OwnTokens + a.AboveTokens*asked/a.Above)
	n.Dollars = price(n.Tokens, commits*((a.Own+asked)*a.AnswerTokens+changed*a.TextTokens))
	n.SurveyTokens = texts * a.DescribeTokens
	n.SurveyDollars = price(n.SurveyTokens, n.Directories*a.AnswerTokens+texts*a.TextTokens)
	n.SurveyCalls = n.Directories / (a.Survey * day)
	n.SurveySlots = math.Ceil(n.SurveyCalls * a.Latency / a.Load)
	return n
}

// A Swing is how far a figure goes when one assumption is off.
type Swing struct {
	Field
	AtLow, AtHigh float64 // the figure, by what it is by default
}

// Sensitivity returns what a figure becomes when assumptions are off one at a time, the one
// that matters most first.
func Sensitivity(a Assumptions, m Measured, figure func(Numbers) float64) []Swing {
	base := figure(Compute(a, m))
	var list []Swing
	for _, f := range a.Fields() {
		if f.Low == f.High {
			continue
		}
		was, s := *f.Value, Swing{Field: f}
		*f.Value = f.Low
		s.AtLow = figure(Compute(a, m)) / base
		*f.Value = f.High
		s.AtHigh = figure(Compute(a, m)) / base
		*f.Value = was
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(x, y Swing) int {
		switch {
		case x.wide() > y.wide():
			return -1
		case x.wide() < y.wide():
			return 1
		}
		return 0
	})
	return list
}

// wide is by which factor the figure goes between both ends.
func (s Swing) wide() float64 {
	return max(s.AtLow, s.AtHigh) / max(min(s.AtLow, s.AtHigh), 1e-9)
}
