package describe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/repo"
)

// A scriptedModel gives one reply after the other in a conversation, and repeats the last one. It records the requests.
type scriptedModel struct {
	replies []model.Reply
	asked   []model.Request
}

func (*scriptedModel) Name() string       { return "test/model" }
func (*scriptedModel) Price() model.Price { return model.Price{} }

func (o *scriptedModel) Turn(_ context.Context, req model.Request, _ model.Listener) (model.Reply, error) {
	o.asked = append(o.asked, req)
	reply := o.replies[min(len(req.Messages)/2, len(o.replies)-1)]
	reply.Usage = model.Usage{Requests: 1, Input: 100, Output: 10}
	return reply, nil
}

// A linkAndLargeFile is a tree whose file src/link is a symbolic link, and src/big.sql a very large file.
type linkAndLargeFile struct{ directoryTree }

func (l linkAndLargeFile) Files(ctx context.Context) ([]repo.File, error) {
	list, err := l.directoryTree.Files(ctx)
	for i := range list {
		switch list[i].Path {
		case "src/link":
			list[i].Kind = repo.KindSymlink
		case "src/big.sql":
			list[i].Size = 2 << 30
		}
	}
	return list, err
}

// Write handles all kinds of answers of a model.
func TestModelAnswers(t *testing.T) {
	good := modeltest.SubmitReply("good words")
	for _, tt := range []struct {
		name    string
		replies []model.Reply
		text    string // the text of the draft
		reason  string // part of the error
		turns   int
	}{
		{"at once", []model.Reply{good}, "good words", "", 1},
		{"nonsense", []model.Reply{{Text: "I am a teapot"}}, "", "submitted no text within 3 turns", 3},
		{"nothing at all", []model.Reply{{}}, "", "submitted no text", 3},
		{"looking forever", []model.Reply{modeltest.CallReply("list_directory", map[string]any{"path": "."})}, "", "within 12 turns", 12},
		{"reminded", []model.Reply{{Text: "Let me see"}, good}, "good words", "", 2},
		{"refusing", []model.Reply{{Stop: model.Refusal}}, "", "refuses", 1},
		{"too long", []model.Reply{modeltest.SubmitReply(strings.Repeat("long ", 10_000)), good}, "good words", "", 2},
		{"too long forever", []model.Reply{modeltest.SubmitReply(strings.Repeat("long ", 10_000))}, "", "the limit is 4096", 12},
		{"control characters", []model.Reply{modeltest.SubmitReply("red \x1b[31malert"), good}, "good words", "", 2},
		{"turned direction", []model.Reply{modeltest.SubmitReply("safe \u202egnihton"), good}, "good words", "", 2},
		{"empty text", []model.Reply{modeltest.SubmitReply(" \n"), good}, "good words", "", 2},
		{"another language", []model.Reply{modeltest.SubmitReply("Это пакет для заказов.\r\n注文を扱う。")}, "Это пакет для заказов.\n注文を扱う。", "", 1},
		{"keep without a text", []model.Reply{modeltest.SubmitReply("keep"), good}, "good words", "", 2},
		{"another directory", []model.Reply{modeltest.CallReply("submit", map[string]any{"path": "src/other", "summary": "about the other"}), good}, "good words", "", 2},
		{"the directory by name", []model.Reply{modeltest.CallReply("submit", map[string]any{"path": "./src/", "summary": "words"})}, "words", "", 1},
		{"no such tool", []model.Reply{modeltest.CallReply("shell", map[string]any{"command": "rm -rf /"}), good}, "good words", "", 2},
		{"arguments of another type", []model.Reply{modeltest.CallReply("submit", map[string]any{"summary": 7}), good}, "good words", "", 2},
		{"broken arguments", []model.Reply{{Calls: []model.Call{{ID: "1", Name: "submit", Args: []byte("{}"), Err: errors.New("not JSON")}}}, good}, "good words", "", 2},
		{"twice at once", []model.Reply{{Calls: append(good.Calls, modeltest.SubmitReply("other words").Calls...)}}, "good words", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := directoryTree{"src/a.go": "content of src/a.go"}
			o := &scriptedModel{replies: tt.replies}
			it := &Item{Path: "src"}
			d, err := (&ModelWriter{Model: o, Tree: w}).Write(t.Context(), it)
			if d.Text != tt.text {
				t.Errorf("the draft has %q, want %q", d.Text, tt.text)
			}
			if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("the error is %v, want %q", err, tt.reason)
			}
			if n := len(o.asked); n != tt.turns || d.Spent.Usage.Requests != n || d.Spent.Usage.Input != int64(100*n) || d.Spent.Usage.Output != int64(10*n) {
				t.Errorf("%d turns, want %d; spent %+v", n, tt.turns, d.Spent)
			}
		})
	}
}

// A model can read only tracked text files.
func TestToolsReadTrackedTextOnly(t *testing.T) {
	w := linkAndLargeFile{directoryTree{"src/a.go": "content of src/a.go", "src/link": "a.go", "src/big.sql": "content of src/big.sql"}}
	for _, ask := range []model.Reply{
		modeltest.CallReply("read_file", map[string]any{"path": "../../etc/passwd"}),
		modeltest.CallReply("read_file", map[string]any{"path": "/etc/passwd"}),
		modeltest.CallReply("read_file", map[string]any{"path": "src/../../etc/passwd"}),
		modeltest.CallReply("read_file", map[string]any{"path": ".env"}),
		modeltest.CallReply("read_file", map[string]any{"path": "src/link"}),
		modeltest.CallReply("read_file", map[string]any{"path": "src/big.sql"}),
		modeltest.CallReply("read_file", map[string]any{"path": "src"}),
		modeltest.CallReply("read_file", map[string]any{"path": ""}),
		modeltest.CallReply("read_file", map[string]any{"path": "src/a.go", "from_line": 1 << 40}),
		modeltest.CallReply("outline", map[string]any{"path": "../secret"}),
		modeltest.CallReply("list_directory", map[string]any{"path": ".."}),
		modeltest.CallReply("search", map[string]any{"pattern": "("}),
		modeltest.CallReply("flag", map[string]any{"path": "/etc/passwd", "finding": "x", "severity": "info"}),
		modeltest.CallReply("flag", map[string]any{"path": "src/a.go", "finding": "x", "severity": "fatal"}),
	} {
		o := &scriptedModel{replies: []model.Reply{ask, modeltest.SubmitReply("words")}}
		if _, err := (&ModelWriter{Model: o, Tree: w}).Write(t.Context(), &Item{Path: "src"}); err != nil {
			t.Fatal(err)
		}
		last := o.asked[1].Messages[2]
		if len(last.Results) != 1 || !last.Results[0].Failed {
			t.Errorf("arguments %s: results %+v; want one failed result", ask.Calls[0].Args, last.Results)
		}
	}
	o := &scriptedModel{replies: []model.Reply{modeltest.CallReply("read_file", map[string]any{"path": "./src/a.go"}), modeltest.SubmitReply("words")}}
	if _, err := (&ModelWriter{Model: o, Tree: w}).Write(t.Context(), &Item{Path: "src"}); err != nil {
		t.Fatal(err)
	}
	if got := modeltest.LastMessage(o.asked[1]); !strings.Contains(got, "content of src/a.go") {
		t.Errorf("read_file of a tracked file returned %q", got)
	}
}

// The results of all tool calls together have a limit.
func TestToolResultsAreLimited(t *testing.T) {
	w := directoryTree{"src/a.go": strings.Repeat("0123456789\n", 10_000)}
	var manyCalls model.Reply
	for i := range 100 {
		c := modeltest.CallReply("read_file", map[string]any{"path": "src/a.go"}).Calls[0]
		c.ID = fmt.Sprint(i)
		manyCalls.Calls = append(manyCalls.Calls, c)
	}
	o := &scriptedModel{replies: []model.Reply{manyCalls, modeltest.SubmitReply("words")}}
	d, err := (&ModelWriter{Model: o, Tree: w}).Write(t.Context(), &Item{Path: "src"})
	if n := len(modeltest.LastMessage(o.asked[1])); err != nil || d.Text != "words" || n < 256<<10 || n > 320<<10 {
		t.Errorf("the second prompt has %d bytes, the text is %q, %v; want 256 to 320 KiB and the text words", n, d.Text, err)
	}
}

// A model without tools answers once, with text or with JSON.
func TestPlainAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		"Words.":                "Words.",
		`{"summary": "Words."}`: "Words.",
		"```json\n{\"summary\": \"Words.\", \"files\": {\"a.go\": \"A file.\", \"../b.go\": \"no\"}}\n```": "Words.",
		`{"error": "no quota"}`:  "",
		`{"summary": ["Words"]}`: "",
		"{not JSON}":             "{not JSON}",
		"":                       "",
		"a\x07b":                 "",
	} {
		o := &scriptedModel{replies: []model.Reply{{Text: answer}}}
		it := &Item{Path: "src", Files: []ItemFile{{File: &repo.File{Path: "src/a.go"}}}}
		d, err := (&ModelWriter{Model: o, Plain: true}).Write(t.Context(), it)
		if d.Text != want || (err == nil) != (want != "") || d.Spent.Usage.Requests != 1 {
			t.Errorf("the answer %q became the text %q, %v; want %q", answer, d.Text, err, want)
		}
		if strings.Contains(answer, "A file.") && (len(d.Files) != 1 || d.Files["src/a.go"] != "A file.") {
			t.Errorf("the files are %v; want the text about src/a.go", d.Files)
		}
		if req := o.asked[0]; len(req.Tools) != 0 {
			t.Error("the request has tools; want none")
		}
	}
}
