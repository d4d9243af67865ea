package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"ken/internal/model"
)

// maxErrorBody limits how much of an error response is read.
const maxErrorBody = 64 << 10

var (
	errIdle     = errors.New("silent for too long")
	errTooLarge = errors.New("the answer is too large")
)

// A wire encodes the requests and decodes the responses of an API.
type wire interface {
	// body returns the encoded request. It asks for a stream of events.
	body(req model.Request) ([]byte, error)
	// header adds the headers of the API.
	header(h http.Header, key string)
	// listen returns a decoder for one response.
	listen(sent []byte, text func(string)) reading
	// adapt reports whether the apiError is about a field that the wire now encodes in another way, so that the
	// request should be sent again.
	adapt(c apiError) bool
}

// A reading decodes the events of one response.
type reading interface {
	// event decodes one event. It returns done if the rest of the stream does not matter.
	event(name string, data []byte) (done bool, t *failure)
	// whole decodes a response that is not a stream, if the API allows that.
	whole(data []byte) *failure
	// answer returns the part that was decoded, and whether it is complete.
	answer() (a answer, complete bool)
}

// A client sends requests to a service.
type client struct {
	endpoint endpoint
	wire     wire
	opts     Options
	hide     redactor
	http     *http.Client
}

// httpClient returns a client that does not follow redirects: the request and its key must not go to another
// server.
func httpClient(opts Options) *http.Client {
	rt := opts.HTTP
	if rt == nil {
		rt = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    30 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    16,
			MaxResponseHeaderBytes: 256 << 10,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // MaxBytes limits the size on the wire
		}
	}
	return &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (c *client) ask(ctx context.Context, req model.Request, text func(string)) (answer, *failure) {
	a, t, apiError := c.post(ctx, req, text)
	if apiError != nil && c.wire.adapt(*apiError) {
		a, t, _ = c.post(ctx, req, text)
	}
	return a, t
}

// post sends one request. The apiError is the message of the service, if it sent one.
func (c *client) post(ctx context.Context, req model.Request, text func(string)) (answer, *failure, *apiError) {
	body, err := c.wire.body(req)
	if err != nil {
		return answer{}, &failure{reason: model.BadRequest, text: err.Error()}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(c.opts.Idle, func() { cancel(errIdle) })
	defer idle.Stop()

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.url.String(), bytes.NewReader(body))
	if err != nil {
		return answer{}, &failure{reason: model.BadRequest, text: err.Error()}, nil
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "ken")
	c.wire.header(r.Header, c.endpoint.key)

	var sent atomic.Bool
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { sent.Store(info.Err == nil) },
	}))
	resp, err := c.http.Do(r)
	if err != nil {
		t := c.broken(ctx, err)
		if ctx.Err() != nil && sent.Load() {
			return unanswered(body), t, nil
		}
		return answer{}, t, nil
	}
	in := resp.Body
	defer in.Close()
	stream := &limitedReader{src: in, timer: idle, idle: c.opts.Idle, left: c.opts.httpBytes()}
	if resp.StatusCode != http.StatusOK {
		t, apiError := c.refused(resp, stream)
		return answer{}, t, apiError
	}
	a, t := c.read(ctx, resp, stream, c.wire.listen(body, text))
	if t != nil && ctx.Err() != nil && !a.reached {
		a = unanswered(body)
	}
	return a, t, nil
}

// unanswered returns the answer to a request that ken sent and did not wait for. The provider may charge for its
// input.
func unanswered(body []byte) answer {
	a := answer{reached: true}
	a.Usage = model.Usage{Input: model.EstimateTokens(len(body)), Estimated: true}
	return a
}

// read decodes a response up to its end.
func (c *client) read(ctx context.Context, resp *http.Response, stream io.Reader, in reading) (answer, *failure) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // "" if it is invalid
	switch kind {
	case "text/event-stream":
	case "application/json":
		b, err := io.ReadAll(stream)
		if err != nil {
			return answer{}, c.broken(ctx, err)
		}
		if t := in.whole(b); t != nil {
			return answer{}, t
		}
		a, complete := in.answer()
		if !complete {
			return a, unfinished("the answer ends early")
		}
		return a, nil
	default:
		b, _ := io.ReadAll(io.LimitReader(stream, maxErrorBody))
		return answer{}, &failure{reason: model.BadAnswer, text: fmt.Sprintf(
			"%s answered with %q instead of a stream of events: %s", c.endpoint.url.Host,
			resp.Header.Get("Content-Type"), c.hide.clean(string(b)),
		)}
	}

	events := newEvents(stream)
	for {
		name, data, err := events.next()
		if err == nil {
			done, t := in.event(name, data)
			if !done && t == nil {
				continue
			}
			a, _ := in.answer()
			return a, t
		}
		// If only the end of the stream is missing, the reply is complete and already charged.
		a, complete := in.answer()
		switch {
		case complete && ctx.Err() == nil:
			return a, nil
		case errors.Is(err, io.EOF):
			return a, unfinished("the answer breaks off")
		}
		return a, c.broken(ctx, err)
	}
}

func unfinished(text string) *failure {
	return &failure{reason: model.Down, passes: true, text: text}
}

// broken returns the failure for a connection that failed.
func (c *client) broken(ctx context.Context, err error) *failure {
	t := &failure{reason: model.Down, passes: true, text: err.Error()}
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		t.unsent = dial.Op == "dial"
	}
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(context.Cause(ctx), errIdle):
		t.text = fmt.Sprintf("%s was silent for %s", c.endpoint.url.Host, c.opts.Idle)
	case errors.Is(err, errTooLarge):
		t.reason, t.passes = model.BadAnswer, false
		t.text = fmt.Sprintf("%s sent more than %d bytes", c.endpoint.url.Host, c.opts.httpBytes())
	case errors.Is(err, errLine):
		t.reason, t.passes = model.BadAnswer, false
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &host), errors.As(err, &cert):
		t.passes = false
	case errors.Is(err, syscall.ECONNREFUSED) && loopback(c.endpoint.url):
		t.passes = false // nothing listens on this machine, and a retry will not change that
		t.text = fmt.Sprintf("no server listens at %s", c.endpoint.url.Host)
		t.hint = "start the server, then: ken survey run"
	}
	return t
}

// refused returns the failure for a status other than 200.
func (c *client) refused(resp *http.Response, stream io.Reader) (*failure, *apiError) {
	b, _ := io.ReadAll(io.LimitReader(stream, maxErrorBody)) // as much as has arrived
	said := parseAPIError(b)
	if said.Message == "" {
		said.Message = c.hide.clean(string(b))
	}
	t := said.judge(resp.StatusCode)
	t.text = fmt.Sprintf("%s answered %d %s", c.endpoint.url.Host, resp.StatusCode, http.StatusText(resp.StatusCode))
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 {
		t.text += " and redirects to " + c.hide.clean(to)
		t.hint = "if that address is right, set it as the base URL"
	}
	if said.Message != "" {
		t.text += ": " + said.Message
	}
	if id := resp.Header.Get("Request-Id") + resp.Header.Get("X-Request-Id"); id != "" && len(id) < 100 {
		t.text += " (request " + id + ")"
	}
	switch resp.Header.Get("X-Should-Retry") {
	case "true":
		t.passes = true
	case "false":
		t.passes = false
	}
	t.after = retryAfter(resp.Header, c.opts.Now())
	return t, &said
}

// retryAfter returns the wait that a server asks for, 0 if it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	s := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return seconds(n)
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// seconds returns n seconds as a duration of at most one day, so that no number overflows.
func seconds(n float64) time.Duration {
	if !(n > 0) { // false for NaN too
		return 0
	}
	return time.Duration(min(n, 86400) * float64(time.Second))
}

// A limitedReader limits the time until the next byte and the number of bytes.
type limitedReader struct {
	src   io.Reader
	timer *time.Timer
	idle  time.Duration
	left  int64
}

func (l *limitedReader) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(b)) > l.left {
		b = b[:l.left]
	}
	l.timer.Reset(l.idle)
	n, err := l.src.Read(b)
	l.timer.Stop()
	l.left -= int64(n)
	return n, err
}
