package git

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ken/internal/repo"
)

// For every combination of attributes and settings, Attributes returns the conversion that git add does.
func TestAttributesMatchGitAdd(t *testing.T) {
	attributes := []string{
		"", "text", "-text", "text=auto", "text=input", "text=other", "crlf", "-crlf", "crlf=input", "crlf=auto",
		"eol=lf", "eol=crlf", "text=auto eol=crlf", "text=auto eol=lf", "-text eol=crlf", "text eol=lf", "-text crlf",
		"text=auto -crlf", "binary", "!text", "crlf=auto eol=lf", "crlf eol=crlf", "-crlf eol=lf",
	}
	settings := []string{"false", "true", "input"}
	for _, auto := range settings {
		for _, eol := range []string{"", "crlf", "lf"} {
			if auto == "input" && eol == "crlf" {
				continue // git refuses the combination
			}
			t.Run("autocrlf="+auto+",eol="+eol, func(t *testing.T) {
				b := newBox(t)
				b.git("config", "core.safecrlf", "false")
				for i := range attributes {
					b.write(fmt.Sprintf("had%02d", i), "one\r\ntwo\r\n")
					b.write(fmt.Sprintf("bin%02d", i), "one\x00\r\ntwo\r\n")
				}
				b.commit()
				b.git("config", "core.autocrlf", auto)
				if eol != "" {
					b.git("config", "core.eol", eol)
				}
				var lines strings.Builder
				var paths []repo.Path
				for i, a := range attributes {
					fmt.Fprintf(&lines, "*%02d %s\n", i, a)
					for _, kind := range []string{"new", "had", "bin"} {
						paths = append(paths, repo.Path(fmt.Sprintf("%s%02d", kind, i)))
					}
					b.write(fmt.Sprintf("new%02d", i), "eins\r\nzwei\r\ndrei\n")
					b.write(fmt.Sprintf("had%02d", i), "eins\r\nzwei\r\ndrei\n")
					b.write(fmt.Sprintf("bin%02d", i), "eins\x00\r\nzwei\r\n")
				}
				b.write(".gitattributes", lines.String())
				r := b.open()
				before, err := r.index(ctx(t))
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.Attributes(ctx(t), paths)
				if err != nil {
					t.Fatal(err)
				}
				cleaned, err := r.StoredIDs(ctx(t), paths)
				if err != nil {
					t.Fatal(err)
				}
				b.git("add", "-A")
				for i, p := range paths {
					stored := b.raw("cat-file", "blob", ":"+string(p))
					disk, _ := os.ReadFile(b.path(string(p)))
					want := b.byRule(r, got[i].Convert, string(disk), before, p)
					if stored != want {
						t.Errorf("%s (%s): git add stores %q, but conversion %d would store %q", p, attributes[i/3], stored, got[i].Convert, want)
					}
					if id := b.id(":" + string(p)); id != cleaned[i] {
						t.Errorf("%s (%s): git add stores %s, StoredIDs returned %s", p, attributes[i/3], id, cleaned[i])
					}
				}
			})
		}
	}
}

// byRule converts text by the result of Attributes.
func (b *box) byRule(r *Repo, c repo.Convert, text string, idx repo.Index, p repo.Path) string {
	b.t.Helper()
	lf := strings.ReplaceAll(text, "\r\n", "\n")
	switch c {
	case repo.ConvertText:
		return lf
	case repo.ConvertAuto:
		kept, err := r.HasCRLF(b.t.Context(), entryOf(idx, p).ID)
		if err != nil {
			b.t.Fatal(err)
		}
		if strings.Contains(text, "\x00") || kept {
			return text
		}
		return lf
	case repo.ConvertNone:
		return text
	default:
		b.t.Fatalf("%s: convert %d", p, c)
		return ""
	}
}

func TestAttributes(t *testing.T) {
	b := newBox(t)
	b.write(".gitattributes", strings.Join([]string{
		"*.lfs filter=lfs -text", "*.gen linguist-generated", "*.src linguist-generated=false -linguist-vendored",
		"vendor/** linguist-vendored=true", "*.png binary", "*.nodiff -diff", "*.id ident", "*.u16 working-tree-encoding=UTF-16",
		"*.u8 working-tree-encoding=utf8", "*.set filter", "*.unset -filter",
	}, "\n"))
	yes, no := new(true), new(false)
	cases := map[repo.Path]repo.Attributes{
		"a.lfs": {Filtered: true}, "a.gen": {Generated: yes}, "a.src": {Generated: no, Vendored: no},
		"vendor/x": {Vendored: yes}, "a.png": {Binary: true}, "a.nodiff": {}, "a.id": {Convert: repo.ConvertGit},
		"a.u16": {Convert: repo.ConvertGit}, "a.u8": {}, "a.set": {}, "a.unset": {}, "plain": {}, "new\nline.png": {Binary: true},
		"\xff.gen": {Generated: yes}, " \"q\".id": {Convert: repo.ConvertGit},
	}
	var paths []repo.Path
	for p := range cases {
		paths = append(paths, p)
	}
	got, err := b.open().Attributes(ctx(t), paths)
	if err != nil {
		t.Fatal(err)
	}
	show := func(a repo.Attributes) string {
		flag := func(p *bool) string {
			if p == nil {
				return "-"
			}
			return fmt.Sprint(*p)
		}
		return fmt.Sprint(a.Convert, a.Filtered, flag(a.Generated), flag(a.Vendored), a.Binary)
	}
	for i, p := range paths {
		if show(got[i]) != show(cases[p]) {
			t.Errorf("the attributes of %q are %s; want %s", p, show(got[i]), show(cases[p]))
		}
	}
	if got, err := b.open().Attributes(ctx(t), nil); len(got) != 0 || err != nil {
		t.Errorf("Attributes of no paths returned %v, %v; want nothing", got, err)
	}
}

// StoredIDs returns the id that git add would store, for unusual names, conversions and flags. It does not change the
// repository.
func TestStoredIDsMatchesGitAdd(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		b := newBox(t, "--object-format="+format)
		b.commit("id.txt", "$Id$\r\n", "plain", "1", "odd\nname.txt", "x\r\n", "hidden.txt", "h\r\n", "auto.txt", "a\n")
		b.age()
		b.write(".gitattributes", "*.txt text=auto ident\n*.u16 working-tree-encoding=UTF-16LE\n")
		b.git("update-index", "--assume-unchanged", "hidden.txt")
		b.write("id.txt", "$Id: 123$\r\nmore\r\n")
		b.write("odd\nname.txt", "$Id: x$\r\n")
		b.write("hidden.txt", "$Id: hidden$\r\n")
		b.write("auto.txt", "$Id: a$\r\nb\r\n")
		b.write("new.u16", "h\x00i\x00\n\x00")
		paths := []repo.Path{"new.u16", "odd\nname.txt", "id.txt", "plain", "hidden.txt", "auto.txt"}
		r := b.open()
		before := b.git("count-objects", "-v") + b.git("status", "--porcelain=v2")
		got, err := r.StoredIDs(ctx(t), paths)
		if err != nil {
			t.Fatal(err)
		}
		if after := b.git("count-objects", "-v") + b.git("status", "--porcelain=v2"); after != before {
			t.Errorf("the repository changed: %s, was %s", after, before)
		}
		b.git("update-index", "--no-assume-unchanged", "hidden.txt")
		b.git("add", "-A")
		for i, p := range paths {
			if want := b.id(":" + string(p)); got[i] != want {
				t.Errorf("the stored id of %q is %s; want %s", p, got[i], want)
			}
		}
	}
}

func TestStoredIDsStartsNoFilter(t *testing.T) {
	b := newBox(t)
	b.write(".gitattributes", "*.x filter=evil\n")
	b.git("config", "filter.evil.clean", "touch "+b.path("ran"))
	b.write("a.x", "1")
	if ids, err := b.open().StoredIDs(ctx(t), []repo.Path{"a.x"}); err == nil {
		t.Errorf("StoredIDs returned %v for a path with a filter, want an error", ids)
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("the filter was run")
	}
	if ids, err := b.open().StoredIDs(ctx(t), []repo.Path{"absent"}); err == nil {
		t.Errorf("StoredIDs returned %v for a missing file, want an error", ids)
	}
}

func TestHasCRLF(t *testing.T) {
	b := newBox(t)
	for text, want := range map[string]bool{
		"a\r\nb\r\n": true, "a\nb\n": false, "": false, "a\rb\r\n": false, "a\x00\r\n": false, "a\r\n\x1a": true,
		"\x01\r\n": false, strings.Repeat("x", 300) + "\x01\x02\r\n": true, "a\r\nb\r": false,
		strings.Repeat("line\r\n", 100_000): true, strings.Repeat("line\r\n", 100_000) + "\x00": false,
		"\x00" + strings.Repeat("line\r\n", 100_000): false,
	} {
		b.write("f", text)
		id, err := repo.ParseID(b.git("hash-object", "-w", "--no-filters", "f"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.open().HasCRLF(ctx(t), id); got != want || err != nil {
			t.Errorf("HasCRLF of %.20q returned %v, %v", text, got, err)
		}
	}
	missing, _ := repo.ParseID(strings.Repeat("1", 40))
	if got, err := b.open().HasCRLF(ctx(t), missing); err == nil {
		t.Errorf("HasCRLF returned %v for a missing blob, want an error", got)
	}
}
