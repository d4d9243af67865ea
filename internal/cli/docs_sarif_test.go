package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// staleMention returns a mention of a file that is gone.
func staleMention(doc string, line int, name, was string) docs.CheckedMention {
	m := docs.CheckedMention{Verdict: docs.Gone, Was: repo.Path(was), Since: &docs.Commit{Subject: "less"}}
	m.File, m.Line, m.Text, m.Name, m.Kind = repo.Path(doc), line, name, name, mention.Path
	return m
}

// A result has the fields that code scanning reads, names the other places of the same thing, and keeps its
// fingerprint when its line moves.
func TestDocsSARIF(t *testing.T) {
	found := []docs.CheckedMention{
		staleMention("a b.md", 3, "api/[x].go", "api/[x].go"),
		staleMention("a b.md", 5, "api/[x].go", "api/[x].go"),
		staleMention("docs/c.md", 1, "../api/[x].go", "api/[x].go"),
		staleMention("docs/c.md", 2, "../api/y.go", "api/y.go"),
	}
	p := new(program)
	text, err := json.Marshal(p.docsSARIF(found))
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			AutomationDetails struct{ ID string }
			Results           []struct {
				RuleID           string
				Message          struct{ Text string }
				Locations        []sarifLocation
				RelatedLocations []struct {
					ID               int
					Message          struct{ Text string }
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || run.AutomationDetails.ID != "ken docs/" || len(run.Results) != 4 {
		t.Fatalf("the document is %s", text)
	}
	first := run.Results[0]
	want := `api/\[x\].go is gone since  "less"; also at [a b.md:5](1), [docs/c.md:1](2)`
	if first.RuleID != "docs/path-gone" || first.Message.Text != want || len(first.Locations) != 1 {
		t.Errorf("the first result is %+v, want the message %s", first, want)
	}
	related := first.RelatedLocations
	if len(related) != 2 || related[0].PhysicalLocation.ArtifactLocation.URI != "a%20b.md" || related[0].PhysicalLocation.Region.StartLine != 5 ||
		related[0].ID != 1 || related[1].ID != 2 {
		t.Errorf("related locations: %+v", related)
	}
	if run.Results[3].RelatedLocations != nil {
		t.Errorf("another thing is related: %+v", run.Results[3])
	}
	marks := make(map[string]bool)
	for i, r := range run.Results {
		mark := r.PartialFingerprints["primaryLocationLineHash"]
		if mark == "" || marks[mark] {
			t.Errorf("result %d has the fingerprint %q again", i, mark)
		}
		marks[mark] = true
		found[i].Line += 10
	}
	for i, r := range p.docsSARIF(found).Runs[0].Results {
		if now, was := r.Fingerprints["primaryLocationLineHash"], run.Results[i].PartialFingerprints["primaryLocationLineHash"]; now != was {
			t.Errorf("result %d: the fingerprint was %s and is %s ten lines below", i, was, now)
		}
	}
}

// A thing at very many places does not make the document very large.
func TestDocsSARIFOfManyPlaces(t *testing.T) {
	var found []docs.CheckedMention
	for i := range 1000 {
		found = append(found, staleMention(fmt.Sprintf("%d.md", i), 1, "api/x.go", "api/x.go"))
	}
	results := new(program).docsSARIF(found).Runs[0].Results
	if len(results) != 1000 || len(results[999].Related) != mostRelated || !strings.HasSuffix(results[0].Message.Text, ", [10.md:1](10)") {
		t.Errorf("%d results, the last with %d related places: %s", len(results), len(results[999].Related), results[0].Message.Text)
	}
}
