package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"ken/internal/fault"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b.db": "/a/b.db", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "ü": "'ü'",
	} {
		if got := fault.Quote(in); got != want {
			t.Errorf("fault.Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestKindAndHintAreFoundInTheChain(t *testing.T) {
	inner := &fault.Error{Kind: fault.Locked, Hint: "wait", Err: errors.New("busy")}
	outer := fmt.Errorf("store: %w", &fault.Error{Kind: fault.Stale, Err: inner})
	if fault.KindOf(outer) != fault.Stale || fault.HintOf(outer) != "wait" {
		t.Errorf("kind %v, hint %q", fault.KindOf(outer), fault.HintOf(outer))
	}
	if plain := errors.New("x"); fault.KindOf(plain) != fault.Failed || fault.HintOf(plain) != "" {
		t.Error("a plain error has a kind or a hint of its own")
	}
}
