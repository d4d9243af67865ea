package review

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/change"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
	"ken/internal/usage"
	"ken/internal/uses"
)

// added lists the places that may need what the change adds to a type: implementors of an interface, a trait or an
// abstract class, and in Rust matches of an enum and literals of a struct.
func (j *judge) added() error {
	for i := range j.Change.Files {
		f := &j.Change.Files[i]
		isCompared := f.Before != nil && f.After != nil && f.After.Partial == ""
		if !isCompared || f.FileKind == repo.KindTest {
			continue
		}
		was := change.ByName(f.Before)
		lines := strings.Split(string(j.Change.Read(f.Path, false)), "\n")
		for k := range f.After.Symbols {
			owner := &f.After.Symbols[k]
			if len(was[owner.FullName()]) == 0 {
				continue
			}
			var names []string
			for m := range f.After.Symbols {
				s := &f.After.Symbols[m]
				isPart := s.FullName() == owner.FullName()+"."+s.Name && len(was[s.FullName()]) == 0
				if isPart && isRequired(f.After.Language, owner, s, lines) {
					names = append(names, s.Name)
				}
			}
			if len(names) == 0 {
				continue
			}
			if err := j.addNeeded(f, owner, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// isRequired reports whether what a type is used for must have a new part of it.
func isRequired(lang outline.Language, owner, s *outline.Symbol, lines []string) bool {
	last := strings.TrimSpace(lines[min(max(s.EndLine, 1), len(lines))-1])
	switch owner.Kind {
	case outline.Interface:
		if lang == outline.Go && s.Kind != outline.Method {
			return false // another interface, whose methods ken does not list here
		}
		unquoted := strings.NewReplacer("'", "", `"`, "").Replace(s.Signature)
		return !strings.Contains(unquoted, s.Name+"?") && !strings.Contains(s.Signature, "default ")
	case outline.Trait:
		return strings.HasSuffix(last, ";") && !strings.Contains(last, "}")
	case outline.Class:
		return strings.Contains(s.Signature, "abstract") || strings.Contains(lines[max(s.Line, 1)-1], "@abstract")
	case outline.Enum, outline.Struct:
		return lang == outline.Rust && (s.Kind == outline.Member || s.Kind == outline.Field)
	default:
		return false
	}
}

// addNeeded adds the places that may need new parts of a type.
func (j *judge) addNeeded(f *change.File, owner *outline.Symbol, names []string) error {
	quoted := regexp.QuoteMeta(owner.Name)
	pattern := `\b(?:class|struct|record)\b[^{]*\b` + quoted + `\b`
	switch owner.Kind {
	case outline.Trait:
		pattern = `\bimpl\b.*\b` + quoted + `\b.*\bfor\b`
	case outline.Enum:
		pattern = `\b` + quoted + `::\w+.*=>`
	case outline.Struct:
		pattern = `(?:^|[(=,{&]|return|=>)\s*(?:\w+::)*` + quoted + `\s*\{`
	default: // the pattern of a class
	}
	from := map[repo.Path]bool{f.Path: true}
	users, err := j.Index.Users(j.ctx, f.Path)
	if err != nil {
		return err
	}
	full := owner.FullName()
	for _, e := range users {
		from[e.From] = from[e.From] || e.Symbol == full || strings.HasPrefix(e.Symbol, full+".")
	}
	declared, err := j.Index.Declarations(j.ctx, names[0])
	if err != nil {
		return err
	}
	what := namesOf(f.Path, append([]string{full + "." + names[0]}, names[1:]...))
	what = append(what, prose(", which this change adds"))
	c := &cause{kind: MayUse, verb: "may need ", what: what}
	c.command = "ken uses " + fault.Quote(string(f.Path)+"#"+full)
	isNamed := false // by a place, which may have the parts
	for p := range from {
		hasIt := p != f.Path && slices.ContainsFunc(declared, func(d searchindex.Declaration) bool { return d.Path == p })
		word := regexp.MustCompile(`(?:::|[{,(]\s*|^\s*)` + regexp.QuoteMeta(names[0]) + `\b`)
		mentions := mentionsIn(p, j.Change.Read(p, false), word).Places
		isAdapted := j.paths[p] && slices.ContainsFunc(mentions, func(place usage.FileLines) bool {
			isOutside := func(line int) bool { return line < owner.Line || line > owner.EndLine }
			return p != f.Path || slices.ContainsFunc(place.Lines, isOutside)
		})
		hasIt = hasIt || isAdapted && uses.Family(p) == outline.Rust
		for _, place := range mentionsIn(p, j.Change.Read(p, false), regexp.MustCompile(pattern)).Places {
			isOwn := func(line int) bool { return p == f.Path && line >= owner.Line && line <= owner.EndLine }
			lines := slices.DeleteFunc(place.Lines, isOwn)
			isNamed = isNamed || len(lines) > 0
			if owner.Kind == outline.Enum || owner.Kind == outline.Trait {
				lines, err = j.needing(p, lines, declared)
			}
			if err != nil {
				return err
			}
			if !hasIt && len(lines) > 0 {
				c.add(p, lines...)
			}
		}
	}
	if uses.Family(f.Path) == outline.Go {
		if err := j.addGoTypes(c, f, full, names[0]); err != nil {
			return err
		}
	}
	isData := owner.Kind == outline.Enum || owner.Kind == outline.Struct
	isOpen := !isNamed && len(c.places) == 0 && !isData
	switch {
	case isOpen && !unchecked(f.After.Language):
		j.review.Signatures++ // a compiler finds what implements it
	case isOpen:
		of := "what implements " + full + " of " + f.Path.String()
		parts := names[0]
		if more := len(names) - 1; more > 0 {
			parts += " and " + english.Count(more, "more name")
		}
		j.unknown(Unsure, of+" must have "+parts+" now; ken found nothing that says so", c.command)
	}
	j.addCause(c)
	return nil
}

// needing returns those lines of a Rust file whose match has no arm for all other values, and whose implementation does
// not have one of some declarations.
func (j *judge) needing(p repo.Path, lines []int, declared []searchindex.Declaration) ([]int, error) {
	o, _, _, err := j.Index.Facts(j.ctx, p)
	if err != nil {
		return nil, err
	}
	text := strings.Split(string(j.Change.Read(p, false)), "\n")
	return slices.DeleteFunc(lines, func(line int) bool {
		has := func(s outline.Symbol) bool {
			within := func(d searchindex.Declaration) bool {
				return d.Path == p && d.Symbol.Line >= s.Line && d.Symbol.EndLine <= s.EndLine
			}
			isImpl := s.Kind == outline.Impl && s.Line <= line && line <= s.EndLine
			return isImpl && slices.ContainsFunc(declared, within)
		}
		return usage.HasCatchAll(text, line) || slices.ContainsFunc(o.Symbols, has)
	}), nil
}

// addGoTypes adds the Go types that have all methods which an interface had, and not the new one.
func (j *judge) addGoTypes(c *cause, f *change.File, contract, added string) error {
	types := make(map[string]int) // methods by directory and type
	lines := make(map[string]int)
	files := make(map[string]repo.Path)
	count := 0
	for _, s := range f.Before.Symbols {
		if s.FullName() == contract+"."+s.Name {
			count++
			found, err := j.Index.Declarations(j.ctx, s.Name)
			if err != nil {
				return err
			}
			for _, d := range found {
				if d.Symbol.Kind == outline.Method && uses.Family(d.Path) == outline.Go {
					key := string(d.Path.Dir()) + "#" + strings.TrimSuffix(d.Symbol.FullName(), s.Name)
					types[key]++
					lines[key] = d.Symbol.Line
					files[key] = d.Path
				}
			}
		}
	}
	found, err := j.Index.Declarations(j.ctx, added)
	if err != nil {
		return err
	}
	for _, d := range found {
		delete(types, string(d.Path.Dir())+"#"+strings.TrimSuffix(d.Symbol.FullName(), added))
	}
	for key, n := range types {
		isContract := key == string(f.Path.Dir())+"#"+contract+"."
		if n == count && !isContract {
			c.add(files[key], lines[key])
		}
	}
	return nil
}
