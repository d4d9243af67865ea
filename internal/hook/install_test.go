package hook

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sh(text string) File { return File{Kind: Regular, Content: []byte(text), Exec: true} }

func TestInstall(t *testing.T) {
	part := block{hook: "pre-commit"}.text()
	own := string(block{hook: "pre-commit", own: true}.file())
	chained := string(block{hook: "pre-commit", own: true, chain: true}.file())
	tests := []struct {
		name    string
		at      File
		aside   File
		sourced bool
		deed    Deed
		want    string
	}{
		{name: "none", deed: Create, want: own},
		{name: "none, one aside", aside: sh("x"), deed: Create, want: chained},
		{name: "a script", at: sh("#!/bin/sh\nexit 1\n"), deed: Rewrite, want: "#!/bin/sh\n" + part + "\nexit 1\n"},
		{name: "no line end", at: sh("#!/bin/sh\nexit 1"), deed: Rewrite, want: "#!/bin/sh\n" + part + "\nexit 1"},
		{name: "one line without end", at: sh("#!/bin/sh"), deed: Rewrite, want: "#!/bin/sh\n" + part},
		{name: "no first line", at: sh("npm test\n"), deed: Rewrite, want: part + "\nnpm test\n"},
		{name: "empty", at: sh(""), deed: Rewrite, want: part + "\n"},
		{name: "Windows line ends", at: sh("#!/bin/sh\r\nx\r\n"), deed: Rewrite, want: "#!/bin/sh\r\n" + part + "\nx\r\n"},
		{name: "env bash", at: sh("#!/usr/bin/env -S bash -e\nx\n"), deed: Rewrite, want: "#!/usr/bin/env -S bash -e\n" + part + "\nx\n"},
		{name: "python", at: sh("#!/usr/bin/env python3\nx\n"), deed: SetAside, want: chained},
		{name: "fish", at: sh("#!/usr/bin/fish\nx\n"), deed: SetAside, want: chained},
		{name: "a program", at: sh("\x7fELF\x00"), deed: SetAside, want: chained},
		{name: "a script with a payload", at: sh("#!/bin/sh\ntail -n +3 $0\n\x00"), deed: SetAside, want: chained},
		{name: "a script in two languages", at: sh("#!/bin/sh\n''':'\nexec python3 \"$0\" \"$@\"\n'''\n"), deed: SetAside, want: chained},
		{name: "a link", at: File{Kind: Link}, deed: SetAside, want: chained},
		{name: "switched off", at: File{Kind: Regular, Content: []byte("#!/bin/sh\nx\n")}, deed: SetAside, want: chained},
		{name: "switched off, and read by a shell", at: File{Kind: Regular, Content: []byte("x\n")}, sourced: true, deed: Rewrite, want: part + "\nx\n"},
		{name: "installed", at: sh(own), deed: Nothing},
		{name: "installed in a script", at: sh("#!/bin/sh\n" + part + "\nexit 1\n"), deed: Nothing},
		{name: "installed before a hook", at: sh(chained), aside: File{Kind: Link}, deed: Nothing},
		{name: "an older part", at: sh("#!/bin/sh\n" + blockStart + "old\n" + blockEnd + "\nexit 1\n"), deed: Rewrite, want: "#!/bin/sh\n" + part + "\nexit 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Place{Name: "pre-commit", At: tt.at, Aside: tt.aside, Sourced: tt.sourced}.Install()
			if err != nil {
				t.Fatal(err)
			}
			if c.Deed != tt.deed || string(c.Content) != tt.want {
				t.Errorf("deed %d, %s:\n%s\nwant %d:\n%s", c.Deed, c.Action, c.Content, tt.deed, tt.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for name, p := range map[string]Place{
		"a directory":          {At: File{Kind: Strange}},
		"a mark alone":         {At: sh("#!/bin/sh\n" + blockStart)},
		"marks the other way":  {At: sh(blockEnd + "\n" + blockStart)},
		"two parts":            {At: sh(strings.Repeat(blockStart+blockEnd+"\n", 2))},
		"a link for a shell":   {At: File{Kind: Link}, Sourced: true},
		"two hooks to put by":  {At: File{Kind: Link}, Aside: sh("x")},
		"two hooks, binary":    {At: sh("\x00"), Aside: File{Kind: Strange}},
		"two hooks, installed": {At: File{Kind: Regular, Content: []byte("off")}, Aside: File{Kind: Link}},
	} {
		p.Name = "pre-commit"
		if c, err := p.Install(); err == nil {
			t.Errorf("%s: %s", name, c.Action)
		}
	}
	edited := sh(string(block{hook: "pre-commit", own: true, chain: true}.file()) + "echo mine\n")
	if c, err := (Place{Name: "pre-commit", At: edited, Aside: File{Kind: Link}}).Uninstall(); err == nil {
		t.Errorf("a hook with lines of somebody else's: %s", c.Action)
	}
}

// do does to a place what a change says, as whoever writes files would.
func do(p Place, c Change) Place {
	switch c.Deed {
	case Nothing:
	case Create:
		p.At = sh(string(c.Content))
	case Rewrite:
		p.At.Content = c.Content
	case SetAside:
		p.Aside, p.At = p.At, sh(string(c.Content))
	case Remove:
		p.At = File{}
	case Restore:
		p.At, p.Aside = p.Aside, File{}
	}
	return p
}

func anyHook(t *rapid.T) File {
	switch rapid.SampledFrom([]Kind{Absent, Regular, Regular, Regular, Regular, Link}).Draw(t, "kind") {
	case Absent:
		return File{}
	case Link:
		return File{Kind: Link, Exec: rapid.Bool().Draw(t, "exec")}
	default:
	}
	first := rapid.SampledFrom([]string{"", "#!", "#!/bin/sh", "#!/bin/sh\n", "#!/usr/bin/env bash\r\n", "#!/usr/bin/python3\n", "\x7fELF\x00"})
	piece := rapid.SampledFrom([]string{
		"exit 1", "exec x", "\n", "\r\n", "# >>> ken", "# <<< ken <<<x\n", " # >>> ken >>>\n", "$0" + Aside, "\x00", "\n\n", "npm test\n",
		ownLine, chainLine, shebang,
	})
	text := first.Draw(t, "first") + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
	if rapid.Bool().Draw(t, "bytes") {
		text += string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "tail"))
	}
	return File{Kind: Regular, Content: []byte(text), Exec: rapid.IntRange(0, 3).Draw(t, "exec") > 0}
}

func same(a, b File) bool {
	return a.Kind == b.Kind && a.Exec == b.Exec && bytes.Equal(a.Content, b.Content)
}

// Taking ken's part out leaves what was there before it was put in, and putting it in
// twice is putting it in once.
func TestUninstallUndoesInstall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := Place{Name: rapid.SampledFrom(Names).Draw(t, "name"), At: anyHook(t)}
		was.Sourced = was.At.Kind != Link && rapid.Bool().Draw(t, "sourced")
		c, err := was.Install()
		if err != nil {
			t.Fatal(err)
		}
		is := do(was, c)
		if f, err := find(is.At.Content); err != nil || f == nil {
			t.Fatalf("after %s: %v, %v", c.Action, f, err)
		}
		again, err := is.Install()
		if err != nil || again.Deed != Nothing {
			t.Fatalf("a second time: %s, %v", again.Action, err)
		}
		back, err := is.Uninstall()
		if err != nil {
			t.Fatal(err)
		}
		got := do(is, back)
		if !same(got.At, was.At) || !same(got.Aside, was.Aside) {
			t.Fatalf("%s, then %s:\n%q became\n%q and\n%q", c.Action, back.Action, was.At.Content, is.At.Content, got.At.Content)
		}
		if none, err := got.Uninstall(); err != nil || none.Deed != Nothing {
			t.Fatalf("a second time: %s, %v", none.Action, err)
		}
	})
}
