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

// maxComplaint bounds what is read of a server's error.
const maxComplaint = 64 << 10

var (
	errIdle     = errors.New("silent for too long")
	errTooLarge = errors.New("the answer is too large")
)

// A wire is how a service writes requests and answers.
type wire interface {
	// body returns the request. Its answer is a stream of events.
	body(req model.Request) ([]byte, error)
	// header adds what the service wants to see.
	header(h http.Header, key string)
	// listen returns a reading of one answer.
	listen(sent []byte, text func(string)) reading
	// mend reports whether the wire will write the next request in another
	// way, since the service has complained of this one.
	mend(c complaint) bool
}

// A reading takes the events of one answer in.
type reading interface {
	// event takes one event. Done says that nothing of worth follows.
	event(name string, data []byte) (done bool, t *trouble)
	// whole takes an answer that came in one piece, where that is understood.
	whole(data []byte) *trouble
	// answer returns what has been understood, and whether it is all there.
	answer() (a answer, complete bool)
}

// A client asks a service.
type client struct {
	endpoint endpoint
	wire     wire
	opts     Options
	hide     hider
	http     *http.Client
}

// httpClient returns a client that follows nobody: a redirect is an answer that
// we did not ask for, and what we send is not for whom it names.
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
			DisableCompression:     true, // an answer's size is what comes over the wire
		}
	}
	return &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (c *client) ask(ctx context.Context, req model.Request, text func(string)) (answer, *trouble) {
	a, t, complaint := c.post(ctx, req, text)
	if complaint != nil && c.wire.mend(*complaint) {
		a, t, _ = c.post(ctx, req, text)
	}
	return a, t
}

// post makes one request. The complaint is the service's own word on why it
// refused, where it had one.
func (c *client) post(ctx context.Context, req model.Request, text func(string)) (answer, *trouble, *complaint) {
	body, err := c.wire.body(req)
	if err != nil {
		return answer{}, &trouble{reason: model.BadRequest, text: err.Error()}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(c.opts.Idle, func() { cancel(errIdle) })
	defer idle.Stop()

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.url.String(), bytes.NewReader(body))
	if err != nil {
		return answer{}, &trouble{reason: model.BadRequest, text: err.Error()}, nil
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
	stream := &patient{src: in, timer: idle, idle: c.opts.Idle, left: c.opts.httpBytes()}
	if resp.StatusCode != http.StatusOK {
		t, complaint := c.refused(resp, stream)
		return answer{}, t, complaint
	}
	a, t := c.read(ctx, resp, stream, c.wire.listen(body, text))
	if t != nil && ctx.Err() != nil && !a.reached {
		a = unanswered(body)
	}
	return a, t, nil
}

// unanswered returns the answer to a request that ken sent and did not wait for. The provider may
// charge its input.
func unanswered(body []byte) answer {
	a := answer{reached: true}
	a.Usage = model.Usage{Input: model.EstimateTokens(len(body)), Estimated: true}
	return a
}

// read takes an answer in, up to its end.
func (c *client) read(ctx context.Context, resp *http.Response, stream io.Reader, in reading) (answer, *trouble) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // what is not one is neither of these
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
		b, _ := io.ReadAll(io.LimitReader(stream, maxComplaint))
		return answer{}, &trouble{reason: model.BadAnswer, text: fmt.Sprintf(
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
		// Where the end of the answer has come and only the end of the stream
		// has not, the answer is there and paid for.
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

func unfinished(text string) *trouble {
	return &trouble{reason: model.Down, passes: true, text: text}
}

// broken says why a connection did not come about or did not last.
func (c *client) broken(ctx context.Context, err error) *trouble {
	t := &trouble{reason: model.Down, passes: true, text: err.Error()}
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
		t.passes = false // nobody is at home, and we would know
		t.text = fmt.Sprintf("no server listens at %s", c.endpoint.url.Host)
		t.hint = "start the server, then: ken survey run"
	}
	return t
}

// refused says what a status other than 200 means.
func (c *client) refused(resp *http.Response, stream io.Reader) (*trouble, *complaint) {
	b, _ := io.ReadAll(io.LimitReader(stream, maxComplaint)) // as far as it came
	said := parseComplaint(b)
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

// retryAfter returns how long a server asks us to wait, 0 when it does not.
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

// seconds is n seconds, at most a day: no number of a server's overflows.
func seconds(n float64) time.Duration {
	if !(n > 0) { // NaN too
		return 0
	}
	return time.Duration(min(n, 86400) * float64(time.Second))
}

// A patient reader waits so long for the next byte, and takes so many.
type patient struct {
	src   io.Reader
	timer *time.Timer
	idle  time.Duration
	left  int64
}

func (p *patient) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, errTooLarge
	}
	if int64(len(b)) > p.left {
		b = b[:p.left]
	}
	p.timer.Reset(p.idle)
	n, err := p.src.Read(b)
	p.timer.Stop()
	p.left -= int64(n)
	return n, err
}
