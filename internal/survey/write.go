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

// MaxText is how many bytes the text about a directory may have, and MaxWords how many it
// may have if a model or an agent wrote it: 200 words are asked for.
const (
	MaxText  = store.MaxText
	MaxWords = 4 << 10
)

// A Writer describes directories.
type Writer interface {
	// Author says who writes.
	Author() string
	// Recipe says how: the prompt's version and the model.
	Recipe() string
	// Write describes one directory. What it spent is in the draft, with an
	// error too.
	Write(ctx context.Context, it *Item) (Draft, error)
}

// A Draft is a writer's answer.
type Draft struct {
	Text    string
	Keep    bool                 // what was said before still holds; Text is empty
	Files   map[repo.Path]string // what is to be said of its files
	Partial bool                 // it could not finish
	Flags   []store.DirFlag
	Spent   Spent
}

// Spent is what writing cost.
type Spent struct {
	Calls   int
	In, Out int64   // tokens
	Cost    float64 // in dollars
	Unknown bool    // the price is not known, so neither is Cost
}

// Add returns the sum of both.
func (s Spent) Add(t Spent) Spent {
	return Spent{s.Calls + t.Calls, s.In + t.In, s.Out + t.Out, s.Cost + t.Cost, s.Unknown || t.Unknown}
}

// record makes a record of a draft; err says what is wrong with it.
func (j *judgement) record(it *Item, d Draft, author, recipe string) (*store.DirRecord, error) {
	r := &store.DirRecord{
		Path: it.Path, Basis: it.Basis, Text: strings.TrimSpace(d.Text), Author: oneLine(author), Recipe: recipe,
		At: j.stamp(it.Path), Partial: d.Partial, Flags: d.Flags,
	}
	if d.Keep {
		if it.Old == nil {
			return nil, errors.New("there was no summary to keep: submit a text")
		}
		r.Text, r.Author, r.Confirmer = it.Old.Text, it.Old.Author, oneLine(author)
		if !it.Old.Outlined() { // the author who keeps an outline has checked it, so the record gets the new recipe
			r.Recipe = it.Old.Recipe
		}
		r.Flags = append(flagsOf(it.Old), r.Flags...)
		return r, badText(r.Text)
	}
	if !r.Outlined() {
		return r, badWords(r.Text)
	}
	return r, badText(r.Text)
}

// stamp is the time of what is noted of a directory now: it comes after all that was
// written there, whatever clock that was written by.
func (j *judgement) stamp(p repo.Path) time.Time {
	var displaced []time.Time
	for _, r := range j.latest[p] {
		displaced = append(displaced, r.At)
	}
	return fresh.Stamp(j.opts.Now(), displaced...)
}

// badWords says what is wrong with a text that a model or an agent has written: more than was asked for,
// or the question itself.
func badWords(text string) error {
	if err := fresh.CheckText(text, MaxWords, repo.Misleads); err != nil {
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

// errRefusalText says that a text is a refusal in words.
var errRefusalText = errors.New("the text is a refusal, not a summary")

// refusals are the words with which models refuse. No summary begins with them.
var refusals = []string{
	"i'm sorry", "i am sorry", "i apologize", "i apologise", "sorry,", "i cannot", "i can't", "i can not", "i won't", "i will not",
	"i'm unable", "i am unable", "i'm not able", "i am not able", "unfortunately, i ", "as an ai",
}

// isRefusal reports whether a text is a refusal in words.
func isRefusal(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "\u2019", "'"))
	return slices.ContainsFunc(refusals, func(words string) bool { return strings.HasPrefix(text, words) })
}

// badText says what is wrong with a text.
func badText(text string) error { return fresh.CheckText(text, MaxText, repo.Misleads) }

func oneLine(s string) string {
	s = strings.Map(func(c rune) rune {
		if repo.Misleads(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
	return strings.TrimSpace(s)
}
