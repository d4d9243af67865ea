package docs

import (
	"bytes"
	"slices"

	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// readMentions reads one document, and hides mentions that are not useful. partial says why there may be more
// mentions; "" if the list is complete.
func readMentions(doc repo.Path, content []byte) (list []CheckedMention, partial string, err error) {
	read, err := mention.Read(doc, content)
	if err != nil {
		return nil, "", err
	}
	list = make([]CheckedMention, len(read.Mentions))
	past, decision := mention.IsHistorical(doc) || mention.IsChangelog(doc, content), mention.RoleOf(doc) == mention.Decision
	var prompted []bool // for each line; computed on first use
	for i, m := range read.Mentions {
		list[i].Mention = m
		if m.Declared {
			list[i].Verdict, list[i].Why = Holds, "the document declares it"
		}
		switch {
		case m.Acked:
			list[i].Hidden = HiddenAcked
		case past, decision && m.Form != mention.Link: // true at the time of the decision, but a link must work now
			list[i].Hidden = HiddenHistorical
		case m.SaidGone && m.Form != mention.Link: // a link must work nevertheless
			list[i].Hidden = HiddenHedged
		case m.Form == mention.Drawing:
			if prompted == nil {
				prompted = printed(content)
			}
			if m.Line <= len(prompted) && prompted[m.Line-1] {
				list[i].Hidden = HiddenPrinted
			}
		}
	}
	return list, read.Partial, nil
}

// printed reports for each line whether its code block begins with a command at a prompt. Such a line is the
// output of a program.
func printed(content []byte) []bool {
	var is []bool
	at, fenced := false, false
	for line := range bytes.Lines(content) {
		text := bytes.TrimSpace(line)
		if fenced { // the line before opens a block, or closes one
			at = slices.ContainsFunc(prompts, func(p string) bool { return bytes.HasPrefix(text, []byte(p)) })
		}
		is = append(is, at)
		fenced = bytes.HasPrefix(text, []byte("```")) || bytes.HasPrefix(text, []byte("~~~"))
	}
	return is
}

var prompts = []string{"$ ", "> ", "% ", "❯ ", "➜ ", "PS> "}
