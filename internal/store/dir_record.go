package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A DirRecord is a summary of a directory as it is stored and shared, with its author and
// basis. Records are immutable: a new text is a new record.
type DirRecord struct {
	Path      repo.Path // where it was written; for readers only, no part of the id
	Basis     DirBasis
	Text      string
	Author    string
	Recipe    string    // prompt and model version
	At        time.Time // UTC, to the microsecond
	Confirmer string    // the author who confirmed an older text for this basis, "" for a new text
	Partial   bool      // the author could not finish; ken will ask again
	Flags     []DirFlag // findings that the author wants people to look at
}

// A DirFlag is a finding about a file.
type DirFlag struct {
	Path     repo.Path `json:"path"`
	Severity string    `json:"severity"` // info, concern or critical
	Finding  string    `json:"finding"`
	// Content is the content of the file that the author saw. It is zero if that is unknown.
	Content repo.ID `json:"content,omitzero"`
}

// A storedFlag is a DirFlag with a path that need not be UTF-8.
type storedFlag struct {
	repo.PathJSON
	Severity string  `json:"severity"`
	Finding  string  `json:"finding"`
	Content  repo.ID `json:"content,omitzero"`
}

// EncodeFlags encodes flags as stores keep them, nil for none.
func EncodeFlags(flags []DirFlag) ([]byte, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	stored := make([]storedFlag, len(flags))
	for i, f := range flags {
		stored[i] = storedFlag{f.Path.JSON(), f.Severity, f.Finding, f.Content}
	}
	return json.Marshal(stored)
}

// DecodeFlags decodes the result of EncodeFlags.
func DecodeFlags(text []byte) ([]DirFlag, error) {
	if text == nil {
		return nil, nil
	}
	var stored []storedFlag
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, err
	}
	var flags []DirFlag
	for _, f := range stored {
		path, err := f.Raw()
		if err != nil {
			return nil, err
		}
		flags = append(flags, DirFlag{Path: path, Severity: f.Severity, Finding: f.Finding, Content: f.Content})
	}
	return flags, nil
}

// OutlineRecipe begins the recipe of every text that ken made of outlines alone.
const OutlineRecipe = "outline/"

// IsOutline reports whether ken made the text of outlines alone.
func (r *DirRecord) IsOutline() bool { return strings.HasPrefix(r.Recipe, OutlineRecipe) }

// EmptyOutline is the text of an outline that has nothing to say. Stores keep no empty text.
const EmptyOutline = "nothing in it says what it is for"

// Summary returns the text, or "" for an outline that has nothing to say.
func (r *DirRecord) Summary() string {
	if r.IsOutline() && r.Text == EmptyOutline {
		return ""
	}
	return r.Text
}

// TextID identifies the text alone.
func (r *DirRecord) TextID() fresh.Digest { return fresh.Record{Text: r.Text}.TextID() }

// ID identifies the record. The id of an outline has no author and no time, so the same
// outline is the same record in every clone and at any time.
func (r *DirRecord) ID() fresh.Digest {
	outline := r.IsOutline()
	basis := r.Basis.Digest()
	out := make([]byte, 0, 256+2*len(r.Text))
	if outline {
		out = append(out, `["ken directory outline 1",`...)
	} else {
		out = append(out, `["ken directory record 1",`...)
	}
	out = append(appendBase64(out, []byte(r.Text)), ',')
	out = append(appendHex(out, basis[:]), ',')
	if !outline {
		out = append(appendBase64(out, []byte(r.Author)), ',')
	}
	out = append(appendBase64(out, []byte(r.Recipe)), ',')
	if !outline {
		out = r.At.UTC().Truncate(time.Microsecond).AppendFormat(append(out, '"'), time.RFC3339Nano)
		out = append(out, '"', ',')
	}
	out = append(appendBase64(out, []byte(r.Confirmer)), ',')
	out = append(strconv.AppendBool(out, r.Partial), ',')
	if len(r.Flags) == 0 {
		return sha256.Sum256(append(out, "null]"...))
	}
	flags, err := json.Marshal(r.Flags)
	if err != nil {
		panic(err) // plain data always encodes
	}
	return sha256.Sum256(append(append(out, flags...), ']'))
}

// Compare orders records by time and, where that is the same, by id and path. So every
// clone and every store agrees on the newest record.
func (r *DirRecord) Compare(o *DirRecord) int {
	if c := r.At.Compare(o.At); c != 0 {
		return c
	}
	a, b := r.ID(), o.ID()
	return cmp.Or(bytes.Compare(a[:], b[:]), cmp.Compare(r.Path, o.Path))
}
