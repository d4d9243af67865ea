package registry_test

import (
	"context"
	"strings"
	"testing"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// A firstLetterGrader grades changes: if both contents begin with the same letter, the end of the new one
// names the grade.
type firstLetterGrader struct {
	texts []string
	asked int
}

func (l *firstLetterGrader) grade(_ context.Context, moves []registry.ContentChange) ([]fresh.Grade, error) {
	text := func(id repo.ID) string {
		for _, s := range l.texts {
			if blob(s) == id {
				return s
			}
		}
		return "?"
	}
	grades := make([]fresh.Grade, len(moves))
	for i, m := range moves {
		l.asked++
		grades[i] = fresh.GradeContent
		if from, to := text(m.From), text(m.To); from[0] == to[0] {
			for _, g := range fresh.Grades {
				if strings.HasSuffix(to, string(g)) {
					grades[i] = g
				}
			}
		}
	}
	return grades, nil
}

func useLetterGrades(w *fakeRepo) *firstLetterGrader {
	l := &firstLetterGrader{texts: []string{"alpha", "a format", "a body", "a interface", "other"}}
	w.grade = l.grade
	return l
}

// The verdict of a change depends on its grade and on the policy. Counts, verdicts and Show agree, also if they
// come from rows alone.
func TestGrades(t *testing.T) {
	for _, tt := range []struct {
		text  string
		count []fresh.Grade
		state fresh.State
		grade fresh.Grade
	}{
		{"a format", nil, fresh.Fresh, fresh.GradeFormat},
		{"a body", nil, fresh.Stale, fresh.GradeBody},
		{"a interface", nil, fresh.Stale, fresh.GradeInterface},
		{"other", nil, fresh.Stale, fresh.GradeContent},
		{"a format", fresh.Grades, fresh.Stale, fresh.GradeFormat},
		{"a body", []fresh.Grade{fresh.GradeInterface}, fresh.Fresh, fresh.GradeBody},
		{"other", []fresh.Grade{}, fresh.Stale, fresh.GradeContent},
	} {
		t.Run(tt.text, func(t *testing.T) {
			w := settled(t, "a.go", "alpha", "b.go", "beta")
			w.policy.StaleGrades = tt.count
			l := useLetterGrades(w)
			w.writeSummaries(t, registry.Update{Path: "a.go", Text: "about a", Read: blob("alpha").String()})
			w.put("a.go", tt.text)
			w.commit()
			for _, round := range []string{"verified", "trusted", "in full"} {
				rep := w.verify(t, registry.VerifyOptions{All: true, Full: round == "in full"})
				if v := rep.Verdicts[0]; v.Summary != tt.state || v.Grade != tt.grade {
					t.Errorf("%s: the verdict is %s with grade %q; want %s with grade %q", round, v.Summary, v.Grade, tt.state, tt.grade)
				}
				brief := w.status(t, registry.VerifyOptions{})
				if fresh, stale := brief.Counts.Fresh, brief.Counts.Stale; fresh != rep.Counts.Fresh || stale != rep.Counts.Stale || fresh+stale != 1 {
					t.Errorf("%s: status counts %+v, verify counts %+v; want one file, the same in both", round, brief.Counts, rep.Counts)
				}
				tally, err := w.store.Counts(t.Context(), "")
				if err != nil || tally.Fresh != rep.Counts.Fresh || tally.Stale != rep.Counts.Stale {
					t.Errorf("%s: the store counts %+v, %v; want the counts of the report, %+v", round, tally, err, rep.Counts)
				}
				k, err := w.registry().Show(t.Context(), []repo.Path{"a.go"})
				if err != nil || k[0].Verdict != tt.state || k[0].Grade != tt.grade || k[0].ID != blob("alpha") {
					t.Errorf("%s: Show returned %+v, %v; want %s with grade %q", round, k, err, tt.state, tt.grade)
				}
			}
			if l.asked > 1 && tt.grade != fresh.GradeContent {
				t.Errorf("asked %d times", l.asked)
			}
		})
	}
}

// A changed policy applies at once, in both directions.
func TestGradesUnderANewPolicy(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	useLetterGrades(w)
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "about a", Read: blob("alpha").String()})
	w.put("a.go", "a format")
	w.commit()
	for i, grades := range [][]fresh.Grade{nil, fresh.Grades, nil} {
		w.policy.StaleGrades = grades
		rep := w.verify(t, registry.VerifyOptions{})
		if stale := i % 2; rep.Counts.Stale != stale || rep.Counts.Fresh != 1-stale {
			t.Errorf("with the stale grades %v, verify counts %+v; want %d stale", grades, rep.Counts, stale)
		}
	}
	// The content is the basis of the text again, so there is nothing to grade.
	w.put("a.go", "alpha")
	w.commit()
	if v := w.verify(t, registry.VerifyOptions{All: true}).Verdicts[0]; v.Summary != fresh.Fresh || v.Grade != "" {
		t.Errorf("the verdict is %s with grade %q; want fresh without a grade", v.Summary, v.Grade)
	}
}
