package provider_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/model"
	"ken/internal/model/modeltest"
	"ken/internal/model/provider"
)

var tools = []model.Tool{
	{Name: "read_file", Description: "reads", Schema: args(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	{Name: "list", Description: "lists", Schema: args(`{"type":"object","properties":{}}`)},
}

// A conversation with several calls in a turn, one of them invalid, ends in an answer. The server, which is as
// strict as the real ones, accepts every request.
func TestConversation(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Say(
				modeltest.Answer{Thinking: "what is there?", Text: "let me “see” 🙂", Calls: []model.Call{
					{ID: "c1", Name: "read_file", Args: args(`{"path": "a/b \"c\".go"}`)},
					{ID: "c2", Name: "list"},
					{ID: "c3", Name: "read_file", Args: args(`{"path": "x`)},
					{ID: "c4", Name: "read_file", Args: args(`["x"]`)},
				}},
				modeltest.Answer{Thinking: "hm", Calls: []model.Call{{ID: "c5", Name: "list", Args: args(`{}`)}}},
				modeltest.Answer{Text: "it is\na library"},
			))
			m, _ := open(t, srv, api)
			req := model.Request{System: "be brief", Tools: tools, Messages: []model.Message{model.Ask("what is it?")}, MaxTokens: 500}

			var heard strings.Builder
			hear := model.Listener{Text: func(s string) { heard.WriteString(s) }}
			r, err := m.Turn(t.Context(), req, hear)
			if err != nil {
				t.Fatal(err)
			}
			if want := "let me “see” 🙂"; r.Text != want || heard.String() != want {
				t.Errorf("text %q, heard %q", r.Text, heard.String())
			}
			if r.Stop != model.ToolUse || r.Model != "m-1" || len(r.Calls) != 4 {
				t.Fatalf("Turn returned %+v; want 4 tool calls of m-1", r)
			}
			for i, want := range []struct {
				id, args string
				botched  bool
			}{{"c1", `{"path": "a/b \"c\".go"}`, false}, {"c2", `{}`, false}, {"c3", `{}`, true}, {"c4", `{}`, true}} {
				c := r.Calls[i]
				if c.ID != want.id || string(c.Args) != want.args || (c.Err != nil) != want.botched {
					t.Errorf("call %d is %+v; want %+v", i, c, want)
				}
			}

			results := []model.Result{r.Calls[0].Result("package a"), r.Calls[1].Result(""), r.Calls[2].Fail(r.Calls[2].Err), r.Calls[3].Fail(errors.New("no"))}
			req.Messages = append(req.Messages, r.Message(), model.Answer(results...))
			if r, err = m.Turn(t.Context(), req, model.Listener{}); err != nil {
				t.Fatal(err)
			}
			more := model.Answer(r.Calls[0].Result("a.go"))
			more.Text = "and be quick"
			req.Messages = append(req.Messages, r.Message(), more)
			if r, err = m.Turn(t.Context(), req, model.Listener{}); err != nil {
				t.Fatal(err)
			}
			if r.Text != "it is\na library" || r.Stop != model.End || len(r.Calls) != 0 {
				t.Errorf("Turn returned %+v; want a text and no call", r)
			}

			turns := srv.Turns()
			if len(turns) != 3 {
				t.Fatalf("the server got %d requests; want 3", len(turns))
			}
			got := turns[1].Request
			if got.System != req.System || got.MaxTokens != 500 {
				t.Errorf("the request is %+v; want its system prompt and 500 tokens at most", got)
			}
			if d := cmp.Diff(tools, got.Tools); d != "" {
				t.Errorf("tools in the request (-want +got):\n%s", d)
			}
			if d := cmp.Diff(results, turns[1].Results()); d != "" {
				t.Errorf("results in the request (-want +got):\n%s", d)
			}
		})
	}
}

// One model serves many conversations concurrently.
func TestManyAtOnce(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			srv := modeltest.Start(t, func(turn modeltest.Turn) modeltest.Answer {
				if turn.N%3 == 0 {
					return modeltest.Answer{Status: 529}
				}
				return modeltest.Answer{Text: "about " + turn.Asked()}
			})
			m, _ := open(t, srv, api, func(o *provider.Options) { o.Attempts = 1000 })
			var all sync.WaitGroup
			for i := range 32 {
				all.Go(func() {
					asked := strconv.Itoa(i)
					r, err := m.Turn(t.Context(), model.Request{Messages: []model.Message{model.Ask(asked)}}, model.Listener{})
					if err != nil || r.Text != "about "+asked {
						t.Errorf("the answer to %s is %q, %v; want \"about %[1]s\"", asked, r.Text, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A reply with an unexpected tool call, or without content, is a valid reply.
func TestStopReasons(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			for _, stop := range []model.Stop{model.End, model.ToolUse, model.MaxTokens, model.Refusal} {
				a := modeltest.Answer{Text: "so", Stop: stop}
				if stop == model.MaxTokens {
					a.Calls = []model.Call{{ID: "1", Name: "list", Args: args(`{"a":`)}}
				}
				srv := modeltest.Start(t, modeltest.Say(a))
				m, _ := open(t, srv, api)
				r, err := m.Turn(t.Context(), hello, model.Listener{})
				if err != nil || r.Stop != stop || r.StopName == "" {
					t.Errorf("Turn returned %+v, %v; want the stop reason %v with a name", r, err, stop)
				}
				if stop == model.MaxTokens && (len(r.Calls) != 1 || r.Calls[0].Err == nil) {
					t.Errorf("a call that was cut off passes for a whole one: %+v", r.Calls)
				}
			}
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{}))
			m, _ := open(t, srv, api)
			r, err := m.Turn(t.Context(), hello, model.Listener{})
			if err != nil || r.Text != "" || r.Stop != model.End {
				t.Errorf("Turn returned %+v, %v; want an empty text and a normal end", r, err)
			}
			// The conversation can continue.
			req := hello
			req.Messages = []model.Message{hello.Messages[0], r.Message(), model.Ask("well?")}
			if _, err := m.Turn(t.Context(), req, model.Listener{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The provider counts the tokens, and the price determines the cost.
func TestUsageAndCost(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			u := model.Usage{Input: 1000, Cached: 600, Written: 300, Output: 50}
			if api == "openai" {
				u.Written = 0 // the API does not report it
			}
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Text: "so", Usage: u}))
			m, _ := open(t, srv, api)
			r, err := m.Turn(t.Context(), hello, model.Listener{})
			if err != nil {
				t.Fatal(err)
			}
			want := u
			want.Requests = 1
			if r.Usage != want {
				t.Errorf("usage %+v, want %+v", r.Usage, want)
			}
			usd := (float64(1000-600-u.Written)*10 + 600*1 + float64(u.Written)*12 + 50*100) / 1e6
			if math.Abs(r.Cost.USD-usd) > 1e-12 || !r.Cost.Known() {
				t.Errorf("cost %v, want %v", r.Cost, usd)
			}
		})
	}
}

// The system prompt, the tools and the conversation so far have cache marks, at most four, and later requests
// repeat them unchanged.
func TestAnthropicCaches(t *testing.T) {
	srv := modeltest.Start(t, func(turn modeltest.Turn) modeltest.Answer {
		return modeltest.Answer{Calls: []model.Call{{ID: "c" + string(rune('a'+turn.N)), Name: "list"}}}
	})
	m, _ := open(t, srv, "anthropic")
	req := model.Request{System: "rules", Tools: tools, Messages: []model.Message{model.Ask("go")}}
	for range 5 {
		r, err := m.Turn(t.Context(), req, model.Listener{})
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, r.Message(), model.Answer(r.Calls[0].Result("a")))
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	turns := srv.Turns()
	for i, turn := range turns {
		body := string(turn.Body)
		if !strings.Contains(body, `"text":"rules"`+mark) {
			t.Errorf("turn %d: the rules are not marked", i)
		}
		if n := strings.Count(body, mark); n != min(2+i, 3) {
			t.Errorf("turn %d: %d marks", i, n)
		}
		if !strings.Contains(body[strings.LastIndex(body, `"role":`):], mark) {
			t.Errorf("turn %d: the last message is not marked", i)
		}
		if i > 0 {
			messages := func(b []byte) string {
				var in struct {
					Messages json.RawMessage `json:"messages"`
				}
				if err := json.Unmarshal(b, &in); err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(string(in.Messages), mark, "")
			}
			before := strings.TrimSuffix(messages(turns[i-1].Body), "]")
			if !strings.HasPrefix(messages(turn.Body), before) {
				t.Errorf("turn %d rewrites what the one before has sent", i)
			}
		}
	}
}

// ken understands servers that differ in details.
func TestOpenAIDialects(t *testing.T) {
	const end = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n"
	for name, tt := range map[string]struct {
		body, kind string
		text       string
		calls      string // id name args; …
		stop       model.Stop
		estimated  bool
	}{
		"every call has index 0": {
			body: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n" +
				`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"stop"}]}` + "\n\n" + end,
			calls: `a f {};b f {"x":1};`, stop: model.ToolUse,
		},
		"no ids, and the arguments are an object": {
			body:  `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{"x":1}}},{"index":1,"function":{"name":"g","arguments":null}}]},"finish_reason":"tool_calls"}]}` + "\n\n" + end,
			calls: `call_0 f {"x":1};call_1 g {};`, stop: model.ToolUse,
		},
		"an answer in one piece": {
			kind: "application/json",
			body: `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
			text: "hi", stop: model.End,
		},
		"no counts and no end": {
			body: `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n",
			text: "hi", stop: model.End, estimated: true,
		},
		"null choices with the counts": {
			body: `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n" + strings.Replace(end, "[]", "null", 1),
			text: "hi", stop: model.End,
		},
		"a refusal": {
			body: `data: {"choices":[{"delta":{"refusal":"I will not"},"finish_reason":"stop"}]}` + "\n\n" + end,
			text: "I will not", stop: model.Refusal,
		},
		"a reason that nobody knows": {
			body: `data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"tired"}]}` + "\n\n" + end,
			text: "hi", stop: model.Unknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			if tt.kind != "" {
				h.Set("Content-Type", tt.kind)
			}
			srv := modeltest.Start(t, modeltest.Say(modeltest.Answer{Body: []byte(tt.body), Header: h}))
			m, _ := open(t, srv, "openai")
			r, err := m.Turn(t.Context(), hello, model.Listener{})
			if err != nil {
				t.Fatal(err)
			}
			calls := ""
			for _, c := range r.Calls {
				calls += c.ID + " " + c.Name + " " + string(c.Args) + ";"
			}
			if r.Text != tt.text || calls != tt.calls || r.Stop != tt.stop || r.Usage.Estimated != tt.estimated || r.Usage.Tokens() == 0 {
				t.Errorf("reply %+v, calls %s", r, calls)
			}
		})
	}
}

// Newer models of OpenAI reject the old name of the limit. ken switches to the new one by itself.
func TestOpenAILimitByEitherName(t *testing.T) {
	srv := modeltest.Start(t, func(turn modeltest.Turn) modeltest.Answer {
		if strings.Contains(string(turn.Body), `"max_tokens"`) {
			return modeltest.Answer{
				Status: 400, Type: "unsupported_parameter",
				Message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			}
		}
		return modeltest.Answer{Text: "so"}
	})
	m, w := open(t, srv, "openai")
	for range 2 {
		if r, err := m.Turn(t.Context(), hello, model.Listener{}); err != nil || r.Text != "so" {
			t.Fatalf("Turn returned %+v, %v; want the text so", r, err)
		}
	}
	if n := len(srv.Turns()); n != 3 || len(w.all()) != 0 {
		t.Errorf("%d requests, %d waits: the name should be learnt once", n, len(w.all()))
	}
}
