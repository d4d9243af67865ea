package mention

import (
	"sort"
	"strings"

	"ken/internal/markup"
)

// An ackComment is an acknowledgement in the document itself:
//
//	<!-- ken:ok MENTION [reason] -->         that mention, anywhere in the document
//	<!-- ken:ok [-- reason] -->              the block with the comment, or the next one if the comment is alone
//	<!-- ken:off --> ... <!-- ken:on -->     everything between the two
//
// A mention with spaces is written in backticks or quotes. MDX has no such comments; there, {/* ken:ok */} is one.
type ackComment struct {
	mention string // "" if it covers a part of the document
	span    Span   // that part
	open    ackScope
	// depth is the depth of the block with the comment, if the scope is waiting or within.
	depth int
}

type ackScope int

const (
	closed  ackScope = iota
	waiting          // for the next block
	within           // a block that continues in deeper ones
)

// parseAck records a comment if it is addressed to ken.
func (r *reader) parseAck(p *passage, l *markup.Block, at int, comment string) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(comment), "ken:")
	if !ok {
		return
	}
	verb, rest, _ := strings.Cut(rest, " ")
	rest = strings.TrimSpace(rest)
	pos := p.at(at)
	n := ackComment{depth: l.Depth}
	switch {
	case verb == "on":
		if r.off > 0 {
			r.notes[r.off-1].span.End = pos
			r.off = 0
		}
		return
	case verb == "off":
		if r.off > 0 {
			return
		}
		n.span = Span{pos, len(r.src)}
		r.off = len(r.notes) + 1
	case verb != "ok":
		return
	case rest == "" || strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "—"):
		if l.Kind == markup.HTML {
			n.open = waiting
		} else {
			n.span = Span{l.Lines[0].Start, l.Lines[len(l.Lines)-1].End}
		}
	default:
		n.mention = firstOf(rest)
	}
	r.notes = append(r.notes, n)
}

// firstOf returns the first word of s, or the first quoted text.
func firstOf(s string) string {
	if strings.IndexByte("`\"'", s[0]) >= 0 {
		if n := strings.IndexByte(s[1:], s[0]); n > 0 {
			return s[1 : 1+n]
		}
	}
	if n := strings.IndexAny(s, " \t\n"); n > 0 {
		return s[:n]
	}
	return s
}

// coverBlock applies the waiting comments to a block.
func (r *reader) coverBlock(l *markup.Block) {
	if len(l.Lines) == 0 {
		return
	}
	span := Span{l.Lines[0].Start, l.Lines[len(l.Lines)-1].End}
	for i := len(r.notes) - 1; i >= 0 && i > len(r.notes)-32; i-- {
		n := &r.notes[i]
		switch n.open {
		case waiting:
			if l.Kind == markup.HTML && l.Depth == n.depth {
				continue // another comment
			}
			n.span = span
			n.open = closed
			if l.Depth > n.depth { // the whole list or quote
				n.open = within
			}
		case within:
			if l.Depth > n.depth {
				n.span.End = span.End
			} else {
				n.open = closed
			}
		case closed:
		}
	}
}

// applyAcks marks the mentions that the comments cover.
func (r *reader) applyAcks() {
	names := make(map[string]bool)
	for _, n := range r.notes {
		if n.mention != "" {
			names[n.mention] = true
			continue
		}
		from := sort.Search(len(r.found), func(i int) bool { return r.found[i].pos >= n.span.Start })
		for j := from; j < len(r.found) && r.found[j].pos < n.span.End; j++ {
			r.found[j].Acked = true
		}
	}
	for i := range r.found {
		f := &r.found[i]
		f.Acked = f.Acked || names[f.Text] || names[f.Name]
	}
}
