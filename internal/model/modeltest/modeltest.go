// Package modeltest is a fake language model for tests: a server on loopback with the real APIs of the providers.
// A script supplies the answers.
//
// The server is as strict as the real ones. It rejects a call without a result, changed thinking and an empty text
// with the same messages, so that a test cannot pass with a request that would fail in production. It has its own
// encoder and decoder, and shares no code with package provider.
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

// Key is the only key that the server accepts.
const Key = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"

// A Turn is a decoded request.
type Turn struct {
	N       int    // the number of earlier requests
	API     string // anthropic or openai
	Model   string
	Request model.Request // without Raw
	Header  http.Header
	Body    []byte
}

// Asked returns the first message of the user. A script can use it to distinguish conversations.
func (t Turn) Asked() string {
	for _, m := range t.Request.Messages {
		if m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// Results returns the results in the last message of the user.
func (t Turn) Results() []model.Result {
	if n := len(t.Request.Messages); n > 0 {
		return t.Request.Messages[n-1].Results
	}
	return nil
}

// An Answer is the response of the server. The zero Answer is an empty reply, which real models also give.
type Answer struct {
	Thinking string
	Text     string
	// Calls are the tool calls of the reply. Args are sent unchanged, valid or not.
	Calls []model.Call
	Stop  model.Stop  // if Unknown: ToolUse if there are calls, else End
	Usage model.Usage // estimated from the sizes if zero
	NoEnd bool        // omit the events that end the stream

	// Status rejects the request, with this type, message and headers.
	Status  int
	Type    string
	Message string
	Header  http.Header

	// Error ends the stream with an error of this type, after the text.
	Error string

	// Body replaces the body of the response, if it is not nil.
	Body []byte
	// Mangle changes the body.
	Mangle func([]byte) []byte
	// Cut is the number of bytes after which the connection breaks, if Cuts is set.
	Cuts bool
	Cut  int
	// Hang keeps the connection open after the body until the client disconnects.
	Hang bool
}

// A Script returns the answer to a request. It must be safe for concurrent use.
type Script func(Turn) Answer

// Say returns a script that gives the answers in order and then repeats the last one.
func Say(answers ...Answer) Script {
	return func(t Turn) Answer { return answers[min(t.N, len(answers)-1)] }
}

// A Server is a fake model.
type Server struct {
	URL string

	script Script
	mu     sync.Mutex
	turns  []Turn
	signed map[string]string // signatures of the thinking, by the ID of the call after it
}

// Start starts a server and stops it when the test ends.
func Start(tb testing.TB, script Script) *Server {
	tb.Helper()
	s, stop := Run(script)
	tb.Cleanup(stop)
	return s
}

// Run starts a server for a program that is not a test.
func Run(script Script) (s *Server, stop func()) {
	s = &Server{script: script, signed: make(map[string]string)}
	srv := httptest.NewServer(s)
	s.URL = srv.URL
	return s, func() {
		srv.CloseClientConnections()
		srv.Close()
	}
}

// Env returns environment variables with the addresses of the server and its key.
func (s *Server) Env() []string {
	return []string{
		"ANTHROPIC_API_KEY=" + Key, "ANTHROPIC_BASE_URL=" + s.URL,
		"OPENAI_API_KEY=" + Key, "OPENAI_BASE_URL=" + s.URL + "/v1",
		"NO_PROXY=127.0.0.1,localhost",
	}
}

// Turns returns the valid requests, in order.
func (s *Server) Turns() []Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.turns)
}

// An api is the server side of one API.
type api interface {
	name() string
	// allowed reports whether the request has the key.
	allowed(h http.Header) bool
	// parse decodes a request. The problem is the reason why the provider would reject it, "" for none.
	parse(h http.Header, body []byte, s *Server) (modelName string, req model.Request, problem string)
	// write returns the body of a response.
	write(n int, modelName string, sent int, a Answer) []byte
	// refuse returns the body of an error response.
	refuse(kind, message string) []byte
	// kind returns the error type of a status.
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
		return // the client has disconnected
	}
	refuse := func(status int, kind, message string) {
		if kind == "" {
			kind = wire.kind(status)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(wire.refuse(kind, message)) // the client may have disconnected
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

// send writes a stream and breaks it as the script demands.
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
	_, _ = w.Write(body) // the client may have disconnected
	_ = http.NewResponseController(w).Flush()
	if a.Hang {
		<-r.Context().Done()
	}
	if a.Cuts || a.Hang {
		panic(http.ErrAbortHandler) // closes the connection
	}
}

// usage returns the usage of the answer.
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

// stop returns the stop reason of the answer.
func (a Answer) stop() model.Stop {
	switch {
	case a.Stop != model.Unknown:
		return a.Stop
	case len(a.Calls) > 0:
		return model.ToolUse
	}
	return model.End
}

// pieces splits s into pieces of a few characters, as models send them.
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

// answered returns the problem with the results that follow calls, "" for none.
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
