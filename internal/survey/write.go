package survey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// MaxText is the most bytes of a text about a directory. MaxWords is the most bytes of a text by a model or an agent;
// the prompt asks for at most 200 words.
const (
	MaxText  = store.MaxText
	MaxWords = 4 << 10
)

// A Writer describes directories.
type Writer interface {
	// Author returns the name of the writer.
	Author() string
	// Recipe returns the version of the prompt and the model.
	Recipe() string
	// Write describes one directory. The draft has the cost, even if there is an error.
	Write(ctx context.Context, it *Item) (Draft, error)
}

// A Draft is the answer of a writer.
type Draft struct {
	Text    string
	Keep    bool                 // the previous summary is still right; Text is empty
	Files   map[repo.Path]string // summaries of its files
	Partial bool                 // the writer could not finish
	Flags   []store.DirFlag
	Spent   Spent
}

// Spent is the cost of writing.
type Spent struct {
	Calls   int
	In, Out int64   // tokens
	Cost    float64 // in dollars
	Unknown bool    // the price is unknown, so Cost is too low
}

// Add returns the sum of both.
func (s Spent) Add(t Spent) Spent {
	return Spent{s.Calls + t.Calls, s.In + t.In, s.Out + t.Out, s.Cost + t.Cost, s.Unknown || t.Unknown}
}

// record makes a record of a draft. It returns an error if the text is not valid.
func (ts *treeStatus) record(it *Item, d Draft, author, recipe string) (*store.DirRecord, error) {
	r := &store.DirRecord{
		Path: it.Path, Basis: it.Basis, Text: strings.TrimSpace(d.Text), Author: oneLine(author), Recipe: recipe,
		At: ts.stamp(it.Path), Partial: d.Partial, Flags: d.Flags,
	}
	if d.Keep {
		if it.Old == nil {
			return nil, errors.New("there was no summary to keep: submit a text")
		}
		r.Text, r.Author, r.Confirmer = it.Old.Text, it.Old.Author, oneLine(author)
		if !it.Old.IsOutline() { // an outline that the author checked gets the new recipe
			r.Recipe = it.Old.Recipe
		}
		r.Flags = append(flagsOf(it.Old), r.Flags...)
		return r, checkText(r.Text)
	}
	if !r.IsOutline() {
		return r, checkSummary(r.Text)
	}
	return r, checkText(r.Text)
}

// stamp returns the time for a new record of a directory. It is later than that of all its records, even if they
// were written with another clock.
func (ts *treeStatus) stamp(p repo.Path) time.Time {
	var earlier []time.Time
	for _, r := range ts.latest[p] {
		earlier = append(earlier, r.At)
	}
	return fresh.Stamp(ts.opts.Now(), earlier...)
}

// checkSummary checks a text that a model or an agent wrote. It must not be too long, a refusal, or a part of the
// prompt.
func checkSummary(text string) error {
	if err := fresh.CheckText(text, MaxWords, repo.IsMisleading); err != nil {
		return err
	}
	if isRefusal(text) {
		return errRefusalText
	}
	asked, _, _ := strings.Cut(Rules, "\n")
	if strings.Contains(text, asked) {
		return errors.New("the text repeats the prompt")
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == dataBegins || line == dataEnds {
			return fmt.Errorf("the text repeats a line of the prompt: %s", line)
		}
	}
	return nil
}

// errRefusalText says that a text is a refusal.
var errRefusalText = errors.New("the text is a refusal, not a summary")

// refusals are the first words of texts in which models refuse. No summary starts with them.
var refusals = []string{
	"i'm sorry", "i am sorry", "i apologize", "i apologise", "sorry,", "i cannot", "i can't", "i can not", "i won't", "i will not",
	"i'm unable", "i am unable", "i'm not able", "i am not able", "unfortunately, i ", "as an ai",
}

// isRefusal reports whether a text is a refusal.
func isRefusal(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "\u2019", "'"))
	return slices.ContainsFunc(refusals, func(words string) bool { return strings.HasPrefix(text, words) })
}

// checkText checks any text about a directory.
func checkText(text string) error { return fresh.CheckText(text, MaxText, repo.IsMisleading) }

// oneLine replaces line breaks and other misleading characters by spaces.
func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if repo.IsMisleading(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
	return strings.TrimSpace(s)
}
