package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"ken/internal/fresh"
	"ken/internal/outline"
	"ken/internal/repo"
)

// A DirBasis is the content that a directory's summary was written from: its own files and
// the summaries of its children. The directory's name is no part of it, so a renamed
// directory keeps its summary.
type DirBasis struct {
	Files    []BasisFile  `json:"files,omitempty"`    // its own files, by name
	Children []BasisChild `json:"children,omitempty"` // by name
}

// A BasisFile is a file of a basis: its content id, and the shape of its outline, with
// which ken grades a later content without reading this one.
type BasisFile struct {
	Name  []byte       `json:"name"`
	ID    repo.ID      `json:"id"`
	Shape OutlineShape `json:"shape,omitzero"`
}

// An OutlineShape is the part of an outline that ken compares. It is zero for content
// that no grammar reads.
type OutlineShape struct {
	Language  outline.Language `json:"language"`
	Partial   bool             `json:"partial,omitempty"`
	Tokens    fresh.Digest     `json:"tokens,omitzero"`
	Interface fresh.Digest     `json:"interface,omitzero"`
	Digest    fresh.Digest     `json:"digest,omitzero"`
}

// ShapeOf returns the shape of an outline.
func ShapeOf(o *outline.Outline) OutlineShape {
	if o == nil {
		return OutlineShape{}
	}
	return OutlineShape{o.Language, o.Partial != "", o.Tokens, o.Interface, o.Digest}
}

// Outline returns the outline as far as the shape has it, nil for the zero shape.
func (s OutlineShape) Outline() *outline.Outline {
	if s.Language == "" {
		return nil
	}
	o := &outline.Outline{Language: s.Language, Tokens: s.Tokens, Interface: s.Interface, Digest: s.Digest}
	if s.Partial {
		o.Partial = "it was"
	}
	return o
}

// A BasisChild is a child directory of a basis, with the id of its summary.
type BasisChild struct {
	Name []byte       `json:"name"`
	Text fresh.Digest `json:"text,omitzero"` // zero when it had no summary yet
}

// Digest identifies the basis by content ids and summaries alone. Shapes follow from the
// content ids.
func (b DirBasis) Digest() fresh.Digest {
	out := make([]byte, 0, 64+128*(len(b.Files)+len(b.Children)))
	out = append(out, `["ken directory basis 1",[`...)
	for i, f := range b.Files {
		out = append(out, separator(i)...)
		out = appendBase64(append(out, `{"Name":`...), f.Name)
		out = appendHex(append(out, `,"ID":`...), f.ID.Bytes())
		out = append(out, '}')
	}
	out = append(out, ']', ',')
	if b.Children == nil {
		return sha256.Sum256(append(out, "null]"...))
	}
	out = append(out, '[')
	for i, c := range b.Children {
		out = append(out, separator(i)...)
		out = appendBase64(append(out, `{"name":`...), c.Name)
		if !c.Text.IsZero() {
			out = appendHex(append(out, `,"text":`...), c.Text[:])
		}
		out = append(out, '}')
	}
	return sha256.Sum256(append(out, "]]"...))
}

// Missing counts the children without a summary.
func (b DirBasis) Missing() int {
	n := 0
	for _, c := range b.Children {
		if c.Text.IsZero() {
			n++
		}
	}
	return n
}

// Ids are digests of JSON. These functions write it, because encoding/json takes four
// times as long and ken computes the id of a record whenever it reads the record.

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func appendBase64(out, b []byte) []byte {
	if b == nil {
		return append(out, "null"...)
	}
	return append(base64.StdEncoding.AppendEncode(append(out, '"'), b), '"')
}

func appendHex(out, b []byte) []byte {
	if len(b) == 0 {
		return append(out, "null"...)
	}
	return append(hex.AppendEncode(append(out, '"'), b), '"')
}
