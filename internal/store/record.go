package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Record is a summary as it is stored and shared, of a file or of a directory. Exactly one
// of the two is set.
type Record struct {
	File      *fresh.Record
	Directory *DirRecord
}

// Records stores the records of one machine, of files and directories alike.
type Records interface {
	// Since returns records that were stored after mark, in the order of storing, and the
	// mark behind the last of them. A store may return those of files before those of
	// directories. It returns at most the number most. Only an empty answer means that there
	// are no more. The zero Mark, and one of another store, are before
	// everything. Of outlines, only the latest of a directory is returned. A most of 0
	// checks a mark: it comes back unchanged if it is this store's.
	Since(ctx context.Context, mark Mark, most int) (list []Record, next Mark, err error)
	// AddRecords adds the records that are not stored yet, all or none. Adding them
	// again changes nothing.
	AddRecords(ctx context.Context, list []Record) error
}

// A Mark is a position in a store. Only that store can read it; its zero value is the
// beginning.
type Mark string

// ID identifies the record. Records of two directories may have the same id.
func (r Record) ID() fresh.Digest {
	if r.File != nil {
		return r.File.ID()
	}
	return r.Directory.ID()
}

// Path returns the path of the file or directory when the text was written.
func (r Record) Path() repo.Path {
	if r.File != nil {
		return r.File.Path
	}
	return r.Directory.Path
}

// Author returns the author of the text.
func (r Record) Author() string {
	if r.File != nil {
		return r.File.Author
	}
	return r.Directory.Author
}

// At returns when the text was written.
func (r Record) At() time.Time {
	if r.File != nil {
		return r.File.At
	}
	return r.Directory.At
}

// MaxText is the most bytes that the text of a record may have.
const MaxText = 16 << 10

// Check says why ken should not take over a record of another machine at now, nil if it may.
// ken refuses records that it would not have written itself: a text with misleading
// characters, for example, or a date in the future.
func (r Record) Check(now time.Time) error {
	if r.At().After(fresh.LatestTime(now)) {
		return fresh.ErrFutureDate
	}
	var text, author, recipe, confirmer string
	switch {
	case r.File != nil:
		text, author, recipe, confirmer = r.File.Text, r.File.Author, r.File.Recipe, r.File.Confirmer
		if r.File.Basis.IsZero() {
			return errors.New("no content id")
		}
	default:
		text, author, recipe, confirmer = r.Directory.Text, r.Directory.Author, r.Directory.Recipe, r.Directory.Confirmer
		for _, f := range r.Directory.Flags {
			if err := checkWord("a finding", f.Severity+f.Finding, MaxText); err != nil {
				return err
			}
		}
	}
	if err := fresh.CheckText(text, MaxText, repo.IsMisleading); err != nil {
		return err
	}
	return errors.Join(checkWord("the author", author, maxWord), checkWord("the recipe", recipe, maxWord), checkWord("the confirmer", confirmer, maxWord))
}

// maxWord is the most bytes that an author or a recipe may have.
const maxWord = 4 << 10

func checkWord(what, s string, most int) error {
	switch {
	case len(s) > most:
		return fmt.Errorf("%s has %d bytes, more than %d", what, len(s), most)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not UTF-8", what)
	case strings.ContainsFunc(s, func(c rune) bool { return repo.IsMisleading(c) && c != '\n' && c != '\t' }):
		return fmt.Errorf("%s has a control character", what)
	}
	return nil
}
