package cli

import (
	"bytes"
	"context"
	"testing"

	"ken/internal/term"
)

// A port alone is one of this machine's. Without a port ken chooses that of the
// repository.
func TestServePort(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"serve"}, ""},
		{[]string{"serve", "--port", "0"}, "127.0.0.1:0"},
		{[]string{"serve", "--port", "8080"}, "127.0.0.1:8080"},
		{[]string{"serve", "--addr", "[::1]:9"}, "[::1]:9"},
	} {
		var got string
		deps := Deps{Serve: func(_ context.Context, _ string, opts ServeOptions) error {
			got = opts.Addr
			return nil
		}}
		var out bytes.Buffer
		if err := Run(t.Context(), deps, &term.IO{Out: &out, Err: &out}, tt.args); err != nil || got != tt.want {
			t.Errorf("%v listens on %q, want %q; %v", tt.args, got, tt.want, err)
		}
	}
}
