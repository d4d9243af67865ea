package team

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/fault"
	"ken/internal/store/postgres"
)

// Agreed reports whether the base may be gone to: the user has named it, or asked for it, or it
// is on this machine. What was asked for is a server and what it has to prove: not another one
// beside it, nor the same without TLS.
func (t *Team) Agreed() bool {
	if t.opts.Given || local(t.address.Host) {
		return true
	}
	if t.dir() == "" {
		return false
	}
	b, err := os.ReadFile(t.agreements())
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(b)) {
		if strings.TrimSpace(line) == t.address.Agreement() {
			return true
		}
	}
	return false
}

// Agree says that the user has asked for this base, now and from now on.
func (t *Team) Agree() error {
	if t.Agreed() {
		return nil
	}
	if t.dir() == "" {
		return errors.New("there is no directory to remember that in: export XDG_STATE_HOME=DIR, or name the store in KEN_STORE")
	}
	b, err := os.ReadFile(t.agreements())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replace(t.agreements(), append(b, t.address.Agreement()+"\n"...))
}

var errNotAgreed = errors.New("nobody has agreed to it")

// Reach says why the base cannot be used, nil when it can. It waits no longer than a command that
// was about something else, and writes nothing, neither here nor there.
func (t *Team) Reach(ctx context.Context) error {
	if !t.Agreed() {
		return &fault.Error{
			Hint: "to use it: ken share status",
			Err:  fmt.Errorf("the store %s, which the repository names, is not used: %w", t.address.Agreement(), errNotAgreed),
		}
	}
	return within(ctx, t.opts.Step, func(ctx context.Context) error { return postgres.Reach(ctx, t.opts.Address) })
}

// agreements is the file of what was asked for, an address on a line.
func (t *Team) agreements() string { return filepath.Join(t.dir(), "agreed") }

// local reports whether a host is this machine.
func local(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" || host == "" {
		return true // a socket in the file system
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
