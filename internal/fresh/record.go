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

// A Digest identifies a text, a basis or a record by its content. The zero value identifies nothing.
type Digest [sha256.Size]byte

// IsZero reports whether d is the zero value.
func (d Digest) IsZero() bool { return d == Digest{} }

func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// MarshalText writes the digest in hex, nothing for the zero value.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the result of MarshalText.
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

// A Basis is the content that a file's summary was written from. The id is empty if the author knew only the md5.
// The path is not part of it: the same bytes have the same summary at every path.
type Basis struct {
	Content repo.Content
}

// IsZero reports whether the basis has no content.
func (b Basis) IsZero() bool { return b.Content.ID.IsZero() && b.Content.MD5.IsZero() }

// Matches reports whether now is the content of the basis. The ids decide; the md5 decides only for a basis without
// an id.
func (b Basis) Matches(now repo.Content) bool {
	if !b.Content.ID.IsZero() {
		return b.Content.ID == now.ID
	}
	return !b.Content.MD5.IsZero() && b.Content.MD5 == now.MD5
}

// Key returns the part of the basis that Matches compares: the id, or the md5 if there is no id. Bases with equal
// keys hold for the same content.
func (b Basis) Key() Basis {
	if !b.Content.ID.IsZero() {
		b.Content.MD5 = repo.MD5{}
	}
	return b
}

// Digest returns the digest of the basis.
func (b Basis) Digest() Digest {
	if b.Content.ID.IsZero() {
		return digestOf("ken basis 1", "md5", b.Content.MD5.String())
	}
	return digestOf("ken basis 1", "content", b.Content.ID.String())
}

// A Record is a text with its origin. Records are immutable: a new text is a new record.
type Record struct {
	Basis     Basis
	Text      string
	Author    string
	Recipe    string    // prompt and model version; "hand" for a text given as it is
	At        time.Time // UTC, to the microsecond
	Assumed   bool      // the author named no content; the content at that time was assumed
	Confirmer string    // who said that an older text holds for this basis, "" for a text of its own
	Path      repo.Path // the path of the content when the text was written; informative only
}

// TextID returns the digest of the text alone.
func (r Record) TextID() Digest { return digestOf("ken text 1", r.Text) }

// ID returns the digest of all fields but the path.
func (r Record) ID() Digest {
	return digestOf("ken record 1", r.Text, r.Basis.Digest().String(), r.Author, r.Recipe,
		r.At.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano), r.Confirmer, strconv.FormatBool(r.Assumed))
}

// Compare orders records by time, then by id, so that every clone and every store agrees on the newest one.
func (r Record) Compare(o Record) int {
	if c := r.At.Compare(o.At); c != 0 {
		return c
	}
	a, b := r.ID(), o.ID()
	return bytes.Compare(a[:], b[:])
}

// MaxClockSkew is how far the time of a record may be ahead of the reader's clock. ken shows the newest text, so it
// would show a record from the far future for ever.
const MaxClockSkew = 24 * time.Hour

// LatestTime returns the latest time that a record may have at now, in whole microseconds like the times of records.
func LatestTime(now time.Time) time.Time {
	return now.UTC().Add(MaxClockSkew).Truncate(time.Microsecond)
}

// ErrFutureDate says that the time of a record is later than [LatestTime].
var ErrFutureDate = errors.New("it is dated more than a day in the future")

// ErrDamaged says that the content of a record does not match its id.
var ErrDamaged = errors.New("its content does not match its hash")

// An UnusedRecord is a stored record that ken ignores.
type UnusedRecord struct {
	Path      repo.Path // of the file or directory that it is about
	Directory bool
	Why       error // [ErrDamaged] or [ErrFutureDate]
}

// Label names the subject of the record.
func (u UnusedRecord) Label() string {
	if u.Directory && u.Path == "" {
		return "."
	}
	return u.Path.String()
}

// TimeAfter returns the time of a new text that replaces others: now, or just after the latest of those. ken shows the
// newest text, and clocks differ. Otherwise a text from a clock that is ahead could not be replaced until that
// time. The replaced texts come from a store, which has no record later than [LatestTime].
func TimeAfter(now time.Time, displaced ...time.Time) time.Time {
	at := now.UTC().Truncate(time.Microsecond)
	for _, d := range displaced {
		if d = d.UTC().Truncate(time.Microsecond); !at.After(d) {
			at = d.Add(time.Microsecond)
		}
	}
	return at
}

// digestOf hashes fields so that no two lists of fields collide: as a JSON list of strings in base64, because
// fields may not be UTF-8. It does not use encoding/json for speed: every read of a record computes its id.
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
