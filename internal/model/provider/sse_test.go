package provider

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"ken/internal/model"
)

type event struct{ Name, Data string }

func readEvents(r io.Reader) ([]event, error) {
	var out []event
	for e := newEvents(r); ; {
		name, data, err := e.next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, event{name, string(data)})
	}
}

func TestEvents(t *testing.T) {
	for in, want := range map[string][]event{
		"":                             nil,
		"data: a\n\n":                  {{"", "a"}},
		"data:a\r\rdata:  b\r\r":       {{"", "a"}, {"", " b"}},
		"event: x\r\ndata: a\r\n\r\n":  {{"x", "a"}},
		"data: a\ndata\ndata: b\n\n":   {{"", "a\n\nb"}},
		"event: x\n\ndata: a\n\n":      {{"", "a"}}, // a name without data is dropped
		":\n: data: a\n\n\n\n":         nil,
		"data: a":                      nil, // unfinished
		"data: a\n":                    nil,
		"data: a: b\n\n":               {{"", "a: b"}},
		"\xef\xbb\xbfdata: a\n\n":      {{"", "a"}},
		"data: \xef\xbb\xbf\n\n":       {{"", "\xef\xbb\xbf"}},
		"data\n\n":                     {{"", ""}},
		"id: 1\nretry: 2\ndata: a\n\n": {{"", "a"}},
	} {
		got, err := readEvents(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("events of %q (-want +got):\n%s", in, d)
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	for _, in := range []string{
		"data: " + strings.Repeat("x", maxLine+1),
		strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxLine/1000+1),
	} {
		if _, err := readEvents(strings.NewReader(in)); !errors.Is(err, errLine) {
			t.Errorf("readEvents(%.20q) returned the error %v; want %v", in, err, errLine)
		}
	}
}

// The pieces in which a stream arrives, and its line ends, make no difference.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: a\ndata: b\n\n: c\n\ndata: d\ndata: e\n\n"))
	f.Add([]byte("data: x\r\n\r\ndata: y\r\rdata: z\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		want, wantErr := readEvents(bytes.NewReader(in))
		got, err := readEvents(iotest.OneByteReader(bytes.NewReader(in)))
		if d := cmp.Diff(want, got); d != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("reading byte by byte gave the error %v, at once %v (-at once +by byte):\n%s", err, wantErr, d)
		}
		if bytes.ContainsRune(in, '\r') {
			return
		}
		got, err = readEvents(bytes.NewReader(bytes.ReplaceAll(in, []byte("\n"), []byte("\r\n"))))
		if d := cmp.Diff(want, got); d != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("reading with CRLF gave the error %v, with LF %v (-LF +CRLF):\n%s", err, wantErr, d)
		}
	})
}

// Any stream is an answer or a failure, and an answer can be sent back.
func FuzzReadings(f *testing.F) {
	f.Add([]byte("data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":-5}}}\n\n" +
		"data: {\"type\":\"content_block_start\",\"index\":-1,\"content_block\":{\"type\":\"tool_use\",\"input\":7}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n" +
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":-3,\"id\":\"x\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":-1}}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9000000000000000000,\"cache_read_input_tokens\":9000000000000000000}}}\n\n"))
	f.Add([]byte("data: {\"error\":\"x\"}\n\ndata: {\"type\":\"error\",\"error\":{\"code\":1}}\n\n"))
	wires := []wire{newAnthropic("m", endpoint{}), newOpenAI("m", endpoint{})}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, w := range wires {
			heard := ""
			r := w.listen(nil, func(s string) { heard += s })
			events := newEvents(bytes.NewReader(in))
			var failed *failure
			for done := false; !done && failed == nil; {
				name, data, err := events.next()
				if err != nil {
					break
				}
				done, failed = r.event(name, data)
			}
			a, complete := r.answer()
			if a.Usage.Input < 0 || a.Usage.Output < 0 || a.Usage.Cached > a.Usage.Input {
				t.Errorf("%T: usage %+v", w, a.Usage)
			}
			if failed != nil || !complete {
				continue
			}
			if a.Stop != model.Refusal && a.Text != heard {
				t.Errorf("%T: text %q, heard %q", w, a.Text, heard)
			}
			if _, err := w.body(model.Request{Messages: []model.Message{model.Ask("x"), a.Message()}}); err != nil {
				t.Errorf("%T: cannot be sent back: %v", w, err)
			}
		}
	})
}
