package share

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/store"
)

// Format is the version of the encoding. Every document contains it.
const Format = 1

// MaxSize is the maximum size of an encoding in bytes.
const MaxSize = 4 << 20

// ErrNewer means that Decode got a document of a newer version.
var ErrNewer = errors.New("a newer ken wrote it")

// layout is the format of times: UTC, in microseconds.
const layout = "2006-01-02T15:04:05.000000Z"

// Encode returns a record as one JSON document. Equal records have equal bytes in every version
// of ken, since the bytes determine the name. encoding/json has changed its escapes between
// versions, so Encode does not use it.
func Encode(r store.Record) []byte {
	e := encoder{out: make([]byte, 0, 512)}
	e.open()
	e.key("ken")
	e.out = strconv.AppendInt(e.out, Format, 10)
	if f := r.File; f != nil {
		e.text("about", "file")
		e.text("path", string(f.Path))
		e.text("content", f.Basis.Content.ID.String())
		e.text("md5", f.Basis.Content.MD5.String())
		e.common(f.Text, f.Author, f.Recipe, f.Confirmer, f.At)
		e.flag("assumed", f.Assumed)
	} else {
		d := r.Directory
		e.text("about", "directory")
		e.text("path", string(d.Path))
		e.common(d.Text, d.Author, d.Recipe, d.Confirmer, d.At)
		e.flag("partial", d.Partial)
		e.list("flags", len(d.Flags), func(i int) {
			e.text("path", string(d.Flags[i].Path))
			e.text("severity", d.Flags[i].Severity)
			e.text("finding", d.Flags[i].Finding)
			e.text("content", d.Flags[i].Content.String())
		})
		e.list("files", len(d.Basis.Files), func(i int) {
			f := &d.Basis.Files[i]
			e.text("name", string(f.Name))
			e.text("content", f.ID.String())
			e.text("language", string(f.Shape.Language))
			e.flag("partial", f.Shape.Partial)
			e.text("tokens", f.Shape.Tokens.String())
			e.text("interface", f.Shape.Interface.String())
			e.text("digest", f.Shape.Digest.String())
		})
		e.list("children", len(d.Basis.Children), func(i int) {
			e.text("name", string(d.Basis.Children[i].Name))
			e.text("text", d.Basis.Children[i].Text.String())
		})
	}
	e.close()
	return append(e.out, '\n')
}

// An encoder writes one document, without empty members.
type encoder struct {
	out   []byte
	first bool
}

func (e *encoder) open()  { e.out, e.first = append(e.out, '{'), true }
func (e *encoder) close() { e.out, e.first = append(e.out, '}'), false }

func (e *encoder) key(name string) {
	if !e.first {
		e.out = append(e.out, ',')
	}
	e.first = false
	e.out = append(append(append(e.out, '"'), name...), '"', ':')
}

// text writes a member, in base64 under another name if it is not UTF-8.
func (e *encoder) text(name, value string) {
	switch {
	case value == "":
	case utf8.ValidString(value):
		e.key(name)
		e.out = appendString(e.out, value)
	default:
		e.key(name + "_b64")
		e.out = append(e.out, '"')
		e.out = base64.StdEncoding.AppendEncode(e.out, []byte(value))
		e.out = append(e.out, '"')
	}
}

func (e *encoder) flag(name string, value bool) {
	if value {
		e.key(name)
		e.out = append(e.out, "true"...)
	}
}

func (e *encoder) list(name string, n int, each func(int)) {
	if n == 0 {
		return
	}
	e.key(name)
	e.out = append(e.out, '[')
	for i := range n {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.open()
		each(i)
		e.close()
	}
	e.out = append(e.out, ']')
}

func (e *encoder) common(text, author, recipe, confirmer string, at time.Time) {
	e.text("text", text)
	e.text("author", author)
	e.text("recipe", recipe)
	e.text("confirmer", confirmer)
	e.text("at", at.UTC().Truncate(time.Microsecond).Format(layout))
}

// appendString quotes a UTF-8 string, and escapes only what JSON requires.
func appendString(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\t':
			out = append(out, '\\', 't')
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// document has every member of an encoding.
type document struct {
	Ken   int    `json:"ken"`
	About string `json:"about"`
	place
	Content   fileID       `json:"content"`
	MD5       string       `json:"md5"`
	Text      string       `json:"text"`
	TextB64   []byte       `json:"text_b64"`
	Author    string       `json:"author"`
	AuthorB64 []byte       `json:"author_b64"`
	Recipe    string       `json:"recipe"`
	RecipeB64 []byte       `json:"recipe_b64"`
	By        string       `json:"confirmer"`
	ByB64     []byte       `json:"confirmer_b64"`
	At        string       `json:"at"`
	Assumed   bool         `json:"assumed"`
	Partial   bool         `json:"partial"`
	Flags     []flagged    `json:"flags"`
	Files     []fileBasis  `json:"files"`
	Children  []childBasis `json:"children"`
}

type place struct {
	Path    string `json:"path"`
	PathB64 []byte `json:"path_b64"`
}

type flagged struct {
	place
	Severity    string `json:"severity"`
	SeverityB64 []byte `json:"severity_b64"`
	Finding     string `json:"finding"`
	FindingB64  []byte `json:"finding_b64"`
	Content     fileID `json:"content"`
}

type named struct {
	Name    string `json:"name"`
	NameB64 []byte `json:"name_b64"`
}

type fileBasis struct {
	named
	Content     fileID       `json:"content"`
	Language    string       `json:"language"`
	LanguageB64 []byte       `json:"language_b64"`
	Partial     bool         `json:"partial"`
	Tokens      fresh.Digest `json:"tokens"`
	Interface   fresh.Digest `json:"interface"`
	Digest      fresh.Digest `json:"digest"`
}

type childBasis struct {
	named
	Text fresh.Digest `json:"text"`
}

// fileID is a content id. Unlike repo.ID it rejects null.
type fileID repo.ID

func (f *fileID) UnmarshalText(b []byte) error {
	id, err := repo.ParseID(string(b))
	*f = fileID(id)
	return err
}

func textOr(s string, b []byte) string {
	if len(b) > 0 {
		return string(b)
	}
	return s
}

// Decode reads a document of Encode. It rejects the same record in other bytes, since that would have another
// name.
func Decode(encoding []byte) (store.Record, error) {
	if len(encoding) > MaxSize {
		return store.Record{}, fmt.Errorf("%d bytes are more than %d", len(encoding), MaxSize)
	}
	var version struct {
		Ken int `json:"ken"`
	}
	if err := json.Unmarshal(encoding, &version); err != nil {
		return store.Record{}, fmt.Errorf("not a JSON document: %w", err)
	}
	switch {
	case version.Ken > Format:
		return store.Record{}, fmt.Errorf("%w (format %d; this version reads %d)", ErrNewer, version.Ken, Format)
	case version.Ken != Format:
		return store.Record{}, errors.New("not a record of ken")
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(encoding))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return store.Record{}, fmt.Errorf("not a record of ken: %w", err)
	}
	r, err := d.record()
	if err != nil {
		return store.Record{}, err
	}
	if !bytes.Equal(Encode(r), encoding) {
		return store.Record{}, errors.New("not in the encoding of ken")
	}
	return r, nil
}

func (d *document) record() (store.Record, error) {
	at, err := time.Parse(layout, d.At)
	if err != nil {
		return store.Record{}, fmt.Errorf("invalid time %q", d.At)
	}
	switch d.About {
	case "file":
		r := &fresh.Record{
			Text: textOr(d.Text, d.TextB64), Author: textOr(d.Author, d.AuthorB64), Recipe: textOr(d.Recipe, d.RecipeB64),
			Confirmer: textOr(d.By, d.ByB64), At: at, Assumed: d.Assumed, Path: repo.Path(textOr(d.Path, d.PathB64)),
		}
		r.Basis.Content.ID = repo.ID(d.Content)
		if d.MD5 != "" {
			if r.Basis.Content.MD5, err = repo.ParseMD5(d.MD5); err != nil {
				return store.Record{}, err
			}
		}
		return store.Record{File: r}, nil
	case "directory":
		r := &store.DirRecord{
			Text: textOr(d.Text, d.TextB64), Author: textOr(d.Author, d.AuthorB64), Recipe: textOr(d.Recipe, d.RecipeB64),
			Confirmer: textOr(d.By, d.ByB64), At: at, Partial: d.Partial, Path: repo.Path(textOr(d.Path, d.PathB64)),
		}
		for _, f := range d.Flags {
			r.Flags = append(r.Flags, store.DirFlag{
				Path: repo.Path(textOr(f.Path, f.PathB64)), Severity: textOr(f.Severity, f.SeverityB64), Finding: textOr(f.Finding, f.FindingB64),
				Content: repo.ID(f.Content),
			})
		}
		for _, f := range d.Files {
			r.Basis.Files = append(r.Basis.Files, store.BasisFile{
				Name: []byte(textOr(f.Name, f.NameB64)), ID: repo.ID(f.Content),
				Shape: store.OutlineShape{Language: outline.Language(textOr(f.Language, f.LanguageB64)), Partial: f.Partial, Tokens: f.Tokens, Interface: f.Interface, Digest: f.Digest},
			})
		}
		for _, c := range d.Children {
			r.Basis.Children = append(r.Basis.Children, store.BasisChild{Name: []byte(textOr(c.Name, c.NameB64)), Text: c.Text})
		}
		return store.Record{Directory: r}, nil
	}
	return store.Record{}, fmt.Errorf("unknown subject %q (valid: file, directory)", d.About)
}
