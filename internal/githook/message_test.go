package githook

import (
	"strings"
	"testing"
)

const template = "\n# Please enter the commit message for your changes.\n# On branch main\n#\n"

const verbose = "# ------------------------ >8 ------------------------\n" +
	"# Do not modify or remove the line above.\n# Everything below it will be ignored.\ndiff --git a/a b/a\n+Session: no\n"

func TestSign(t *testing.T) {
	const note = "# ken will add: Session: s-1\n"
	tests := []struct {
		name string
		m    Message
		want string // "" when it stays as it is
	}{
		{"a subject", Message{Text: []byte("subject\n"), Source: "message"}, "subject\n\nSession: s-1\n"},
		{"no line end", Message{Text: []byte("subject"), Source: "message"}, "subject\n\nSession: s-1\n"},
		{"a body", Message{Text: []byte("subject\n\nbody\n"), Source: "message"}, "subject\n\nbody\n\nSession: s-1\n"},
		{"joins a block", Message{Text: []byte("subject\n\nbody\n\nReviewed-by: x\n"), Source: "message"}, "subject\n\nbody\n\nReviewed-by: x\nSession: s-1\n"},
		{"joins a block with a continued line", Message{Text: []byte("subject\n\nNote: x\n  more\n"), Source: "message"}, "subject\n\nNote: x\n  more\nSession: s-1\n"},
		{"a title is no block", Message{Text: []byte("fix: it\n"), Source: "message"}, "fix: it\n\nSession: s-1\n"},
		{"has one", Message{Text: []byte("subject\n\nsession: other\n"), Source: "message"}, ""},
		{"has one before others", Message{Text: []byte("subject\n\nSession: other\nReviewed-by: x\n"), Source: "message"}, ""},
		{"prose that looks like one", Message{Text: []byte("subject\n\nSession: went well,\nand this is prose\n"), Source: "message"}, "subject\n\nSession: went well,\nand this is prose\n\nSession: s-1\n"},
		{"one in the middle is prose", Message{Text: []byte("subject\n\nSession: x\n\nmore\n"), Source: "message"}, "subject\n\nSession: x\n\nmore\n\nSession: s-1\n"},
		{"a number sign starts a subject without an editor", Message{Text: []byte("#12 fix\n"), Source: "message"}, "#12 fix\n\nSession: s-1\n"},
		{"empty", Message{Text: []byte("\n"), Source: "message"}, ""},
		{"nothing", Message{Source: "message"}, ""},
		{"amended", Message{Text: []byte("subject\n"), Source: "commit"}, ""},
		{"replayed", Message{Text: []byte("subject\n"), Source: "message", Replay: true}, ""},
		{"a merge with conflicts", Message{Text: []byte("Merge branch 'x'\n\n# Conflicts:\n#\ta\n"), Source: "merge"}, "Merge branch 'x'\n\nSession: s-1\n\n# Conflicts:\n#\ta\n"},
		{"a merge that will be edited", Message{Text: []byte("Merge branch 'x'\n" + template), Source: "merge", Editor: true}, "Merge branch 'x'\n\nSession: s-1\n" + template},
		{"other comments", Message{Text: []byte("Merge\n\n; x\n"), Source: "merge", Editor: true, Comment: ";"}, "Merge\n\nSession: s-1\n\n; x\n"},
		{"long comments", Message{Text: []byte("Merge\n\n// x\n"), Source: "merge", Editor: true, Comment: "//"}, "Merge\n\nSession: s-1\n\n// x\n"},
		{"above what is cut off", Message{Text: []byte("subject\n" + template + verbose), Source: "message", Editor: true}, "subject\n\nSession: s-1\n" + template + verbose},
		{"yet to be written", Message{Text: []byte(template), Editor: true}, "\n" + note + template[1:]},
		{"yet to be written, verbose", Message{Text: []byte(template + verbose), Editor: true}, "\n" + note + template[1:] + verbose},
		{
			"yet to be written, scissors only",
			Message{Text: []byte("\n" + verbose), Editor: true},
			"\n" + strings.Replace(verbose, "diff", note+"diff", 1),
		},
		{"yet to be written, no comments", Message{Editor: true}, note},
		{"a template", Message{Text: []byte("[ticket]\n" + template), Source: "template", Editor: true}, "[ticket]\n\n# ken will add unless this is still 9b1cc3f9: Session: s-1\n" + template[1:]},
		{"a template with a session", Message{Text: []byte("[ticket]\n\nSession: other\n" + template), Source: "template", Editor: true}, ""},
		{"noted already", Message{Text: []byte(note), Editor: true}, ""},
		{"somebody else's note", Message{Text: []byte("\n# ken will add: Session: s-2\n"), Editor: true}, "\n" + note + "# ken will add: Session: s-2\n"},
		{"a comment in two words", Message{Text: []byte("\nrem # x\n"), Editor: true, Comment: "rem #"}, "\nrem # ken will add: Session: s-1\nrem # x\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = string(tt.m.Text)
			}
			got := tt.m.AddSession("s-1")
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			again := tt.m
			again.Text = got
			if twice := again.AddSession("s-1"); string(twice) != string(got) {
				t.Errorf("signed again it is\n%s", twice)
			}
			if none := tt.m.AddSession(""); string(none) != string(tt.m.Text) {
				t.Errorf("without a session it became\n%s", none)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	note := func(text string) string {
		return string(Message{Text: []byte(text), Editor: true}.AddSession("s-1"))
	}
	written := strings.Replace(note(template+verbose), "\n", "subject\n\nbody\n", 1)
	tests := []struct {
		name, text string
		m          Message // the rest of it
		want       string  // "" when it stays as it is
	}{
		{"written", written, Message{}, "subject\n\nbody\n\nSession: s-1\n" + template[1:] + verbose},
		{"still empty", note(template), Message{}, template},
		{"still empty, verbose", note(template + verbose), Message{}, template + verbose},
		{"a template as it was", note("[ticket]\n" + template), Message{}, "[ticket]\n" + template},
		{"a template filled in", strings.Replace(note("[ticket]\n"+template), "ticket", "12", 1), Message{}, "[12]\n\nSession: s-1\n" + template},
		{"the note taken out", "subject\n" + template, Message{}, ""},
		{"a session written by hand", "subject\n\nSession: mine\n" + note(template), Message{}, "subject\n\nSession: mine\n" + template},
		{"white space behind it", "subject\n# ken will add: Session: s-1 \r\n", Message{}, "subject\n\nSession: s-1\n"},
		{"other comments", "subject\n; ken will add: Session: s-1\n; x\n", Message{Comment: ";"}, "subject\n\nSession: s-1\n; x\n"},
		{"a comment in two words", "subject\nrem # ken will add: Session: s-1\n", Message{Comment: "rem #"}, "subject\n\nSession: s-1\n"},
		{"comments begin otherwise", "subject\n; ken will add: Session: s-1\n; x\n", Message{}, ""},
		{"prose that quotes it", "subject\n\nthe line # ken will add: Session: s-1\n", Message{}, ""},
		{"prose that begins with it", "subject\n\nthen ken will add: Session: s-1\n", Message{}, ""},
		{"of another session", "subject\n# ken will add: Session: victim\n", Message{}, ""},
		{"of a session with a longer name", "subject\n# ken will add: Session: s-12\n", Message{}, ""},
		{"behind that of another", "subject\n# ken will add: Session: s-12\n" + note(""), Message{}, "subject\n\nSession: s-1\n# ken will add: Session: s-12\n"},
		{"given, not written", "subject\n# ken will add: Session: s-1\n", Message{Source: "given"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := tt.m
			m.Text, m.Editor = []byte(tt.text), m.Source != "given"
			if tt.want == "" {
				tt.want = tt.text
			}
			if got := m.Finish("s-1"); string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if got := m.Finish(""); string(got) != tt.text {
				t.Errorf("without a session it became\n%s", got)
			}
		})
	}
}

func TestComment(t *testing.T) {
	for _, tt := range []struct{ setting, text, want string }{
		{"", "x\n", "#"},
		{";", "x\n# y\n", ";"},
		{"//", "x\n", "//"},
		{"auto", "# x\n\n; on branch\n;\n", ";"},
		{"auto", "# x\n\n; on branch\n; " + scissors + "diff\n", ";"},
		{"auto", "x\n", "#"},
		{"auto", "", "#"},
	} {
		if got := Comment(tt.setting, []byte(tt.text)); got != tt.want {
			t.Errorf("Comment(%q, %q) = %q, want %q", tt.setting, tt.text, got, tt.want)
		}
	}
}
