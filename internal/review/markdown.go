package review

import (
	"fmt"
	"strings"

	"ken/internal/english"
)

// Markdown returns the review for a pull request; "" if it is empty. Text from the repository is in code spans, in
// which nothing is a link, a mention or HTML.
func (r *Review) Markdown() string {
	if len(r.Lines) == 0 && len(r.Unknown) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("**ken review**: " + r.markdownHeadline() + "\n\n")
	for _, l := range r.Lines {
		b.WriteString("- " + l.markdown() + "\n")
		if !l.listAll {
			continue
		}
		for _, p := range l.Places {
			b.WriteString("  - " + codeSpan(p.String()) + "\n")
		}
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "- and %s: `ken review --all`\n", english.Count(r.More, "more line"))
	}
	for _, u := range r.Unknown {
		b.WriteString("- **unknown** " + u.Text(codeSpan) + "\n")
	}
	return b.String()
}

func (r *Review) markdownHeadline() string {
	if r.From == "" {
		return "this change could not be reviewed"
	}
	text := english.Count(r.Files, "file") + " changed since " + codeSpan(r.Base) + " (" + codeSpan(short(r.From)) + ")"
	if r.To != Worktree {
		text += " up to " + codeSpan(short(r.To))
	}
	return text
}

// markdown returns one line.
func (l *Line) markdown() string {
	var b strings.Builder
	b.WriteString("**" + string(l.Kind) + "** ")
	switch {
	case l.Path != "":
		b.WriteString(codeSpan(l.Subject) + " ")
	case l.Subject != "":
		b.WriteString(l.Subject + " ")
	}
	b.WriteString(l.textWith(codeSpan))
	if l.Command != "" {
		b.WriteString(": " + codeSpan(l.Command))
	}
	return b.String()
}

// codeSpan returns a text as a code span. The fence is longer than any run of backticks in the text.
func codeSpan(text string) string {
	text = strings.TrimSpace(plain(text))
	if text == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	pad := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	return fence + pad + text + pad + fence
}
