package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// maxUnproven leaves half of maxConnections to clients with the token.
const maxUnproven = maxConnections / 2

// A connLimiter bounds the connections that have not shown the token. If there are too many, it closes the oldest one,
// so that clients without the token keep nobody waiting.
type connLimiter struct {
	mu       sync.Mutex
	unproven []net.Conn // oldest first
}

// connKey is the key of the connection in the context of a request.
type connKey struct{}

// attach adds a limiter to a server.
func (l *connLimiter) attach(srv *http.Server) {
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, func() { l.forget(conn) })
	}
	srv.ConnState = func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			l.add(conn)
		case http.StateClosed, http.StateHijacked:
			l.forget(conn)
		case http.StateActive, http.StateIdle: // the client may not have the token
		}
	}
}

func (l *connLimiter) add(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unproven = append(l.unproven, conn)
	if len(l.unproven) > maxUnproven {
		_ = l.unproven[0].Close()
		l.unproven = slices.Delete(l.unproven, 0, 1)
	}
}

func (l *connLimiter) forget(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.unproven, conn); i >= 0 {
		l.unproven = slices.Delete(l.unproven, i, i+1)
	}
}

// closeAll closes the connections that have not shown the token.
func (l *connLimiter) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.unproven {
		_ = conn.Close()
	}
}

// markProven tells the limiter of the server that the client of a request has the token.
func markProven(r *http.Request) {
	if forget, ok := r.Context().Value(connKey{}).(func()); ok {
		forget()
	}
}
