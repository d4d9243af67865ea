package ken_test

import (
	"net"
	"testing"
	"time"

	"ken/internal/ken"
	"ken/internal/testrepo"
)

// ken summary close does not wait for a remote that accepts a connection and does not answer.
func TestCloseLeavesASilentRemote(t *testing.T) {
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := testrepo.New(t)
	r.Write("a.go", "package a\n")
	r.Commit("one")
	r.Git("remote", "add", "origin", "git://"+silent.Addr().String()+"/ken")
	w, err := ken.Open(t.Context(), ken.Options{Dir: r.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s, err := w.Share(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	said := s.PushWithin(t.Context(), time.Second)
	if want := "not shared: the remote did not answer within 1s (to wait for it: ken share push)"; said != want {
		t.Errorf("PushWithin returned %q; want %q", said, want)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %s, want the second that was given", took)
	}
}
