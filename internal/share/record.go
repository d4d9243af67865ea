package share

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
)

// A Record is one text that travels: about a file or about a directory. Exactly one of
// the two is set.
type Record struct {
	File      *fresh.Record
	Directory *survey.Record
}

// A Name names a record: the SHA-256 of its encoding.
type Name [sha256.Size]byte

// NameOf returns the name of an encoding.
func NameOf(encoding []byte) Name { return sha256.Sum256(encoding) }

func (n Name) String() string { return hex.EncodeToString(n[:]) }

// MarshalText writes the name in hex.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (n *Name) UnmarshalText(b []byte) (err error) {
	*n, err = ParseName(string(b))
	return err
}

// ParseName reads 64 lower-case hex digits, and nothing else: a name is spelled in one
// way.
func ParseName(s string) (n Name, err error) {
	if len(s) != hex.EncodedLen(len(n)) || strings.ToLower(s) != s {
		return Name{}, fmt.Errorf("invalid record name %q", s)
	}
	if _, err := hex.Decode(n[:], []byte(s)); err != nil {
		return Name{}, fmt.Errorf("invalid record name %q", s)
	}
	return n, nil
}

// A Store is where the records of one machine are kept.
type Store interface {
	// Since returns records that were kept after mark, in the order of keeping, those
	// about files before those about directories, and the mark behind the last of
	// them. They are at most so many; fewer than that do not mean that there are no
	// more, and none do. The zero Mark, and one of another store, are before
	// everything. Of outlines, only the latest of a directory is returned. Whoever asks
	// for none learns whether the mark is this store's: it comes back unchanged.
	Since(ctx context.Context, mark Mark, most int) (list []Record, next Mark, err error)
	// Absorb adds the records that are not kept yet. All of them land or none; doing
	// so twice changes nothing.
	Absorb(ctx context.Context, list []Record) error
}

// A Mark says how far somebody has read in a store. Only that store can read it; its
// zero value is the beginning.
type Mark string

// Path returns where the subject lay when the text was written.
func (r Record) Path() repo.Path {
	if r.File != nil {
		return r.File.Path
	}
	return r.Directory.Path
}

// Author returns who wrote the text.
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

// Check says why a record should not be taken over from somebody else at now, nil if it may
// be: what ken would not have kept itself, such as a text with characters that make a reader
// see something else than what is there, or one that is dated ahead.
func (r Record) Check(now time.Time) error {
	if r.At().After(fresh.Latest(now)) {
		return fresh.ErrAhead
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
			if err := checkWord("a finding", f.Severity+f.Finding, survey.MaxText); err != nil {
				return err
			}
		}
	}
	if err := fresh.CheckText(text, survey.MaxText, misleads); err != nil {
		return err
	}
	return errors.Join(checkWord("the author", author, maxWord), checkWord("the recipe", recipe, maxWord), checkWord("the confirmer", confirmer, maxWord))
}

// maxWord is how many bytes the name of an author or a recipe may have.
const maxWord = 4 << 10

func checkWord(what, s string, most int) error {
	switch {
	case len(s) > most:
		return fmt.Errorf("%s has %d bytes, more than %d", what, len(s), most)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not UTF-8", what)
	case strings.ContainsFunc(s, func(c rune) bool { return misleads(c) && c != '\n' && c != '\t' }):
		return fmt.Errorf("%s has a control character", what)
	}
	return nil
}

// misleads reports whether a character makes a reader see something else than what is
// there: control characters, those that turn the direction of writing, and tags.
func misleads(c rune) bool {
	return unicode.IsControl(c) || c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || c >= 0xE0000 && c <= 0xE007F
}
