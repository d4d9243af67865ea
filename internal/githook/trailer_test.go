package githook

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// pieces are parts of messages that the rules of git distinguish.
var pieces = []string{
	"subject", "fix: it", "", "", "", "Reviewed-by: x", "Session: y", "session : z", "Signed-off-by: A <a@b>",
	"(cherry picked from commit 123)", "  continued", "\ttab", "prose, at some length", "Conflicts:", "\tfile",
	"Conflicts:\n\tfile", "Conflicts:\n\tfile\n\tother\n# a comment",
	"# a comment", "#", "Two words: no", "-: odd", ": none", "Ü: x", "---", "   ", "Key:value",
	"# " + strings.TrimSuffix(scissors, "\n"),
}

// Git finds the trailer that add added after those it found before, and finds a session in a
// message exactly if has does. Messages that git takes for a comment are left out.
func TestTrailersAsGitReadsThem(t *testing.T) {
	r := testrepo.New(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	parse := func(text []byte) []string {
		cmd := exec.CommandContext(t.Context(), "git", "interpret-trailers", "--parse", "--no-divider")
		cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env(), bytes.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	}
	for range 250 {
		var lines []string
		for range rng.IntN(9) {
			lines = append(lines, pieces[rng.IntN(len(pieces))])
		}
		text := strings.Join(lines, "\n")
		if rng.IntN(3) > 0 {
			text += "\n"
		}
		l := layout{text: []byte(text), comment: "#", edited: true}
		before := parse(l.text)
		has := slices.ContainsFunc(before, func(s string) bool { return strings.HasPrefix(strings.ToLower(s), "session:") })
		if l.has(sessionKey) != has {
			t.Fatalf("a session: %v, git says %q, in\n%q", !has, before, text)
		}
		if l.empty() {
			continue
		}
		want := append(slices.DeleteFunc(before, func(s string) bool { return s == "" }), "Session: new")
		got := l.add("Session: new")
		if after := parse(got); !slices.Equal(after, want) {
			t.Fatalf("%q\nbecame %q\nwhere git finds %q, want %q", text, got, after, want)
		}
		if was := filled(l.text, "Session: new"); !slices.Equal(filled(got, "Session: new"), was) {
			t.Fatalf("%q\nbecame %q, which is more than a line added", text, got)
		}
	}
}

// AddSession and Finish may add a line to a message, and lose none.
func FuzzSign(f *testing.F) {
	f.Add([]byte("subject\n"), "", true, "#")
	f.Add([]byte(template+verbose), "message", false, ";")
	f.Fuzz(func(t *testing.T, text []byte, source string, editor bool, comment string) {
		m := Message{Text: text, Source: source, Editor: editor, Comment: comment}
		got := m.AddSession("s-1")
		if bytes.Equal(got, text) {
			return
		}
		if !slices.Equal(filled(got, "s-1"), filled(text, "s-1")) {
			t.Errorf("%q became %q", text, got)
		}
		written := m
		written.Text = got
		if after := written.Finish("s-1"); !slices.Equal(filled(after, "s-1"), filled(text, "s-1")) {
			t.Errorf("%q became %q, and then %q", text, got, after)
		}
		if after := written.Finish("s-2"); !bytes.Equal(after, got) {
			t.Errorf("for another session %q became %q", got, after)
		}
	})
}

// filled lists the lines that are not blank, without those that contain a word.
func filled(text []byte, without string) []string {
	var lines []string
	for line := range bytes.Lines(text) {
		if l := strings.TrimSuffix(string(line), "\n"); l != "" && !strings.Contains(l, without) {
			lines = append(lines, l)
		}
	}
	return lines
}
