package agenthook

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ken/internal/docs"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/project"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
)

// Limits for the bytes of a greeting, of a line before an edit, of a name in a greeting and of a command in it.
const (
	MaxGreeting = 600
	maxLine     = 180
	maxName     = 60
	maxCommand  = 60
	fewCommands = 2
)

// A Greeting is what a new session should know: it is about to believe these documents.
type Greeting struct {
	Mentions        []docs.CheckedMention // the stale ones in documents that agents read
	MentionsUnknown bool                  // finding them would take too long
	Summaries       int                   // that are stale
	Commands        project.Commands
}

// String returns the greeting, in at most [MaxGreeting] bytes; "" if there is nothing to say.
func (g *Greeting) String() string {
	var rest []string
	if g.MentionsUnknown {
		rest = append(rest, "ken: unknown which lines of your instructions are stale; run: ken docs")
	}
	if g.Summaries > 0 {
		rest = append(rest, "ken: "+english.Count(g.Summaries, "stale summary")+"; list: ken status")
	}
	if commands := g.commands(); commands != "" {
		rest = append(rest, "ken: "+commands)
	}
	end := strings.Join(rest, "\n")
	text := g.mentions(MaxGreeting - len(end) - len(repo.QuotationNote) - 2)
	if text != "" && end != "" {
		text += "\n"
	}
	return repo.NoteQuotations(text + end)
}

// commands says how to test and lint, in one line.
func (g *Greeting) commands() string {
	var parts []string
	for _, use := range []struct {
		verb string
		list []project.Command
	}{{"test", g.Commands.Test}, {"lint", g.Commands.Lint}} {
		var runs []string
		for _, c := range use.list {
			if len(c.Run) <= maxCommand {
				runs = append(runs, repo.Quotation(c.Run))
			}
		}
		if len(runs) > 0 {
			parts = append(parts, use.verb+" with "+english.First(runs, fewCommands))
		}
	}
	return strings.Join(parts, "; ")
}

// mentions lists the stale mentions in at most so many bytes, the most important first.
func (g *Greeting) mentions(room int) string {
	list := groupMentions(g.Mentions)
	if len(list) == 0 {
		return ""
	}
	text := "ken: out of date in instructions for agents:"
	for i, m := range list {
		line := "\n" + m.line()
		after := moreMentions(list[i+1:])
		if len(text)+len(line)+len(after) > room {
			return text + moreMentions(list[i:])
		}
		text += line
	}
	return text
}

func moreMentions(list []mentionGroup) string {
	if len(list) == 0 {
		return ""
	}
	command := "ken docs"
	if docs.IsOutside(list[len(list)-1].file) {
		command += " --memory"
	}
	return fmt.Sprintf("\n+%d more: %s", len(list), command)
}

// A mentionGroup is what a document says about one thing in one or several lines.
type mentionGroup struct {
	file  repo.Path
	name  string
	fate  string
	lines []int // ascending
}

// groupMentions joins the mentions of the same thing in a document. Those in instructions at the root come first, and
// those in memories last.
func groupMentions(mentions []docs.CheckedMention) []mentionGroup {
	var list []mentionGroup
	for i := range mentions {
		m := &mentions[i]
		g := mentionGroup{file: m.File, name: m.Text, fate: fateOf(m)}
		isSame := func(o mentionGroup) bool { return o.file == g.file && o.name == g.name && o.fate == g.fate }
		at := slices.IndexFunc(list, isSame)
		if at < 0 {
			at = len(list)
			list = append(list, g)
		}
		list[at].lines = append(list[at].lines, m.Line)
	}
	slices.SortStableFunc(list, func(a, b mentionGroup) int { return cmp.Compare(distance(a.file), distance(b.file)) })
	return list
}

// distance says how far a document is from the instructions at the root, which every session reads.
func distance(document repo.Path) int {
	switch {
	case docs.IsOutside(document):
		return 2
	case document.Dir() != "":
		return 1
	default:
		return 0
	}
}

// fateOf says what became of the thing that a stale mention names.
func fateOf(m *docs.CheckedMention) string {
	switch {
	case m.Verdict == docs.Moved:
		return "moved to " + repo.QuotedName(m.To.String())
	case m.Renamed != "":
		return "renamed to " + repo.QuotedName(m.Renamed)
	default:
		return m.Verdict.String()
	}
}

func (g *mentionGroup) line() string {
	name := repo.QuotedName(repo.Shorten(g.name, maxName))
	return fmt.Sprintf("%s:%s names %s: %s", repo.QuotedName(g.file.String()), lineRanges(g.lines), name, g.fate)
}

// lineRanges lists ascending lines: 3,7-9.
func lineRanges(lines []int) string {
	lines = slices.Compact(slices.Clone(lines))
	var parts []string
	for i := 0; i < len(lines); {
		first := i
		for i++; i < len(lines) && lines[i] == lines[i-1]+1; i++ {
		}
		part := strconv.Itoa(lines[first])
		if i-1 > first {
			part += "-" + strconv.Itoa(lines[i-1])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

// cut shortens a text to most bytes, at the end of a character. It closes a quotation at the end.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := ""
	if strings.HasSuffix(text, `"`) {
		end = `…"`
	}
	return strings.ToValidUTF8(text[:max(0, most-len(end))], "") + end
}

// maxSpecs is the number of specs of a file that a hook names.
const maxSpecs = 2

// GoverningSpecs says which specs govern a file, and how to read them; "" if there are none.
func GoverningSpecs(path string, claims []spec.Claim) string {
	var list []string
	for i, c := range claims {
		if i == maxSpecs {
			list = append(list, fmt.Sprintf("ken: %d more govern it; list: ken spec owner %s", len(claims)-i, fault.Quote(path)))
			break
		}
		said := "ken: spec " + repo.QuotedName(c.ID) + " governs " + repo.QuotedName(path)
		if strings.TrimSpace(c.Desc) != "" {
			said += " and says " + repo.Quotation(c.Desc)
		}
		how := "; read: ken spec show " + fault.Quote(c.ID)
		list = append(list, cut(said, maxLine-len(how))+how)
	}
	return strings.Join(list, "\n")
}

// MovedCodeUnknown says that ken has not read the history, so a file may be moved code of a spec.
func MovedCodeUnknown(path string) string {
	path = fault.Quote(path)
	return cut("ken: unknown whether a spec governs "+path+" by an older path; run: ken spec owner "+path, maxLine)
}

// StaleSummary quotes the summary of a file that is stale.
func StaleSummary(path string, s *registry.Summary) string {
	grade := ""
	if s.Grade != "" && s.Grade != fresh.GradeContent { // which only says that something changed
		grade = " (" + string(s.Grade) + ")"
	}
	return cut("ken: the summary of "+repo.QuotedName(path)+" is stale"+grade+": "+repo.Quotation(s.Text), maxLine)
}

// TimedOut says what a hook that ran out of time does not know, and which command to run; "" if the hook had nothing to
// tell. The input is nil if it did not arrive in time.
func TimedOut(e Event, c *Input) string {
	switch {
	case e == SessionStart, e == SubagentStart:
		return timedOut("which lines of your instructions are stale", "ken docs")
	case e != PreToolUse:
		return ""
	case c == nil:
		return timedOut("which spec governs the file", "ken spec owner PATH")
	case c.Access != Edit || len(c.Paths) == 0:
		return ""
	}
	text := timedOut("which spec governs "+repo.QuotedName(c.Paths[0]), "ken spec owner "+fault.Quote(c.Paths[0]))
	if n := len(c.Paths) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s)", english.Count(n, "more file"))
	}
	return text
}

func timedOut(what, command string) string {
	return "ken: timed out before it knew " + what + "; run: " + command
}
