package objects

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const one = "1111111111111111111111111111111111111111"

// The contents do not depend on how the output of git is split into writes.
func TestBlobWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contents := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 6), 1, 4).Draw(t, "contents")
		var answer bytes.Buffer
		for _, c := range contents {
			answer.WriteString("0123 blob " + string(rune('0'+len(c))) + "\n" + string(c) + "\n")
		}
		var found [][]byte
		w := &blobWriter{visit: func(content []byte, _ int64) { found = append(found, content) }}
		for rest := answer.Bytes(); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if w.inside || len(found) != len(contents) {
			t.Fatalf("found %d contents, want %d", len(found), len(contents))
		}
		for i, c := range contents {
			if !bytes.Equal(found[i], c) {
				t.Fatalf("found content %q, want %q", found[i], c)
			}
		}
	})
}

// readTree does not panic for any tree, and finds the names in it.
func FuzzReadTree(f *testing.F) {
	f.Add([]byte("100644 a\x00"+strings.Repeat("x", 20)+"40000 b\x00"+strings.Repeat("y", 20)), "b")
	f.Fuzz(func(t *testing.T, tree []byte, name string) {
		found, err := readTree(tree, map[string]bool{name: true}, 20)
		if _, ok := found[name]; ok && (err != nil || !bytes.Contains(tree, []byte(" "+name+"\x00"))) {
			t.Errorf("%q in %q: %v", name, tree, err)
		}
	})
}

// The parser of cat-file reads output in parts of any size, and rejects truncated output.
func TestCatFileParser(t *testing.T) {
	id := strings.Repeat("1", 40)
	text := id + " tree 5\na\nb\nc\nx missing\n" + id + " tree 0\n\n" + id + " blob 3\n\n\n\n\n" + id + " submodule\n"
	names := []string{"n", "x", "t", "b", "s"}
	hear := func(size int, text string) (string, *catFileParser, error) {
		var heard string
		l := &catFileParser{size: 20, names: names, f: func(name string, o object) error {
			heard += fmt.Sprintf("%s %s %q;", name, o.kind, o.content)
			return nil
		}}
		for len(text) > 0 {
			n := min(size, len(text))
			if _, err := l.Write([]byte(text[:n])); err != nil {
				return heard, l, err
			}
			text = text[n:]
		}
		return heard, l, nil
	}
	const want = `n tree "a\nb\nc";x  "";t tree "";b blob "";s commit "";`
	for size := 1; size <= len(text); size++ {
		got, l, err := hear(size, text)
		if got != want || err != nil || len(l.names) > 0 {
			t.Errorf("in pieces of %d: %s, %v, %v are left", size, got, err, l.names)
		}
		if _, l, err := hear(len(text), text[:size]); err == nil && size < len(text) && len(l.names) == 0 && l.skip == 0 {
			t.Errorf("the parser accepted %d bytes of %d as complete", size, len(text))
		}
	}
	for _, bad := range []string{id + " tree 1\nab", id + " blob -1\n", "y missing\n", id + " blob\n"} {
		if got, _, err := hear(3, bad); err == nil {
			t.Errorf("the output %q was read as %s; want an error", bad, got)
		}
	}
}

// The text of an item contains the parsed values.
func FuzzTreeItem(f *testing.F) {
	f.Add("100644 blob " + one + "\ta")
	f.Add("100644 blob " + one + "      12\ta b")
	f.Add("160000 commit " + one + "       -\ta")
	f.Add("040000 tree " + one)
	f.Fuzz(func(t *testing.T, text string) {
		item, err := ParseTreeItem(text)
		if err != nil {
			return
		}
		if !strings.HasSuffix(text, "\t"+string(item.Path)) || !strings.Contains(strings.ToLower(text), item.ID.String()) {
			t.Errorf("ParseTreeItem(%q) returned %+v; want parts of the text", text, item)
		}
	})
}
