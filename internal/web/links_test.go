package web

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"
	"testing"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A link to the editor names the file and the line, whatever the file is called.
func TestEditorLink(t *testing.T) {
	for _, tt := range []struct {
		setting, dir string
		path         repo.Path
		line         int
		want         string
	}{
		{"", "/home/me/shop", "api/cart.go", 12, "vscode://file/home/me/shop/api/cart.go:12"},
		{"", "/home/me/shop", "api/cart.go", 0, "vscode://file/home/me/shop/api/cart.go"},
		{"", "/home/me/shop", "", 0, "vscode://file/home/me/shop"},
		{"", `C:\shop`, "a.go", 3, "vscode://file/C:/shop/a.go:3"},
		{"idea://open?file={path}&line={line}", "/shop", "a b&line=9.go", 4, "idea://open?file=/shop/a%20b%26line%3D9.go&line=4"},
		{"idea://open?file={path}&line={line}", "/shop", "a.go", 0, "idea://open?file=/shop/a.go"},
		{"zed://file/{path}:{line}", "/shop", "x:9.go", 1, "zed://file/shop/x%3A9.go:1"},
		{"cursor://file/{path}:{line}", "/shop", "\"><script>", 1, "cursor://file/shop/%22%3E%3Cscript%3E:1"},
		{"", "/shop", "\xff\n{line}", 1, "vscode://file/shop/%FF%0A%7Bline%7D:1"},
		{"off", "/shop", "a.go", 1, ""},
		{"javascript:alert('{path}')", "/shop", "a.go", 1, ""},
		{"", "", "a.go", 1, ""},
	} {
		f := &pageData{editor: tt.setting, dir: tt.dir}
		if got := f.EditorLink(tt.path, tt.line); string(got) != tt.want {
			t.Errorf("the link of %q to %s:%d is %q, want %q", tt.setting, tt.path, tt.line, got, tt.want)
		}
	}
}

// A setting that makes no link is refused with the command for a right one.
func TestCheckEditor(t *testing.T) {
	for _, good := range []string{"", "off", DefaultEditor, "http://localhost:63342/api/file/{path}:{line}", "x-editor+1.0://{path}"} {
		if err := CheckEditor(good); err != nil {
			t.Errorf("%q is refused: %v", good, err)
		}
	}
	for _, bad := range []string{
		"code", "{path}", "vscode://file/", "JavaScript:alert({path})", "data:text/html,{path}", "vbscript:{path}", "blob:{path}",
		" javascript:{path}", "java\tscript:{path}", "x://{path} y", "x://{path}\"", "x://{path}\n",
	} {
		if err := CheckEditor(bad); fault.KindOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), "git config --global ken.editor") {
			t.Errorf("%q gives %v, want a usage error with a hint", bad, err)
		}
	}
}

// The forge is read from every form of a remote's address, and a password never leaves it.
func TestForgeLink(t *testing.T) {
	const commit = "0123456789012345678901234567890123456789"
	for remote, want := range map[string]string{
		"https://github.com/acme/shop.git":                 "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"https://github.com/acme/shop/":                    "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"git@github.com:acme/shop.git":                     "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"github.com:acme/shop":                             "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"ssh://git@github.com:22/acme/shop.git":            "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"git://github.com/acme/shop.git":                   "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"https://me:secret@github.com/acme/shop.git":       "https://github.com/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"https://ghp_secret@github.acme.example/acme/shop": "https://github.acme.example/acme/shop/blob/COMMIT/api/a%20b.go#L7",
		"git@gitlab.com:acme/web/shop.git":                 "https://gitlab.com/acme/web/shop/-/blob/COMMIT/api/a%20b.go#L7",
		"https://code.acme.example:8443/acme/web/shop.git": "https://code.acme.example:8443/acme/web/shop/-/blob/COMMIT/api/a%20b.go#L7",
		"http://gitea.lan:3000/acme/shop.git":              "http://gitea.lan:3000/acme/shop/src/commit/COMMIT/api/a%20b.go#L7",
		"https://codeberg.org/acme/shop":                   "https://codeberg.org/acme/shop/src/commit/COMMIT/api/a%20b.go#L7",
		"git@bitbucket.org:acme/shop.git":                  "https://bitbucket.org/acme/shop/src/COMMIT/api/a%20b.go#lines-7",
		"https://git.acme.example/scm/acme/shop.git":       "https://git.acme.example/projects/acme/repos/shop/browse/api/a%20b.go?at=COMMIT#7",
		"ssh://git@bitbucket.acme.example:7999/acme/shop":  "https://bitbucket.acme.example/projects/acme/repos/shop/browse/api/a%20b.go?at=COMMIT#7",
		"git@git.sr.ht:~me/shop":                           "https://git.sr.ht/~me/shop/tree/COMMIT/item/api/a%20b.go#L7",
		"https://code.acme.example/acme/shop.git":          "", // two names do not say which forge it is
		"":                                  "",
		"/srv/git/shop.git":                 "",
		"../shop":                           "",
		`C:\git\shop`:                       "",
		"file:///srv/git/shop.git":          "",
		"https://github.com":                "",
		"https://github.com/../x":           "",
		"javascript://github.com/a/b":       "",
		"ext::sh -c 'x' github.com/a/b":     "",
		"https://github.com\"><script>/a/b": "",
	} {
		got := forgeAddress(remote, commit, "api/a b.go", 7)
		if got = strings.ReplaceAll(got, commit, "COMMIT"); got != want {
			t.Errorf("%s leads to %q, want %q", remote, got, want)
		}
		if strings.Contains(got, "secret") {
			t.Errorf("%s leads to %s, which has the password", remote, got)
		}
	}
	if got := forgeAddress("https://github.com/acme/shop", commit, "", 0); got != "https://github.com/acme/shop/tree/"+commit {
		t.Errorf("the root leads to %s", got)
	}
}

// Links of hostile remotes and paths stay addresses with http or https, in attributes
// too.
func FuzzForgeLink(f *testing.F) {
	f.Add("https://github.com/acme/shop.git", "a.go", 1)
	f.Add("git@x:a\"b/c", "<script>", 0)
	page := template.Must(template.New("").Parse(`<a href="{{.}}">x</a>`))
	f.Fuzz(func(t *testing.T, remote, path string, line int) {
		got := forgeAddress(remote, "abcdef", repo.Path(path), line)
		if got == "" {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			t.Fatalf("%q and %q lead to %q: %v", remote, path, got, err)
		}
		var b bytes.Buffer
		if err := page.Execute(&b, template.URL(got)); err != nil {
			t.Fatal(err)
		}
		if strings.Count(b.String(), `"`) != 2 || strings.Count(b.String(), "<") != 2 {
			t.Fatalf("%q and %q escape from the attribute: %s", remote, path, b.String())
		}
	})
}
