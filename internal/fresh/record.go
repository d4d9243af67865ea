package fresh

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ken/internal/repo"
)

// A Digest names a text, a basis or a record by its content. Its zero value
// names nothing.
type Digest [sha256.Size]byte

// IsZero reports whether d names nothing.
func (d Digest) IsZero() bool { return d == Digest{} }

func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// MarshalText writes the digest in hex, nothing for the zero Digest.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	if hex.DecodedLen(len(b)) != len(d) {
		return fmt.Errorf("digest %q: want %d hex digits", b, hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// A Basis is the content that a file's summary was written from. A writer that
// knew only the md5 of what it read leaves the id empty. The path is no part of
// it: the same bytes deserve the same words wherever they lie.
type Basis struct {
	Content repo.Content
}

// IsZero reports whether the basis names no content.
func (b Basis) IsZero() bool { return b.Content.ID.IsZero() && b.Content.MD5.IsZero() }

// Holds reports whether now is the content the basis names. Ids decide; the md5
// decides only for a writer that gave no id.
func (b Basis) Holds(now repo.Content) bool {
	if !b.Content.ID.IsZero() {
		return b.Content.ID == now.ID
	}
	return !b.Content.MD5.IsZero() && b.Content.MD5 == now.MD5
}

// Key is the part of the basis that decides: the id, or the md5 where there is
// no id. Bases with equal keys hold for the same content.
func (b Basis) Key() Basis {
	if !b.Content.ID.IsZero() {
		b.Content.MD5 = repo.MD5{}
	}
	return b
}

// Digest names the basis.
func (b Basis) Digest() Digest {
	if b.Content.ID.IsZero() {
		return digestOf("ken basis 1", "md5", b.Content.MD5.String())
	}
	return digestOf("ken basis 1", "content", b.Content.ID.String())
}

// A Record is a text with everything that says where it came from. Records are
// immutable: a new text is a new record.
type Record struct {
	Basis     Basis
	Text      string
	Author    string
	Recipe    string    // prompt and model version; "hand" for a text given as it is
	At        time.Time // UTC, to the microsecond
	Assumed   bool      // the author named no content; what was there then was assumed
	Confirmer string    // who said that an older text holds for this basis, "" for a text of its own
	Path      repo.Path // where the content lay when it was written; a help for readers only
}

// TextID names the words alone.
func (r Record) TextID() Digest { return digestOf("ken text 1", r.Text) }

// ID names the record: words, basis, author, recipe and time, and whether the
// author vouched for the basis.
func (r Record) ID() Digest {
	return digestOf("ken record 1", r.Text, r.Basis.Digest().String(), r.Author, r.Recipe,
		r.At.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano), r.Confirmer, strconv.FormatBool(r.Assumed))
}

// Compare orders records by age: by their time and, where that is the same, by their
// id, so that every clone and every store takes the same one for the newest.
func (r Record) Compare(o Record) int {
	if c := r.At.Compare(o.At); c != 0 {
		return c
	}
	a, b := r.ID(), o.ID()
	return bytes.Compare(a[:], b[:])
}

// MaxAhead is how far the time of a record may be ahead of the clock of its reader. The
// newest text is the one shown, so a record from the far future would be shown for ever.
const MaxAhead = 24 * time.Hour

// Latest is the latest time that a record may have at now. It has whole microseconds, as
// the times of records do.
func Latest(now time.Time) time.Time { return now.UTC().Add(MaxAhead).Truncate(time.Microsecond) }

// ErrAhead says that the time of a record is later than [Latest].
var ErrAhead = errors.New("it is dated more than a day in the future")

// ErrDamaged says that the content of a record is not what its id was made from.
var ErrDamaged = errors.New("its content does not match its hash")

// An Unused is a record that is kept and not used: it is as if not there.
type Unused struct {
	Path      repo.Path // of the file or directory that it is about
	Directory bool
	Why       error // [ErrDamaged] or [ErrAhead]
}

// Label names what the record is about.
func (u Unused) Label() string {
	if u.Directory && u.Path == "" {
		return "."
	}
	return u.Path.String()
}

// Stamp is the time of a text that is written now and takes the place of others: now,
// or right after the latest of those that it displaces. The newest text is the one
// shown, and clocks differ: without this, words from a clock that is ahead could not be
// replaced by anybody before that time has come. What is displaced comes from a store, which
// has no record that is later than [Latest].
func Stamp(now time.Time, displaced ...time.Time) time.Time {
	at := now.UTC().Truncate(time.Microsecond)
	for _, d := range displaced {
		if d = d.UTC().Truncate(time.Microsecond); !at.After(d) {
			at = d.Add(time.Microsecond)
		}
	}
	return at
}

// digestOf hashes fields so that no two lists of them can collide: as a JSON list of
// strings in base64, which keeps bytes apart that are not UTF-8. It is spelled here and not
// by encoding/json, since the id of a record is made anew whenever the record is read.
func digestOf(fields ...string) Digest {
	size := 2
	for _, f := range fields {
		size += base64.StdEncoding.EncodedLen(len(f)) + 3
	}
	out := append(make([]byte, 0, size), '[')
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(base64.StdEncoding.AppendEncode(append(out, '"'), []byte(f)), '"')
	}
	return sha256.Sum256(append(out, ']'))
}
