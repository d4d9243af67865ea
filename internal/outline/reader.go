package outline

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/outline/syntax"
)

// A reader fills a file from a syntax tree. Each language has its own method that walks the declarations.
// The other methods serve all languages.
type reader struct {
	*file
	docAt   map[int]bool // start offsets of comments that are documentation
	headEnd int          // end of the file's own comment
	owner   string       // qualified name of the current symbol
	depth   int
	public  bool           // the current symbol is exported
	known   map[string]int // symbols by name, for languages that look them up
	inType  bool           // the current symbol is a type

	// State of pythonLines.
	seenToken bool // a token was read
	brackets  int
	blocks    []column // open blocks, without the top level
}

// readTree reads the file from the syntax tree of text: its source, or its source with the blanked ranges replaced by
// spaces.
func (f *file) readTree(text []byte, blanked []span) error {
	known, ok := grammars[f.lang]
	if !ok {
		return errors.New("no grammar for it")
	}
	grammar, err := known.load()
	if err != nil {
		return err
	}
	tree, err := grammar.Parse(text)
	if err != nil {
		return err
	}
	defer tree.Release() // f does not refer to the tree
	r := &reader{file: f, docAt: make(map[int]bool), known: make(map[string]int), public: true}
	root := tree.Root()
	if at, broken := firstBroken(root); !tree.Whole() {
		f.noTokens, f.broken = true, max(1, broken)
		f.note(fmt.Sprintf("line %d does not parse", f.line(at)))
	}
	known.declare(r, root)
	r.collectItems(grammar, root, blanked)
	for i := range f.symbols {
		s := &f.symbols[i]
		s.from, s.to = f.itemsIn(s.start, s.end)
		r.setSignature(s, r.tokens(s))
	}
	f.collect(func() *References { return collectTree(f, root) })
	return nil
}

// tokens returns the tokens of a symbol's signature.
func (r *reader) tokens(s *draft) []span {
	out := r.scratch.spans[:0]
	defer func() { r.scratch.spans = out[:0] }()
	if s.prefix != "" {
		out = append(out, span{text: s.prefix})
	}
	for _, sig := range s.ranges {
		from, to := r.itemsIn(sig.start, sig.end)
		for _, it := range r.items[from:to] {
			start := int(it.start)
			inAttribute := func(a span) bool { return start >= a.start && start < a.end }
			if it.kind == leaf && !slices.ContainsFunc(s.without, inAttribute) {
				out = append(out, span{start: start, end: int(it.end)})
			}
		}
	}
	for len(out) > 1 && out[len(out)-1].text == "" {
		switch last := out[len(out)-1]; string(bytes.TrimSpace(r.src[last.start:last.end])) {
		case ";", "{", ":", "=", ",", "(", `\`:
			out = out[:len(out)-1]
			continue
		}
		break
	}
	return out
}

// firstBroken returns the offset of the first syntax error, and the number of bytes in syntax errors.
func firstBroken(root syntax.Node) (at, size int) {
	at = -1
	todo := []syntax.Node{root}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !n.Broken() && !n.Missing() {
			continue
		}
		if (n.Type() == "ERROR" || n.Missing()) && n.Start() != root.Start() || n.Missing() {
			if at < 0 {
				at = n.Start()
			}
			size += 1 + n.End() - n.Start()
			continue
		}
		children := n.Children()
		slices.Reverse(children)
		todo = append(todo, children...)
	}
	return max(at, 0), size
}

// collectItems appends the items of a tree: its leaves, its structure, and its significant comments.
func (r *reader) collectItems(g *syntax.Grammar, root syntax.Node, blanked []span) {
	r.names = g.Names()
	kinds := nodeKindsOf(r.lang, r.names)
	type frame struct {
		from, at int // range of its children in nodes; at is the next one
		end      int
		name     uint16
	}
	nodes := r.scratch.nodes[:0] // the children of all frames
	last := 0                    // end of the bytes covered so far
	var white spacing            // since the last token
	// gap covers the bytes up to an offset. Bytes between two nodes that are not white space belong to a
	// hidden token.
	gap := func(to int) {
		for len(blanked) > 0 && blanked[0].start < to {
			r.items = append(r.items, item{kind: verbatim, start: uint32(blanked[0].start), end: uint32(blanked[0].end)})
			last = max(last, blanked[0].end)
			blanked = blanked[1:]
		}
		if last < to {
			from := last
			for from < to && isSpace(r.src[from]) {
				from++
			}
			white.add(r.src, last, from)
			if from < to {
				r.space(&white, from)
				r.items = append(r.items, item{kind: leaf, start: uint32(from), end: uint32(to)})
			}
			last = to
		}
	}
	var stack []frame
	visit := func(n syntax.Node) {
		start, end := n.Start(), n.End()
		before := last
		gap(min(start, len(r.src)))
		kind := kinds[n.Symbol()]
		if kind != commentNode && start < end && !isSpace(r.src[start]) {
			r.space(&white, start)
		}
		switch {
		case kind == ordinaryNode:
		case kind == commentNode:
			r.comment(start, end)
			white.add(r.src, start, end)
			last = max(last, end)
			return
		case kind == continuationNode && isWhite(r.src[start:end]):
			last = max(last, end) // the indentation of a list, which is in the tree already
			return
		case kind == proseNode:
			r.items = append(r.items, item{kind: prose, start: uint32(start), end: uint32(end)})
			last = max(last, end)
			return
		case kind == verbatimNode:
			switch n.Type() {
			case "heredoc_body": // its first lines may be empty
				start = min(start, before)
			case "heredoc_end": // followed by blanks, it is text
				for end < len(r.src) && (r.src[end] == ' ' || r.src[end] == '\t') {
					end++
				}
			}
			r.items = append(r.items, item{kind: leaf, start: uint32(start), end: uint32(end)})
			last = max(last, end)
			return
		}
		from := len(nodes)
		if nodes = n.AppendChildren(nodes); len(nodes) == from {
			it := item{kind: leaf, start: uint32(start), end: uint32(end)}
			if isWhite(r.src[start:end]) {
				it.kind, it.name = whiteToken, n.Symbol()
			} else if r.lang == Python {
				r.bracket(r.src[start:end])
			}
			// <!-- is a comment, except in modules.
			if r.isScript() && bytes.HasPrefix(r.src[start:], []byte("<!--")) {
				r.items = append(r.items, item{kind: lineBreak, start: uint32(start), end: uint32(start)})
			}
			r.items = append(r.items, it)
			last = max(last, end)
			return
		}
		r.items = append(r.items, item{kind: opened, start: uint32(start), end: uint32(start), name: n.Symbol()})
		stack = append(stack, frame{from: from, at: from, end: end, name: n.Symbol()})
	}
	visit(root)
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.at == len(nodes) {
			nodes = nodes[:top.from]
			gap(top.end)
			r.items = append(r.items, item{kind: closed, start: uint32(top.end), end: uint32(top.end), name: top.name})
			stack = stack[:len(stack)-1]
			continue
		}
		top.at++
		visit(nodes[top.at-1])
	}
	gap(len(r.src))
	if r.lang == PHP {
		r.space(&white, len(r.src))
	}
	r.scratch.nodes = nodes[:0]
}

// isScript reports whether the language is JavaScript or TypeScript.
func (r *reader) isScript() bool {
	return r.lang == JavaScript || r.lang == TypeScript || r.lang == TSX
}

// comment appends an item for a significant comment.
func (r *reader) comment(start, end int) {
	text := r.src[start:end]
	it := item{kind: docs, start: uint32(start), end: uint32(end)}
	oneLine := bytes.TrimRight(text, "\r\n")
	// An encoding comment counts only on the first two lines.
	encoding := (r.lang == Python || r.lang == Ruby) && r.line(start) <= 2 && bytes.Contains(text, []byte("coding"))
	switch {
	case encoding:
		r.items = append(r.items, item{kind: lineBreak, start: uint32(start), end: uint32(start)})
		it.kind = verbatim
	case hidesCode(r.lang, r.src, start, end):
		it.kind = verbatim
	case isDirective(string(text)) && (start == 0 || !bytes.HasPrefix(text, []byte("#!"))):
		if bytes.IndexByte(oneLine, '\n') < 0 {
			it.kind = verbatim
			it.end = uint32(start + len(bytes.TrimRight(text, " \t\r\n")))
		}
	case !r.docAt[start]:
		return
	}
	r.items = append(r.items, it)
}

// isWhite reports whether text is only white space.
func isWhite(text []byte) bool {
	if len(text) > 0 && text[0] > ' ' && text[0] < 0x7f { // the usual case
		return false
	}
	return len(bytes.TrimSpace(text)) == 0
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// A nodeKind tells how collectItems handles a node.
type nodeKind byte

const (
	ordinaryNode nodeKind = iota
	commentNode
	verbatimNode
	proseNode
	continuationNode
)

var nodeKinds sync.Map // []nodeKind by Language

// nodeKindsOf returns the kinds of a language's nodes, by symbol.
func nodeKindsOf(lang Language, names []string) []nodeKind {
	if known, ok := nodeKinds.Load(lang); ok {
		kinds, _ := known.([]nodeKind)
		return kinds
	}
	kinds := make([]nodeKind, len(names))
	for i, name := range names {
		switch {
		case isComment(name):
			kinds[i] = commentNode
		case name == "block_continuation":
			kinds[i] = continuationNode
		case lang == Markdown && (name == "inline" || name == "pipe_table_cell"):
			kinds[i] = proseNode
		case isVerbatim(lang, name):
			kinds[i] = verbatimNode
		}
	}
	nodeKinds.Store(lang, kinds)
	return kinds
}

// isVerbatim reports whether white space is significant in a node, or text in it may look like a comment.
func isVerbatim(lang Language, kind string) bool {
	switch kind {
	case "string", "string_literal", "char_literal", "character_literal", "raw_string_literal", "raw_string", "regex":
		return true
	case "heredoc_body", "heredoc_start", "heredoc_end", "ansi_c_string", "translated_string", "herestring_redirect":
		return lang == Bash || lang == Ruby
	case "system_lib_string", "preproc_arg":
		return lang == C || lang == CPP || lang == CSharp
	case "verbatim_string_literal", "interpolated_string_expression":
		return lang == CSharp
	case "text_block":
		return lang == Java
	case "template_string", "jsx_text", "template_literal_type", "html_comment":
		return lang == JavaScript || lang == TypeScript || lang == TSX
	case "fenced_code_block", "indented_code_block", "html_block", "minus_metadata", "plus_metadata", "link_reference_definition":
		return lang == Markdown
	case "encapsed_string", "heredoc", "nowdoc", "text", "shell_command_expression", "text_interpolation":
		return lang == PHP
	case "heredoc_beginning", "subshell", "bare_string", "string_array", "symbol_array", "delimited_symbol", "character", "uninterpreted":
		return lang == Ruby
	}
	return false
}

func isComment(kind string) bool {
	switch kind {
	case "comment", "line_comment", "block_comment", "doc_comment":
		return true
	}
	return false
}

// isDirective reports whether a comment is an instruction for a tool, and therefore significant.
func isDirective(text string) bool {
	if strings.HasPrefix(text, "/**") && strings.Contains(text, "@") {
		return true
	}
	return mayBeDirective(text) && directive().MatchString(text[:min(len(text), 200)])
}

// mayBeDirective is a fast check of the first two letters of a comment. If it returns false, directive does not
// match.
func mayBeDirective(text string) bool {
	rest := strings.TrimLeft(text, "/#*!<- \t\n\f\r")
	if strings.HasPrefix(text, "#!") || len(rest) < 2 || rest[0] == '@' || rest[0] >= 0x80 || rest[1] >= 0x80 {
		return true
	}
	return strings.Contains(directiveStarts, " "+strings.ToLower(rest[:2]))
}

// directiveStarts lists the first two letters of all words in directive.
const directiveStarts = " es ts js gl is pr bi we so py my ru fl ya sh fr en co vi wa ty no cl iw re ch sp ph ps fo la in to fm go cy di c8 v8 __ am"

var directive = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:#!|(?:[/#*!<\s-]|--)*(?:(?i:eslint|tslint|jshint|jslint|globals? |istanbul|prettier|biome|webpack|sourceMappingURL|sourceURL|pylint|mypy|pyright|ruff|flake8|isort|yapf|rubocop|shellcheck|frozen_string_literal|encoding|coding|vim:|warn_indent|shareable_constant_value|typed:|nolint|clang-|IWYU|NOSONAR|noinspection|ReSharper|checkstyle|spotless|pragma|phpcs|psalm|phpstan|formatter:|language=|region|endregion|include |todo-directive)|(?:type|noqa|nosec|fmt|go|cython|distutils|c8|v8)\b\s*:|noqa|nosec|@|__PURE__|reference |amd-))`)
})
