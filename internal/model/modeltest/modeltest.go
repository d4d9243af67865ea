// Package modeltest plays language models for tests: a server on loopback that
// speaks the providers' real wires, and answers by a script.
//
// It is as strict as they are. What the real APIs refuse (a call left
// unanswered, thinking that comes back changed, an empty text) it refuses too,
// in their words, so that a test cannot pass on a request that would fail in
// earnest. It writes and reads the wires by itself and shares no code with
// package provider.
//
//	srv := modeltest.Start(t, func(turn modeltest.Turn) modeltest.Answer {
//		if turn.N == 0 {
//			return modeltest.Answer{Calls: []model.Call{{ID: "1", Name: "read_file", Args: …}}}
//		}
//		return modeltest.Answer{Text: "done"}
//	})
//	cmd.Env = append(os.Environ(), srv.Env()...)
//
// Anthropic's API is at the server's URL, OpenAI's below it in /v1.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"ken/internal/model"
)

// Key is the only one that the server accepts.
const Key = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"

// A Turn is a request as the server understood it.
type Turn struct {
	N       int    // how many came before
	API     string // anthropic or openai
	Model   string
	Request model.Request // without Raw
	Header  http.Header
	Body    []byte
}

// Asked returns the user's first words, by which a script can tell conversations
// apart.
func (t Turn) Asked() string {
	for _, m := range t.Request.Messages {
		if m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// Results returns what the last message of the user's answers.
func (t Turn) Results() []model.Result {
	if n := len(t.Request.Messages); n > 0 {
		return t.Request.Messages[n-1].Results
	}
	return nil
}

// An Answer is what the server does with a request. The zero Answer is an empty
// reply, which models do give.
type Answer struct {
	Thinking string
	Text     string
	// Calls are the tools that it wants used. The wire carries Args as they
	// are, valid or not.
	Calls []model.Call
	Stop  model.Stop  // End, or ToolUse when there are calls, when Unknown
	Usage model.Usage // so many bytes to a token when there are none
	NoEnd bool        // leave out what marks the end of the stream

	// Status refuses the request, with an error of this type and message and
	// these headers.
	Status  int
	Type    string
	Message string
	Header  http.Header

	// Error breaks the answer off with an error of this type, after the text.
	Error string

	// Body replaces the body that the server would send; nil does not.
	Body []byte
	// Mangle changes it.
	Mangle func([]byte) []byte
	// Cut lets the connection die after so many bytes of the body, when Cuts is
	// set.
	Cuts bool
	Cut  int
	// Hang sends nothing more after the body until the client has left.
	Hang bool
}

// A Script answers requests. It may be called by several goroutines.
type Script func(Turn) Answer

// Say is a script that answers in order, and the last answer from then on.
func Say(answers ...Answer) Script {
	return func(t Turn) Answer { return answers[min(t.N, len(answers)-1)] }
}

// A Server plays a model.
type Server struct {
	URL string

	script Script
	mu     sync.Mutex
	turns  []Turn
	signed map[string]string // the signature of what was thought before a call
}

// Start starts a server that ends with the test.
func Start(tb testing.TB, script Script) *Server {
	tb.Helper()
	s, stop := Run(script)
	tb.Cleanup(stop)
	return s
}

// Run is Start for a program that is no test.
func Run(script Script) (s *Server, stop func()) {
	s = &Server{script: script, signed: make(map[string]string)}
	srv := httptest.NewServer(s)
	s.URL = srv.URL
	return s, func() {
		srv.CloseClientConnections()
		srv.Close()
	}
}

// Env is the environment in which ken finds the server and its key.
func (s *Server) Env() []string {
	return []string{
		"ANTHROPIC_API_KEY=" + Key, "ANTHROPIC_BASE_URL=" + s.URL,
		"OPENAI_API_KEY=" + Key, "OPENAI_BASE_URL=" + s.URL + "/v1",
		"NO_PROXY=127.0.0.1,localhost",
	}
}

// Turns returns the requests that were understood, in order.
func (s *Server) Turns() []Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.turns)
}

// An api is one provider's wire, seen from the server.
type api interface {
	name() string
	// allowed reports whether the request shows the key.
	allowed(h http.Header) bool
	// parse reads a request. A problem is what the provider would refuse it for.
	parse(h http.Header, body []byte, s *Server) (modelName string, req model.Request, problem string)
	// write returns the body of an answer.
	write(n int, modelName string, sent int, a Answer) []byte
	// refuse returns the body of an error.
	refuse(kind, message string) []byte
	// kind returns the error type that goes with a status.
	kind(status int) string
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var wire api
	switch r.URL.Path {
	case "/v1/messages":
		wire = anthropic{}
	case "/v1/chat/completions":
		wire = openai{}
	default:
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	refuse := func(status int, kind, message string) {
		if kind == "" {
			kind = wire.kind(status)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(wire.refuse(kind, message)) // the client may have left
	}
	switch {
	case r.Method != http.MethodPost:
		refuse(http.StatusMethodNotAllowed, "", "Method Not Allowed")
		return
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		refuse(http.StatusUnsupportedMediaType, "", "Unsupported content type")
		return
	case !wire.allowed(r.Header):
		refuse(http.StatusUnauthorized, "", "invalid key")
		return
	}
	t := Turn{API: wire.name(), Header: r.Header.Clone(), Body: body}
	var problem string
	if t.Model, t.Request, problem = wire.parse(r.Header, body, s); problem != "" {
		refuse(http.StatusBadRequest, "", problem)
		return
	}
	s.mu.Lock()
	t.N = len(s.turns)
	s.turns = append(s.turns, t)
	s.mu.Unlock()

	a := s.script(t)
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	if a.Status != 0 {
		refuse(a.Status, a.Type, a.Message)
		return
	}
	if a.Thinking != "" {
		s.mu.Lock()
		for _, c := range a.Calls {
			s.signed[c.ID] = signature(a.Thinking)
		}
		s.mu.Unlock()
	}
	send(w, r, a, wire.write(t.N, t.Model, len(body), a))
}

// send writes a stream, and breaks it where the script says so.
func send(w http.ResponseWriter, r *http.Request, a Answer, body []byte) {
	if a.Body != nil {
		body = a.Body
	}
	if a.Mangle != nil {
		body = a.Mangle(body)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	if a.Cuts && a.Cut < len(body) {
		body = body[:a.Cut]
	}
	_, _ = w.Write(body) // the client may have left
	_ = http.NewResponseController(w).Flush()
	if a.Hang {
		<-r.Context().Done()
	}
	if a.Cuts || a.Hang {
		panic(http.ErrAbortHandler) // the connection dies without a word
	}
}

// usage returns what the answer costs.
func (a Answer) usage(sent int) model.Usage {
	if a.Usage != (model.Usage{}) {
		return a.Usage
	}
	n := len(a.Thinking) + len(a.Text)
	for _, c := range a.Calls {
		n += len(c.Args)
	}
	return model.Usage{Input: int64(sent/4 + 1), Output: int64(n/4 + 1)}
}

// stop returns why the answer ends.
func (a Answer) stop() model.Stop {
	switch {
	case a.Stop != model.Unknown:
		return a.Stop
	case len(a.Calls) > 0:
		return model.ToolUse
	}
	return model.End
}

// pieces cuts s the way models write: a few characters at a time.
func pieces(s string) []string {
	var out []string
	r := []rune(s)
	for len(r) > 0 {
		n := min(7, len(r))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}

// answered returns what is wrong with the results that follow calls, "" if
// nothing is.
func answered(calls []model.Call, results []model.Result) string {
	for _, c := range calls {
		if !slices.ContainsFunc(results, func(r model.Result) bool { return r.ID == c.ID }) {
			return fmt.Sprintf("tool_use ids were found without tool_result blocks immediately after: %s", c.ID)
		}
	}
	for _, r := range results {
		if !slices.ContainsFunc(calls, func(c model.Call) bool { return r.ID == c.ID }) {
			return fmt.Sprintf("unexpected tool_use_id found in tool_result blocks: %s", r.ID)
		}
	}
	return ""
}
