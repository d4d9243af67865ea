package outline

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A sample is a file of testdata.
type sample struct {
	path repo.Path
	src  []byte
}

func samples(tb testing.TB) []sample {
	tb.Helper()
	files, err := filepath.Glob("testdata/*/*")
	if err != nil {
		tb.Fatal(err)
	}
	var out []sample
	for _, name := range files {
		if strings.HasSuffix(name, ".outline") || strings.Contains(name, "fuzz") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, sample{repo.Path(filepath.Base(strings.TrimSuffix(name, ".txt"))), src})
	}
	return out
}

// items returns the items of a sample.
func (s sample) items(tb testing.TB) *file {
	tb.Helper()
	f, err := read(LanguageOf(s.path, s.src), s.path, s.src, false)
	if err != nil {
		tb.Fatal(err)
	}
	if f.partial != "" {
		tb.Fatalf("%s: a sample should be whole: %s", s.path, f.partial)
	}
	f.outline()
	return f
}

func of(tb testing.TB, path repo.Path, src []byte) *Outline {
	tb.Helper()
	o, err := Parse(path, src)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func splice(src []byte, at int, text string) []byte {
	return bytes.Join([][]byte{src[:at], []byte(text), src[at:]}, nil)
}

// gaps returns the offsets after a line break that have only white space between two tokens around them.
func gaps(f *file) []int {
	var out []int
	end := 0
	for i, it := range f.items {
		if it.kind == verbatim { // every byte is significant
			end = 0
			continue
		}
		if it.kind != leaf && it.kind != docs && it.kind != prose {
			continue
		}
		if i > 0 && end <= int(it.start) && end > 0 {
			gap := f.src[end:it.start]
			if at := bytes.IndexByte(gap, '\n'); at >= 0 && len(bytes.TrimSpace(gap)) == 0 {
				out = append(out, end+at+1)
			}
		}
		end = max(end, int(it.end))
	}
	return out
}

// White space between tokens changes only line numbers.
func TestWhiteSpaceIsFormat(t *testing.T) {
	for _, s := range samples(t) {
		f := s.items(t)
		was := of(t, s.path, s.src)
		n := 0
		for _, at := range gaps(f) {
			if f.lang == Markdown && !bytes.HasPrefix(s.src[at:], []byte("\n")) && !bytes.HasSuffix(s.src[:at], []byte("\n\n")) {
				continue // an empty line separates paragraphs
			}
			text := "\n"
			if f.lang == Markdown || f.lang == Python {
				text = "\n\n"
			}
			// An empty line separates a comment from its declaration.
			if above, below := lineBefore(s.src, at), bytes.TrimSpace(s.src[at:min(len(s.src), at+200)]); isCommentLine(above) && !bytes.HasPrefix(below, []byte("\n")) {
				continue
			}
			now := of(t, s.path, splice(s.src, at, text))
			n++
			if Grade(was, now) != fresh.GradeFormat || was.Digest != now.Digest || was.Interface != now.Interface {
				t.Errorf("%s: an empty line more at %q is a change of %s", s.path, around(s.src, at), Grade(was, now))
			}
		}
		if n < 5 {
			t.Errorf("%s: only %d places tried", s.path, n)
		}
	}
}

func lineBefore(src []byte, at int) []byte {
	before := bytes.TrimRight(src[:at], "\n")
	return bytes.TrimSpace(before[bytes.LastIndexByte(before, '\n')+1:])
}

func isCommentLine(line []byte) bool {
	for _, p := range []string{"//", "/*", "*", "#", "///"} {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return bytes.HasSuffix(line, []byte("*/"))
}

func around(src []byte, at int) string {
	return string(src[max(0, at-30):at]) + "·" + string(src[at:min(len(src), at+30)])
}

// An ordinary comment on its own line changes only line numbers.
func TestPlainCommentIsFormat(t *testing.T) {
	for _, s := range samples(t) {
		f := s.items(t)
		if f.lang == Markdown {
			continue // Markdown has no comments
		}
		comment := "// said in passing\n\n"
		switch f.lang {
		case Python, Ruby, Bash:
			comment = "# said in passing\n\n"
		case C, CPP, CSharp:
			comment = "/* said in passing */\n\n"
		default:
		}
		was := of(t, s.path, s.src)
		n := 0
		for _, at := range gaps(f) {
			above := lineBefore(s.src, at)
			switch {
			case isCommentLine(above): // it would extend that comment
				continue
			case string(above) == "<?php", f.lang == Bash && bytes.HasSuffix(above, []byte("{")):
				continue // it would document that declaration
			case f.lang == TSX && (bytes.HasSuffix(above, []byte(">")) && !bytes.HasSuffix(above, []byte("=>")) || bytes.HasSuffix(above, []byte("*/}"))):
				continue // it would be text
			}
			now := of(t, s.path, splice(s.src, at, "\n"+comment))
			n++
			if Grade(was, now) != fresh.GradeFormat || was.Digest != now.Digest {
				t.Errorf("%s: a comment at %q is a change of %s, partial %q", s.path, around(s.src, at), Grade(was, now), now.Partial)
			}
		}
		if n < 5 {
			t.Errorf("%s: only %d places tried", s.path, n)
		}
	}
}

// Another word in a function body grades body for that function and the symbols around it. No other symbol
// changes.
func TestBodyChangeOfOneSymbol(t *testing.T) {
	for _, s := range samples(t) {
		f := s.items(t)
		was := of(t, s.path, s.src)
		n := 0
		for i := range f.symbols {
			d := &f.symbols[i]
			if d.Kind != Func && d.Kind != Method || len(d.ranges) == 0 && f.lang != Go || !bytes.ContainsAny(f.src[d.start:d.end], "{:=") && f.lang != Ruby {
				continue // Markdown has no bodies
			}
			for _, it := range f.items[d.from:d.to] {
				word := string(f.src[it.start:it.end])
				if it.kind != leaf || len(word) < 3 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
					continue
				}
				if f.lang != Go && int(it.start) < d.ranges[len(d.ranges)-1].end {
					continue
				}
				src := splice(f.src, int(it.end), "qz")
				now, err := Parse(s.path, src)
				if err != nil || now.Partial != "" || f.lang == Go && now.Interface != was.Interface {
					continue // the word was a keyword, or in the signature
				}
				n++
				if g := Grade(was, now); g != fresh.GradeBody {
					t.Errorf("%s: %q is a change of %s", s.path, around(src, int(it.end)), g)
					continue
				}
				for j := range f.symbols {
					other := &f.symbols[j]
					inside := int(it.start) >= other.start && int(it.start) < other.end
					g, _ := GradeSymbol(was, now, other.FullName())
					if same := len(was.Find(other.FullName())) > 1; !same && (g == "") == inside {
						t.Errorf("%s: %q grades %s as %q", s.path, around(src, int(it.end)), other.FullName(), g)
					}
				}
			}
		}
		if n == 0 && f.lang != Markdown && s.path != "list.h" {
			t.Errorf("%s: no word of a body tried", s.path)
		}
	}
}

// A change of any letter outside of ordinary comments, or of any space within a literal, changes Tokens.
func TestEveryByteChangesTokens(t *testing.T) {
	for _, s := range samples(t) {
		f := s.items(t)
		was := of(t, s.path, s.src)
		n := 0
		for _, it := range f.items {
			for at := int(it.start); at < int(it.end); at += 1 + (int(it.end)-int(it.start))/3 {
				src := bytes.Clone(f.src)
				switch c := src[at]; {
				case c >= 'a' && c <= 'z':
					src[at] = 'Z'
				case c == ' ' && (it.kind == leaf || it.kind == verbatim):
					src = splice(src, at, " ")
				default:
					continue
				}
				n++
				if now, err := Parse(s.path, src); err == nil && now.Tokens == was.Tokens {
					t.Errorf("%s: %q makes no difference", s.path, around(src, at))
				}
			}
		}
		if n < 20 {
			t.Errorf("%s: only %d places tried", s.path, n)
		}
	}
}

// References are in order, are within the lines of the file and do not name the file's own declarations.
// They are equal after decoding and on every call. Requesting them does not change the outline.
func TestReferencesAreDeterministic(t *testing.T) {
	for _, s := range samples(t) {
		o, want, err := ParseWithReferences(s.path, s.src)
		if err != nil {
			t.Fatal(err)
		}
		checkRefs(t, s.path, s.src, o, want)
		if alone := of(t, s.path, s.src); !reflect.DeepEqual(alone, o) {
			t.Errorf("%s: requesting references changes the outline", s.path)
		}
		if len(want.Uses)+len(want.Imports) == 0 && o.Language != Markdown && s.path != "list.h" {
			t.Errorf("%s: no imports and no uses", s.path)
		}
		b, err := want.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		var back References
		if err := back.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&back, want) {
			t.Errorf("%s reads back as\n%+v, %v\nwant\n%+v", s.path, back, err, want)
		}
		for range 3 {
			if _, again, err := ParseWithReferences(s.path, s.src); err != nil || !reflect.DeepEqual(again, want) {
				t.Errorf("%s: other references the next time: %+v, %v\nwant %+v", s.path, again, err, want)
			}
		}
	}
}

// An outline is equal after decoding, on every call, in concurrent calls, and for all line endings.
func TestOutlineIsDeterministic(t *testing.T) {
	var all sync.WaitGroup
	for _, s := range samples(t) {
		want := of(t, s.path, s.src)
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var back Outline
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&back, want) {
			t.Errorf("%s reads back as\n%+v\nfrom\n%s", s.path, back, b)
		}
		same := [][]byte{
			s.src,
			append([]byte("\ufeff"), s.src...),
			bytes.TrimSuffix(s.src, []byte("\n")),
		}
		if LanguageOf(s.path, s.src) != Bash { // a carriage return is a letter in shell scripts
			same = append(same, bytes.ReplaceAll(s.src, []byte("\n"), []byte("\r\n")))
		}
		for _, src := range same {
			all.Go(func() {
				got, err := Parse(s.path, src)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the next call returns another outline (%v)", s.path, err)
				}
			})
		}
	}
	all.Wait()
}

// A truncated or shuffled file has an outline within its lines, or an error with a reason. Its digest
// differs from that of the original.
func TestBrokenFiles(t *testing.T) {
	rounds := 60
	rnd := rand.New(rand.NewPCG(1, 2))
	if os.Getenv("KEN_CORPUS") != "" {
		rounds = 3000
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rnd = rand.New(rand.NewPCG(seed, 2))
	}
	for _, s := range samples(t) {
		whole := of(t, s.path, s.src)
		for range rounds {
			src := bytes.Clone(s.src)
			for range rnd.IntN(3) {
				i, j := rnd.IntN(len(src)), rnd.IntN(len(src))
				k := min(rnd.IntN(60), len(src)-max(i, j))
				copy(src[i:i+k], src[j:j+k])
			}
			switch rnd.IntN(4) {
			case 0:
				src = src[:rnd.IntN(len(src))]
			case 1:
				src = src[rnd.IntN(len(src)):]
			case 2:
				at := rnd.IntN(len(src))
				src = append(src[:at], src[min(len(src), at+1+rnd.IntN(20)):]...)
			case 3:
				src[rnd.IntN(len(src))] = "(){}[]\"'`<>;,#/*\\\xff"[rnd.IntN(18)]
			}
			o, refs, err := ParseWithReferences(s.path, src)
			if err != nil {
				t.Errorf("ParseWithReferences(%q) returned the error %v", s.path, err)
				continue
			}
			checkSpans(t, s.path, src, o)
			checkRefs(t, s.path, src, o, refs)
			if o.Tokens == whole.Tokens && len(bytes.Fields(src)) < len(bytes.Fields(s.src))-20 {
				t.Errorf("%s: much is gone and the tokens are the same", s.path)
			}
			if t.Failed() {
				t.Fatalf("the checks failed for this content of %s:\n%s", s.path, src)
			}
		}
	}
}

func checkSpans(t *testing.T, path repo.Path, src []byte, o *Outline) {
	t.Helper()
	lines := bytes.Count(src, []byte("\n")) + 1
	depth := 0
	for _, s := range o.Symbols {
		if s.Line < 1 || s.EndLine < s.Line || s.EndLine > lines {
			t.Errorf("%s: %s is on lines %d-%d of %d", path, s.FullName(), s.Line, s.EndLine, lines)
		}
		if s.Name == "" || s.Kind == "" || s.Shape.IsZero() || s.Text.IsZero() || s.Depth < 0 || s.Depth > depth+1 {
			t.Errorf("%s: not a symbol: %+v", path, s)
		}
		if strings.ContainsAny(s.Signature+s.Name+s.Doc, "\n\r\t\x00") {
			t.Errorf("%s: more than a line: %+v", path, s)
		}
		depth = s.Depth
	}
}

// checkRefs checks the properties of all references.
func checkRefs(t *testing.T, path repo.Path, src []byte, o *Outline, refs *References) {
	t.Helper()
	if strings.HasPrefix(refs.Partial, walkFailed) {
		t.Fatalf("the references of %s are partial: %s", path, refs.Partial)
	}
	lines := bytes.Count(src, []byte("\n")) + 1
	imported := make(map[string]bool)
	for _, im := range refs.Imports {
		if im.Line < 1 || im.Line > lines || im.Module == "" && !im.Reexport {
			t.Errorf("%s has %d lines and the import %+v", path, lines, im)
		}
		for _, b := range im.Names {
			if b.Name == "" && b.As == "" {
				t.Errorf("%s: import %+v binds no name", path, im)
			}
			imported[b.Local()] = true
		}
	}
	declared := make(map[string]bool)
	for _, s := range o.Symbols {
		if s.Depth == 0 && s.Qualified == "" {
			declared[s.Name] = true
		}
	}
	type key struct {
		qualifier, name string
		member          bool
		kind            UseKind
	}
	seen := make(map[key]bool)
	first := 0
	for _, u := range refs.Uses {
		if k := (key{u.Qualifier, u.Name, u.Member, u.Kind}); seen[k] || u.Name == "" {
			t.Errorf("%s: %+v is no use, or listed twice", path, u)
		} else {
			seen[k] = true
		}
		if len(u.Lines) == 0 || len(u.Lines) > MaxUseLines || u.Lines[0] < first || !slices.IsSorted(u.Lines) ||
			u.Lines[len(u.Lines)-1] > lines || len(slices.Compact(slices.Clone(u.Lines))) != len(u.Lines) || u.More > 0 && len(u.Lines) < MaxUseLines {
			t.Errorf("%s has %d lines, and %+v", path, lines, u)
		} else {
			first = u.Lines[0]
		}
		if u.Qualifier != "" && !u.Member {
			t.Errorf("%s: %+v has a qualifier and is no member", path, u)
		}
		if !u.Member && declared[u.Name] && !imported[u.Name] {
			t.Errorf("%s: %+v is declared by the file itself", path, u)
		}
	}
	if len(refs.Uses) > MaxUses || refs.More > 0 && len(refs.Uses) < MaxUses {
		t.Errorf("%s: %d uses and %d more", path, len(refs.Uses), refs.More)
	}
}

// Parse does not panic for any content.
func FuzzOf(f *testing.F) {
	all := samples(f)
	for i, s := range all {
		f.Add(uint8(i), s.src)
	}
	f.Fuzz(func(t *testing.T, like uint8, src []byte) {
		path := all[int(like)%len(all)].path
		o, refs, err := ParseWithReferences(path, src)
		if err != nil {
			if strings.Contains(err.Error(), "grammar failed") {
				t.Fatalf("ParseWithReferences(%q) returned the error %v", path, err)
			}
			return
		}
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
		checkSpans(t, path, src, o)
		checkRefs(t, path, src, o, refs)
		again, refsAgain, err := ParseWithReferences(path, src)
		if err != nil || again.Digest != o.Digest || again.Tokens != o.Tokens {
			t.Fatal("the second call returns another outline")
		}
		if !reflect.DeepEqual(refs, refsAgain) {
			t.Fatal("other references the second time")
		}
	})
}
