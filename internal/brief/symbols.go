package brief

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ken/internal/english"
	"ken/internal/order"
	"ken/internal/outline"
)

// symbols lists the declarations of the file, the most used first.
func (f *FileFacts) symbols() *block {
	if f.Outline == nil {
		return nil // the line about users says that ken cannot read the file
	}
	list, users := f.mainSymbols()
	lines := strings.Split(string(f.Content), "\n")
	items := make([]Item, len(list))
	for i, s := range list {
		n := users[s.FullName()]
		at := declaredAt(s, lines)
		text := s.Signature
		if owner := ownerOf(s); owner != "" && s.Kind != outline.Heading && !strings.Contains(beforeName(text, s.Name), owner) {
			text = owner + ": " + text
		}
		text = cut(strings.Join(strings.Fields(text), " "), signatureBytes)
		show := fmt.Sprintf("%d: %s", at, text)
		if doc := cut(s.Doc, docBytes); doc != "" && s.Kind != outline.Heading {
			show += " — " + doc
		}
		if n > 0 {
			show += fmt.Sprintf(" (used by %s)", english.Count(n, "file"))
		}
		items[i] = Item{Names: []string{s.FullName()}, Line: at, Text: text, Users: n, show: show}
	}
	subject := "symbols, most used first"
	if f.Outline.Language == outline.Markdown {
		subject = "headings"
	} else if f.Outline.Partial != "" {
		subject = "symbols (some may be missing: the file breaks its grammar)"
	}
	return growingBlock(subject, fileSymbols, items...)
}

// mainSymbols returns the symbols that are worth a line, most used first, and how many files
// use each.
func (f *FileFacts) mainSymbols() (list []*outline.Symbol, users map[string]int) {
	users = make(map[string]int)
	seenFrom := make(map[string]bool)
	for _, e := range f.Users {
		if key := e.Symbol + "\x00" + string(e.From); !seenFrom[key] {
			seenFrom[key] = true
			users[e.Symbol]++
		}
	}
	seen := make(map[string]bool)
	for i := range f.Outline.Symbols {
		s := &f.Outline.Symbols[i]
		key := string(s.Kind) + s.FullName()
		if seen[key] || !f.isMain(s, users[s.FullName()]) {
			continue
		}
		seen[key] = true
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b *outline.Symbol) int {
		return cmp.Or(
			cmp.Compare(users[b.FullName()], users[a.FullName()]),
			order.TrueFirst(a.Exported, b.Exported),
			cmp.Compare(weight(a), weight(b)),
		)
	})
	return list, users
}

const (
	signatureBytes = 140
	docBytes       = 100
)

// ownerOf returns the name of the type or module that a symbol belongs to.
func ownerOf(s *outline.Symbol) string {
	owner := strings.TrimSuffix(s.FullName(), s.Name)
	return strings.TrimRight(owner, ".:#")
}

func beforeName(signature, name string) string {
	before, _, _ := strings.Cut(signature, name)
	return before
}

// isMain reports whether a symbol is worth a line. Names of one letter or of digits are not. Fields, names that every
// type has and deeply nested symbols are only if other files use them.
func (f *FileFacts) isMain(s *outline.Symbol, users int) bool {
	if len(s.Name) < 2 || strings.Trim(s.Name, "0123456789_") == "" {
		return false
	}
	switch s.Kind {
	case outline.Impl, outline.Member:
		return false
	case outline.Field, outline.Property:
		return users > 1 && hasMembers(f.Outline.Language)
	case outline.Heading:
		return s.Depth < 2
	default:
	}
	switch {
	case users > 0:
		return true
	case strings.HasPrefix(s.Name, "__"), s.Name == "fmt", s.Name == "init":
		return false
	case s.Kind == outline.Method, s.Kind == outline.Func:
		return s.Depth == 0 || s.Exported && s.Depth < 2
	}
	return s.Depth == 0
}

// hasMembers reports whether other files may call the fields of a class in a language.
func hasMembers(l outline.Language) bool {
	switch l {
	case outline.TypeScript, outline.TSX, outline.JavaScript, outline.Python, outline.CSharp:
		return true
	default:
		return false
	}
}

// weight puts types before functions, and those before values.
func weight(s *outline.Symbol) int {
	switch s.Kind {
	case outline.Const, outline.Var, outline.Module, outline.Macro:
		return 3
	case outline.Method:
		return 2
	case outline.Func:
		return 1
	default:
		return 0
	}
}

// declaredAt returns the line of a declaration behind its comment.
func declaredAt(s *outline.Symbol, lines []string) int {
	for n := s.Line; n <= s.EndLine && n <= len(lines); n++ {
		text := strings.TrimSpace(lines[n-1])
		comment := strings.HasPrefix(text, "//") || strings.HasPrefix(text, "*") || strings.HasPrefix(text, "/*") ||
			strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "@") || strings.HasPrefix(text, "#[")
		if s.Kind == outline.Heading {
			comment = false
		}
		if !comment && strings.Contains(text, s.Name) {
			return n
		}
	}
	return s.Line
}
