package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// A crowd is the connections to a server, of which there may be so many and no more.
//
// When it is full, room is made for whoever comes by hanging up on the one that has been
// silent longest: an idle browser opens another connection when it needs one, and
// whoever holds many of them open without asking anything only pushes out their own.
// Those whose request is being answered are left alone; if that is all of them, the
// newcomer is told so.
type crowd struct {
	net.Listener
	most int

	mu     sync.Mutex
	guests map[*guest]bool
}

// A guest is one connection.
type guest struct {
	net.Conn
	crowd *crowd
	asked int       // requests of it that are being answered
	spoke bool      // there has been one
	since time.Time // it came, or its last answer was given
}

func newCrowd(l net.Listener, most int) *crowd {
	return &crowd{Listener: l, most: most, guests: make(map[*guest]bool)}
}

// full is what a newcomer is told.
const full = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 21\r\n\r\ntoo many connections\n"

// Accept implements [net.Listener].
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g := c.enter(conn); g != nil {
			return g, nil
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // a new connection has room for so little
		_, _ = io.WriteString(conn, full)
		_ = conn.Close()
	}
}

func (c *crowd) enter(conn net.Conn) *guest {
	c.mu.Lock()
	var silent *guest
	if len(c.guests) >= c.most {
		for g := range c.guests {
			if g.asked == 0 && (silent == nil || g.since.Before(silent.since)) {
				silent = g
			}
		}
		if silent == nil {
			c.mu.Unlock()
			return nil
		}
		delete(c.guests, silent)
	}
	g := &guest{Conn: conn, crowd: c, since: time.Now()}
	c.guests[g] = true
	c.mu.Unlock()
	if silent != nil {
		_ = silent.Close()
	}
	return g
}

// Close implements [net.Conn].
func (g *guest) Close() error {
	g.crowd.mu.Lock()
	delete(g.crowd.guests, g)
	g.crowd.mu.Unlock()
	return g.Conn.Close()
}

// dismiss hangs up on all that never asked anything. Browsers open such connections
// ahead of time, and the end of a server would wait for them.
func (c *crowd) dismiss() {
	c.mu.Lock()
	var mute []*guest
	for g := range c.guests {
		if !g.spoke {
			mute = append(mute, g)
		}
	}
	c.mu.Unlock()
	for _, g := range mute {
		_ = g.Close()
	}
}

type guestKey struct{}

// known is for a server's ConnContext: a request then knows its connection.
func (c *crowd) known(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, conn)
}

// attend marks the connection of a request for as long as it is being answered.
func (c *crowd) attend(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g, ok := r.Context().Value(guestKey{}).(*guest); ok {
			g.asks(1)
			defer g.asks(-1)
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guest) asks(n int) {
	g.crowd.mu.Lock()
	defer g.crowd.mu.Unlock()
	g.asked += n
	g.spoke, g.since = true, time.Now()
}
