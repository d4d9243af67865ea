package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// In a full house the one that has been silent longest makes room; those that are being
// answered stay, and if that is all of them, the newcomer is told so.
func TestACrowdMakesRoom(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 3
	c := newCrowd(l, most)
	answer := make(chan struct{})
	asked := make(chan struct{}, 10)
	srv := &http.Server{
		ReadHeaderTimeout: time.Minute, ConnContext: c.known,
		Handler: c.attend(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				asked <- struct{}{}
				<-answer
			}
			_, _ = io.WriteString(w, "ok")
		})),
	}
	go func() { _ = srv.Serve(c) }()
	defer srv.Close()
	dial := func(request string) *bufio.Reader {
		t.Helper()
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, request)
		return bufio.NewReader(conn)
	}
	status := func(r *bufio.Reader) string {
		line, err := r.ReadString('\n')
		if err != nil {
			return "hung up on"
		}
		return strings.TrimSpace(line)
	}
	const wait, now = "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n", "GET /now HTTP/1.1\r\nHost: x\r\n\r\n"
	busy := dial(wait)
	<-asked
	slow, idle := dial("GET / HTTP/1.1\r\nHost: "), dial(now)
	if got := status(idle); got != "HTTP/1.1 200 OK" {
		t.Fatal(got)
	}
	if got := status(dial(now)); got != "HTTP/1.1 200 OK" {
		t.Errorf("a newcomer: %s", got)
	}
	if got := status(slow); got != "hung up on" {
		t.Errorf("the one that never asked: %s", got)
	}
	for range most - 1 {
		dial(wait)
		<-asked
	}
	if got := status(dial(now)); got != "HTTP/1.1 503 Service Unavailable" {
		t.Errorf("when all are being answered, a newcomer: %s", got)
	}
	close(answer)
	if got := status(busy); got != "HTTP/1.1 200 OK" {
		t.Errorf("the one that was being answered: %s", got)
	}
}
