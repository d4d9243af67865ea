package docs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ken/internal/config"
	"ken/internal/content"
	"ken/internal/docs/mention"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/repo"
)

// An Ignored is a stale mention that is not listed again, and what ken wrote for that.
type Ignored struct {
	CheckedMention
	In   repo.Path // the document, or the configuration
	Line int       // of the text
	Text string    // a comment, or an entry of docs.ok
}

// StaleAt returns the stale mentions on a line of a document, each text once. If there are none, the error names the
// lines that have some.
func (r *Report) StaleAt(doc repo.Path, line int) ([]CheckedMention, error) {
	var found []CheckedMention
	var lines, reasons []string
	for _, m := range r.Mentions {
		switch {
		case m.File != doc || m.Verdict == Holds:
		case m.Line == line && m.Hidden != "":
			reasons = append(reasons, m.Text+" is not listed: "+m.Hidden)
		case m.Line == line:
			if !slices.ContainsFunc(found, func(f CheckedMention) bool { return f.Text == m.Text }) {
				found = append(found, m)
			}
		case m.Hidden == "":
			lines = append(lines, fmt.Sprint(m.Line))
		}
	}
	if found != nil {
		return found, nil
	}
	for _, u := range r.Unread {
		if u.File == doc {
			reasons = append(reasons, u.Why)
		}
	}
	const most = 20
	if lines = slices.Compact(lines); len(lines) == 0 {
		reasons = append(reasons, "the document has none")
	} else {
		noun := english.Noun(len(lines), "line")
		reasons = append(reasons, "the document has some at "+noun+" "+english.First(lines, most))
	}
	return nil, &fault.Error{
		Kind: fault.Usage, Hint: "ken docs " + fault.Quote(string(doc)),
		Err: fmt.Errorf("no stale mention at %s:%d; %s", doc, line, strings.Join(reasons, "; ")),
	}
}

// Ignore writes that some mentions of one document are right as they are: a comment in the document, or an entry of
// docs.ok in the configuration if the document is generated or read-only, or has no place for the comment. With dry,
// it only returns what it would write. After an error, the result has what was written before.
func (c *Checker) Ignore(ctx context.Context, doc repo.Path, list []CheckedMention, dry bool) ([]Ignored, error) {
	if IsOutside(doc) {
		return c.accept(ctx, list, dry)
	}
	before, err := c.readWhole(ctx, doc)
	if err != nil {
		return nil, err
	}
	after, done, left := acknowledge(doc, before, list)
	if len(done) > 0 && !dry {
		err := c.Files.Replace(doc, before, after)
		if errors.Is(err, content.ErrReadOnly) {
			done = nil
			left = list
		} else if err != nil {
			return nil, err
		}
	}
	accepted, err := c.accept(ctx, left, dry)
	return append(done, accepted...), err
}

// acknowledge adds a comment for each mention to a document. left are the mentions that need an entry of docs.ok.
func acknowledge(doc repo.Path, before []byte, list []CheckedMention) (after []byte, done []Ignored, left []CheckedMention) {
	if content.KindOf(doc, before) == repo.KindGenerated {
		return before, nil, list
	}
	after = before
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b CheckedMention) int { return a.Line - b.Line })
	for _, m := range list {
		now := m.Mention
		now.Line += addedLines(before, after)
		next, comment, ok := mention.Acknowledge(after, &now)
		if !ok {
			left = append(left, m)
			continue
		}
		for i := range done {
			if done[i].Line >= comment.Line {
				done[i].Line += addedLines(after, next)
			}
		}
		done = append(done, Ignored{m, doc, comment.Line, comment.Text})
		after = next
	}
	return after, done, left
}

func addedLines(before, after []byte) int {
	return bytes.Count(after, []byte("\n")) - bytes.Count(before, []byte("\n"))
}

// accept adds mentions to docs.ok in the configuration.
func (c *Checker) accept(ctx context.Context, list []CheckedMention, dry bool) (done []Ignored, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	before, err := c.readWhole(ctx, config.Name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, &fault.Error{
			Hint: "ken writes only to a file in a directory of the repository, and through no link: ls -ld .ken " + config.Name,
			Err:  fmt.Errorf("add to docs.ok in %s: %w", config.Name, err),
		}
	}
	after := before
	for _, m := range list {
		next, line, entry, err := config.Add(after, "docs", "ok", Accepted{policyName(m.File), m.Text})
		if err != nil {
			return nil, err
		}
		added := addedLines(after, next) // before the entries that are there
		for i := range done {
			done[i].Line += added
		}
		done = append(done, Ignored{m, config.Name, line, entry})
		after = next
	}
	switch {
	case dry:
		return done, nil
	case missing:
		err = c.Files.Create(config.Name, after)
	default:
		err = c.Files.Replace(config.Name, before, after)
	}
	if err != nil {
		return nil, err
	}
	return done, nil
}

// readWhole reads a file of the work tree.
func (c *Checker) readWhole(ctx context.Context, p repo.Path) (text []byte, err error) {
	failed := c.Files.Bytes(ctx, []repo.Path{p}, mention.MaxBytes, func(_ int, b []byte, readErr error) {
		text = bytes.Clone(b)
		err = readErr
	})
	return text, cmp.Or(failed, err)
}
