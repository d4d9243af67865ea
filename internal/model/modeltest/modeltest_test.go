package modeltest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"ken/internal/model"
	"ken/internal/model/modeltest"
)

// The server rejects the requests that the real APIs reject.
func TestStrict(t *testing.T) {
	const (
		anthropic = "/v1/messages"
		openai    = "/v1/chat/completions"
		use       = `{"type":"tool_use","id":"a","name":"f","input":{}}`
		ask       = `{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`
		say       = `{"role":"user","content":"x"}`
		call      = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	)
	messages := func(list ...string) string {
		return `{"model":"m","max_tokens":1,"stream":true,"messages":[` + strings.Join(list, ",") + `]}`
	}
	chat := func(list ...string) string {
		return `{"model":"m","max_tokens":1,"stream":true,"stream_options":{"include_usage":true},"messages":[` + strings.Join(list, ",") + `]}`
	}
	assistant := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	result := func(id string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `"}]}`
	}
	srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Thinking: "hm", Calls: []model.Call{{ID: "thought", Name: "f"}}}))
	for _, tt := range []struct {
		name, path, key, body string
		want                  int
	}{
		{"fine", anthropic, modeltest.Key, messages(ask), 200},
		{"fine with calls", anthropic, modeltest.Key, messages(ask, assistant(use), result("a")), 200},
		{"no key", anthropic, "", messages(ask), 401},
		{"nothing said", anthropic, modeltest.Key, messages(), 400},
		{"a field that does not exist", anthropic, modeltest.Key, `{"mdoel":"m"}`, 400},
		{"an empty text", anthropic, modeltest.Key, messages(strings.Replace(ask, `"x"`, `""`, 1)), 400},
		{"an empty message", anthropic, modeltest.Key, messages(ask, assistant("")), 400},
		{"a call left open", anthropic, modeltest.Key, messages(ask, assistant(use), ask), 400},
		{"the last call left open", anthropic, modeltest.Key, messages(ask, assistant(use)), 400},
		{"a result of no call", anthropic, modeltest.Key, messages(ask, assistant(use), result("b")), 400},
		{"forged thinking", anthropic, modeltest.Key, messages(ask, assistant(`{"type":"thinking","thinking":"x","signature":"y"}`), ask), 400},
		{"forgotten thinking", anthropic, modeltest.Key, messages(ask, assistant(strings.Replace(use, `"a"`, `"thought"`, 1)), result("thought")), 400},
		{"too many marks", anthropic, modeltest.Key, messages(ask, ask, ask, ask, ask), 400},
		{"fine", openai, modeltest.Key, chat(say), 200},
		{"fine with calls", openai, modeltest.Key, chat(say, call, `{"role":"tool","tool_call_id":"a","content":"x"}`), 200},
		{"no key", openai, "", chat(say), 401},
		{"no counting", openai, modeltest.Key, messages(say), 400},
		{"a call left open", openai, modeltest.Key, chat(say, call, say), 400},
		{"arguments that are not JSON", openai, modeltest.Key, chat(say, strings.Replace(call, `"{}"`, `"{"`, 1), `{"role":"tool","tool_call_id":"a"}`), 400},
		{"no such place", "/v1/complete", modeltest.Key, chat(say), 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+tt.path, bytes.NewBufferString(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("X-Api-Key", tt.key)
		r.Header.Set("Authorization", "Bearer "+tt.key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tt.want {
			t.Errorf("%s %s: the server answered %d %.300s, %v; want %d", tt.path, tt.name, resp.StatusCode, b, err, tt.want)
		}
	}
	turns := srv.Turns()
	if len(turns) != 4 || turns[0].Asked() != "x" || turns[1].Results()[0].ID != "a" || turns[3].API != "openai" {
		t.Errorf("the server recorded the turns %+v; want the 4 valid ones", turns)
	}
}
