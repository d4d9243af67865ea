package find

import (
	"fmt"
	"strings"
	"testing"

	"ken/internal/repo"
)

const sessions = `"""Sessions that are stored in cookies."""
from itsdangerous import sign_session


class CookieSessions(Sessions):
    """Stores sessions in signed cookies.

    The session cookie is signed with the key."""

    #: signing of cookie based sessions.
    salt = "cookie-session"
    other = 1
    query = """
        select
    """

    def signer(self, app):
        return Signer(app.secret_key)

    def open(self, app, request):
        value = request.cookies.get(self.name)
        if not value:
            return None
        age = app.lifetime
        return value, age

    def save(self, app, session, response):
        """Saves the session in a cookie that is signed."""
        domain = self.domain(app)
        name = self.name
        value = self.signer(app).dumps(dict(session))
        response.set(name, value, domain)
`

// The best lines are lines of code with the words, in themselves or in the name of the symbol around them. A comment, a
// docstring or an import says the same, but does nothing.
func TestSearchShowsTheBestLines(t *testing.T) {
	tree, x := &memoryTree{files: map[repo.Path]string{
		"app/sessions.py": sessions,
		"app/other.py":    "def session():\n    pass\n",
		"app/third.py":    "def cookie():\n    pass\n",
		"app/limits.go": "package app\n\n// Expire removes what garbage collection left.\nfunc Expire() {\n\tdrop(garbage)\n" +
			strings.Repeat("\tnext()\n", nearby) + "\tcollect(garbage)\n}\n",
		"notes.md": "# Sign\n\nThe quarterly report.\n",
	}}, newIndex(t)
	update(t, x, tree)
	tests := []struct {
		words string
		want  string // the first line, then the others
	}{
		{"where is the session cookie signed", "value = self.signer(app).dumps(dict(session)) | def signer(self, app):"},
		{"CookieSessions", "class CookieSessions(Sessions):"},
		{"garbage collection", "func Expire() { | collect(garbage)"},
		{"quarterly", "The quarterly report."},
	}
	for _, tt := range tests {
		a := search(t, x, tree, tt.words)
		if len(a.Places) == 0 {
			t.Errorf("%q: expected a place, found none", tt.words)
			continue
		}
		p := a.Places[0]
		var texts []string
		for _, l := range p.Lines {
			texts = append(texts, l.Text)
			if line := strings.Split(tree.files[p.Path], "\n")[l.Line-1]; strings.TrimSpace(line) != l.Text {
				t.Errorf("%q: line %d is %q, expected %q", tt.words, l.Line, line, l.Text)
			}
		}
		got := strings.Join(texts, " | ")
		if !strings.HasPrefix(got, tt.want) || p.Line != p.Lines[0].Line {
			t.Errorf("%q: expected the lines %s, found %s, first line %d", tt.words, tt.want, got, p.Line)
		}
	}
}

// The reasons say which words of the query the path, the names and the text have.
func TestReasonsNameTheWords(t *testing.T) {
	tree, x := shop(), newIndex(t)
	update(t, x, tree)
	for words, want := range map[string]string{
		"limits tenant rate":    "path: limits; text: tenant, rate; 1 commit mentions it",
		"withLimits middleware": "path: middleware; names: limits, withlimits",
		"server middleware":     "path: server, middleware",
	} {
		if got := strings.Join(search(t, x, tree, words).Places[0].Why, "; "); got != want {
			t.Errorf("%q: expected the reasons %q, found %q", words, want, got)
		}
	}
}

// The only source file with a word is among the first three, in front of better files without that word. Tests and
// documents with it are not moved.
func TestSearchRaisesFilesWithARareWord(t *testing.T) {
	tree, x := &memoryTree{files: map[repo.Path]string{
		"signal.go":      "package p\n\nfunc notify() {\n\twatch(SIGHUP)\n}\n" + strings.Repeat("// filler\n", 400),
		"signal_test.go": "package p\n\nfunc TestNotify() {\n\twatch(SIGHUP)\n}\n" + strings.Repeat("// filler\n", 400),
	}}, newIndex(t)
	for i := range 40 {
		tree.files[repo.Path(fmt.Sprintf("other/o%d.go", i))] = "package other\n\nfunc other() {}\n"
	}
	for i := range 4 {
		p := repo.Path(fmt.Sprintf("reload/configuration%d.go", i))
		tree.files[p] = fmt.Sprintf("package reload\n\n// Reload reloads the configuration.\nfunc ReloadConfiguration%d() {}\n", i)
		for k := range 4 - i {
			tree.commit(fmt.Sprintf("reload configuration %d %d", i, k), p)
		}
	}
	update(t, x, tree)
	a := search(t, x, tree, "reload the configuration when SIGHUP arrives")
	at := -1
	for i, p := range a.Places {
		if p.Path == "signal.go" {
			at = i
		}
		if i > 0 && p.Score > a.Places[i-1].Score {
			t.Errorf("expected falling scores, place %d has %v after %v", i, p.Score, a.Places[i-1].Score)
		}
	}
	if at != 2 || a.Places[0].Path == "signal_test.go" || a.Places[1].Path == "signal_test.go" {
		t.Errorf("expected signal.go third, behind files of the configuration, found:\n%s", a)
	}
}

// Files with the same content are one place, and so are vendored files with the same name.
func TestSearchListsCopiesOnce(t *testing.T) {
	const text = "package p\n\n// Lantern is a light.\ntype Lantern struct{}\n"
	tree, x := &memoryTree{files: map[repo.Path]string{
		"a/lantern.go": text, "b/lantern.go": text, "c/renamed.go": text, "d/lantern.go": text + "\n// Another.\n",
		"vendor/x/lantern.go": text + "// x\n", "vendor/y/lantern.go": text + "// y\n", "vendor/y/lamp.go": text + "// lamp\n",
	}}, newIndex(t)
	update(t, x, tree)
	a := search(t, x, tree, "lantern light")
	got := make(map[repo.Path]int)
	for _, p := range a.Places {
		got[p.Path] = p.Copies
	}
	want := map[repo.Path]int{"a/lantern.go": 2, "d/lantern.go": 0, "vendor/x/lantern.go": 1, "vendor/y/lamp.go": 0}
	if fmt.Sprint(got) != fmt.Sprint(want) || !strings.Contains(a.String(), "; +2 copies\n") {
		t.Errorf("expected the places and copies %v, found %v:\n%s", want, got, a)
	}
}
