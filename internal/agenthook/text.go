package agenthook

import (
	"fmt"
	"strings"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/repo"
)

// MaxGreeting is how many bytes an agent is greeted with: 200 tokens, at 4 bytes each.
const MaxGreeting = 800

// Greeting is what an agent learns when it starts: how far what is known can be trusted,
// as much of the brief as fits, and whom to ask for more.
func Greeting(headline, brief string) string {
	const ask = "Ask ken (tools orient, knowledge) before you read files only to understand them.\n"
	var s strings.Builder
	add := func(line string, keep int) bool {
		if s.Len()+len(line)+keep > MaxGreeting {
			return false
		}
		s.WriteString(line)
		return true
	}
	line := "ken: " + headline + "\n"
	if !add(line, len(ask)) {
		s.WriteString(cut(line, MaxGreeting-len(ask)-1) + "\n")
	}
	for l := range strings.Lines(brief) {
		l = strings.TrimRight(l, "\n") + "\n"
		if add(l, len(ask)) {
			continue
		}
		if room := MaxGreeting - s.Len() - len(ask) - 1; room > minLine && strings.HasSuffix(l, "\"\n") {
			s.WriteString(cutQuotation(strings.TrimRight(l, "\n"), room) + "\n")
		}
		break
	}
	s.WriteString(ask)
	return s.String()
}

// cut shortens a text to so many bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, most)], "")
}

const (
	maxLine = 300 // how long one line of a remark may be
	minLine = 80  // of a line that is cut, so much is worth reading
)

// A Spec is one that governs a file.
type Spec struct {
	ID, Desc string
	// Blocks is its drift if the gate stops a commit of the file because of it, else 0.
	Blocks int
	// DriftUnknown says that it is not known whether the gate does.
	DriftUnknown bool
}

// GoverningSpecs tells which specs govern a file, before it is edited, and where to read them; ""
// when none does.
func GoverningSpecs(path string, claims []Spec) string {
	var list []string
	for _, c := range claims {
		list = append(list, c.governs(path))
		if len(list) == 2 {
			break
		}
	}
	if len(list) == 0 {
		return ""
	}
	if len(claims) > len(list) {
		list = append(list, fmt.Sprintf("ken: more specs govern it (%d); list them: ken spec owner %s", len(claims)-len(list), fault.Quote(path)))
	}
	return strings.Join(list, "\n")
}

func (c Spec) governs(path string) string {
	id := fault.Quote(c.ID)
	said := "ken: spec " + c.ID + " governs " + path
	if id != c.ID { // it may read like a sentence
		said = "ken: spec " + repo.Quotation(c.ID) + " governs " + path
	}
	if strings.TrimSpace(c.Desc) != "" {
		said += " and says " + repo.Quotation(c.Desc)
	}
	how := " (ken spec show " + id + ")"
	if c.Blocks > 0 {
		how += fmt.Sprintf("; its drift is %d, so the gate stops your commit unless you edit the spec too, or run: ken spec ack %s --reason TEXT", c.Blocks, id)
	} else if c.DriftUnknown {
		how += "; its drift is unknown, run: ken spec ls"
	}
	return cutQuotation(said, maxLine-len(how)) + how
}

// StaleSummary tells what became of the summary of a file that was edited; "" where nothing
// is said of it, or still holds.
func StaleSummary(path string, verdict fresh.State, grade fresh.Grade) string {
	if verdict != fresh.Stale {
		return ""
	}
	how := ""
	if grade != "" {
		how = " (" + string(grade) + ")"
	}
	return cut(fmt.Sprintf("ken: the summary of %s is now stale%s. After the commit, write a new one with file_registry_update_summaries.", path, how), maxLine)
}

// StaleList tells what is stale when an agent stops; "" for nothing.
func StaleList(stale []string, unknown int) string {
	if len(stale) == 0 && unknown == 0 {
		return ""
	}
	const few = 5
	var s strings.Builder
	s.WriteString("ken: ")
	switch len(stale) {
	case 0:
	case 1:
		s.WriteString("1 summary is stale: ")
	default:
		fmt.Fprintf(&s, "%d summaries are stale: ", len(stale))
	}
	s.WriteString(strings.Join(stale[:min(few, len(stale))], ", "))
	if len(stale) > few {
		fmt.Fprintf(&s, " and %d more", len(stale)-few)
	}
	if unknown > 0 {
		if len(stale) > 0 {
			s.WriteString("; ")
		}
		fmt.Fprintf(&s, "ken could not judge %d", unknown)
	}
	return cut(s.String(), MaxGreeting)
}

// TimedOut tells what ken could not find out before the time of a hook was over, and the command
// that finds it out; "" where the hook had nothing to find out. The call is nil if it was not
// read in time either.
func TimedOut(e Event, c *Input) string {
	switch e {
	case SessionStart, SubagentStart:
		return timedOut("what changed since the last check", "ken status")
	case Stop:
		return timedOut("which summaries are stale", "ken status")
	case PreToolUse, PostToolUse:
	}
	paths := []string{"PATH"}
	if c != nil {
		paths = c.Paths
		if c.Access != Edit {
			return ""
		}
	}
	const few = 2
	var list []string
	for _, p := range paths[:min(few, len(paths))] {
		if e == PreToolUse {
			list = append(list, timedOut("which spec governs "+p, "ken spec owner "+fault.Quote(p)))
		} else {
			list = append(list, timedOut("whether the summary of "+p+" still holds", "ken summary show "+fault.Quote(p)))
		}
	}
	if len(paths) > few {
		list = append(list, fmt.Sprintf("ken: and %d more files", len(paths)-few))
	}
	return strings.Join(list, "\n")
}

func timedOut(what, command string) string {
	return "ken: timed out before it knew " + what + "; run: " + command
}

// cutQuotation is cut for a text that ends in a quotation, which is closed again.
func cutQuotation(text string, most int) string {
	if len(text) <= most || !strings.HasSuffix(text, `"`) {
		return cut(text, most)
	}
	return cut(text, most-len(`…"`)) + `…"`
}
