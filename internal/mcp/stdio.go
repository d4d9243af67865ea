package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client. It answers an invalid line with an error, and answers
// every request before it ends at the end of in.
func ServeStdio(ctx context.Context, deps Deps, in io.ReadCloser, out io.Writer) error {
	w := &lineWriter{out: out}
	return Serve(ctx, deps, &drainingTransport{Transport: &mcp.IOTransport{Reader: &messageReader{in: in, buf: bufio.NewReader(in), out: w}, Writer: w}})
}

// lineWriter writes whole lines, one at a time.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lineWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// Close does nothing; the process closes the stream.
func (l *lineWriter) Close() error { return nil }

// messageReader returns the lines that are JSON-RPC messages, and answers the others
// with an error.
type messageReader struct {
	in   io.ReadCloser
	buf  *bufio.Reader
	out  io.Writer
	rest []byte
}

func (m *messageReader) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.buf.ReadBytes('\n')
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if code, why := messageError(trimmed); why == "" {
				m.rest = append(trimmed, '\n')
			} else if _, err := fmt.Fprintf(m.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, why); err != nil {
				return 0, err
			}
		}
		if err != nil && len(m.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func (m *messageReader) Close() error { return m.in.Close() }

// messageError says why a line is not a JSON-RPC message, with a code.
func messageError(line []byte) (code int, why string) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, "not JSON"
	}
	if line[0] == '[' && len(line) > 2 {
		return 0, "" // a batch from an older client; the session handles it
	}
	var head struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
	}
	if json.Unmarshal(line, &head) != nil || head.Version != "2.0" {
		return jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message"
	}
	switch head.ID.(type) {
	case nil, string, float64:
		return 0, ""
	default:
		return jsonrpc.CodeInvalidRequest, "the id of a request is a string or a number"
	}
}

// drainingTransport waits at the end of input until all requests are answered.
type drainingTransport struct{ mcp.Transport }

// Connect implements [mcp.Transport].
func (p *drainingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &drainingConn{Connection: conn}
	c.idle = sync.NewCond(&c.mu)
	return c, nil
}

type drainingConn struct {
	mcp.Connection
	mu      sync.Mutex
	pending int // requests without an answer
	idle    *sync.Cond
}

func (c *drainingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.wait(ctx)
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.mu.Lock()
		c.pending++
		c.mu.Unlock()
	}
	return msg, err
}

// wait returns when all requests are answered, or ctx ends.
func (c *drainingConn) wait(ctx context.Context) {
	defer context.AfterFunc(ctx, c.idle.Broadcast)()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending > 0 && ctx.Err() == nil {
		c.idle.Wait()
	}
}

func (c *drainingConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if ok && resp.Error != nil {
		// An error without a code comes from a request before initialize.
		answer := *resp
		answer.Error = withCode(jsonrpc.CodeInvalidRequest, resp.Error)
		msg = &answer
	}
	err := c.Connection.Write(ctx, msg)
	if ok {
		c.mu.Lock()
		c.pending--
		c.mu.Unlock()
		c.idle.Broadcast()
	}
	return err
}
