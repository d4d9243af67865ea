package pgtest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// A Proxy passes the bytes between a client and a server. A test can make it stop or fail.
type Proxy struct {
	listener net.Listener
	server   string
	address  *url.URL

	mu     sync.Mutex
	free   *sync.Cond
	conns  map[net.Conn]bool
	stall  bool
	refuse bool
	cutIn  int // bytes from clients after which all connections are cut; -1: never
	taken  int
	closed bool
}

// NewProxy returns a proxy to the server of an address.
func NewProxy(tb testing.TB, address string) *Proxy {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: l, server: u.Host, conns: make(map[net.Conn]bool), cutIn: -1}
	p.free = sync.NewCond(&p.mu)
	u.Host = l.Addr().String()
	p.address = u
	var done sync.WaitGroup
	done.Go(func() { p.accept(&done) })
	tb.Cleanup(func() {
		p.mu.Lock()
		p.closed = true
		p.free.Broadcast()
		p.mu.Unlock()
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			tb.Error(err)
		}
		p.Cut()
		done.Wait()
	})
	return p
}

// Address is that of the database, through the proxy.
func (p *Proxy) Address() string { return p.address.String() }

// Taken returns how many connections have been accepted.
func (p *Proxy) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// Cut closes all connections. New ones are passed on.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

func (p *Proxy) cut() {
	for c := range p.conns {
		_ = c.Close() // whatever was in it is meant to be lost
	}
	clear(p.conns)
}

// CutAfter cuts all connections as soon as clients have sent so many bytes more, once.
func (p *Proxy) CutAfter(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutIn = n
}

// Stall accepts connections and passes nothing on, until it is called with false.
func (p *Proxy) Stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stall = on
	p.free.Broadcast()
}

// Refuse closes connections as they come, until it is called with false.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
	if on {
		p.cut()
	}
}

func (p *Proxy) accept(done *sync.WaitGroup) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.taken++
		refuse := p.refuse || p.closed
		if !refuse {
			p.conns[client] = true
		}
		p.mu.Unlock()
		if refuse {
			_ = client.Close()
			continue
		}
		done.Go(func() { p.serve(client, done) })
	}
}

func (p *Proxy) serve(client net.Conn, done *sync.WaitGroup) {
	p.mu.Lock()
	p.wait()
	p.mu.Unlock()
	server, err := net.Dial("tcp", p.server) //nolint:noctx // it ends with the client
	if err != nil {
		p.drop(client)
		return
	}
	p.mu.Lock()
	p.conns[server] = true
	gone := !p.conns[client] || p.closed
	p.mu.Unlock()
	if gone {
		p.drop(server)
		return
	}
	done.Go(func() { p.pass(client, server, false) })
	p.pass(server, client, true)
}

// wait returns once nothing stalls.
func (p *Proxy) wait() {
	for p.stall && !p.closed {
		p.free.Wait()
	}
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = c.Close()
	delete(p.conns, c)
}

// pass copies until either end is closed.
func (p *Proxy) pass(to io.Writer, from io.Reader, counted bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		p.wait()
		if counted && p.cutIn >= 0 {
			if p.cutIn -= n; p.cutIn < 0 {
				p.cutIn = -1
				p.cut()
			}
		}
		p.mu.Unlock()
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			for _, c := range []any{to, from} {
				p.drop(c.(net.Conn))
			}
			return
		}
	}
}
