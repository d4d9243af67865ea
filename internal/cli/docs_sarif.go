package cli

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"ken/internal/docs"
	"ken/internal/docs/mention"
	"ken/internal/fresh"
	"ken/internal/term"
)

// mostRelated limits the other places that a result of SARIF names. Each place has a result of its own.
const mostRelated = 10

// docsSARIF returns stale mentions as SARIF: a result for each place, because code scanning shows only the first
// location of a result. It names other places of the same thing.
func (p *program) docsSARIF(found []docs.CheckedMention) sarifLog {
	run := newSARIFRun(p.Version)
	run.Automation = &sarifAutomation{"ken docs/"}
	same := make(map[string][]*docs.CheckedMention)
	for i := range found {
		thing := thingOf(&found[i])
		same[thing] = append(same[thing], &found[i])
	}
	seen := make(map[string]int) // results by fingerprint
	for i := range found {
		j := &found[i]
		text := escapeLinks(term.Clean(j.Text) + " is " + term.Clean(j.Describe(docsSubject)))
		result := run.add(docsRule(j.Kind, j.Verdict), "warning", text, j.File.String(), j.Line)
		for _, other := range same[thingOf(j)] {
			if other == j || len(result.Related) == mostRelated {
				continue
			}
			place := fmt.Sprintf("%s:%d", other.File, other.Line)
			at := sarifPlace(other.File.String(), other.Line)
			at.ID = len(result.Related) + 1
			at.Message = &sarifText{escapeLinks(place)}
			result.Related = append(result.Related, at)
			word := ", "
			if at.ID == 1 {
				word = "; also at "
			}
			result.Message.Text += fmt.Sprintf("%s[%s](%d)", word, at.Message.Text, at.ID)
		}
		// The fingerprint that code scanning compares. It would otherwise be of the text around the line.
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %s %q", j.File, j.Kind, j.Text))
		mark := fmt.Sprintf("%x", sum[:8])
		seen[mark]++
		result.Fingerprints = map[string]string{"primaryLocationLineHash": fmt.Sprintf("%s:%d", mark, seen[mark])}
	}
	return run.log()
}

// thingOf returns a text that mentions have in common if they are about the same thing and its fate is the same.
func thingOf(m *docs.CheckedMention) string {
	name := m.Name
	if m.Kind == mention.Path && m.Was != "" {
		name = "" // documents in other directories write it differently
	}
	return fmt.Sprintf("%s %q %q %q %q", m.Kind, name, m.Tool, m.Was, m.Describe(docsSubject))
}

// escapeLinks escapes the characters of links in a message of SARIF.
func escapeLinks(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(text)
}

// docsRule is the rule that a stale mention breaks.
func docsRule(kind mention.Kind, verdict fresh.Verdict) sarifRule {
	things := map[mention.Kind]string{
		mention.Path: "A file or directory", mention.Symbol: "A symbol", mention.Command: "A command",
		mention.Anchor: "A heading", mention.Option: "An option",
	}
	short := things[kind] + " that a document mentions is gone."
	help := "Change the document."
	if verdict == docs.Moved {
		short = things[kind] + " that a document mentions has moved."
		help = "Run: ken docs --fix."
	}
	help += " If the mention is right, run: ken docs --ignore PATH:LINE"
	return sarifRule{ID: "docs/" + string(kind) + "-" + verdict.String(), Short: &sarifText{short}, Help: &sarifText{help}}
}
