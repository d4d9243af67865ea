package outline

import (
	"strings"
	"testing"
)

func TestNameLine(t *testing.T) {
	lines := strings.Split("// Allow allows.\n// More.\nfunc (l *Limiter)  Allow() bool {\n\treturn Allow\n}", "\n")
	s := &Symbol{Name: "Allow", Line: 1, EndLine: 5, Signature: "func (l *Limiter) Allow() bool"}
	if got := s.NameLine(lines); got != 3 {
		t.Errorf("declared at line %d, expected 3: comments do not count", got)
	}
	if got := (&Symbol{Name: "Allow", Line: 1, EndLine: 2, Signature: "Allow() bool"}).NameLine([]string{"// Allow allows.", "Allow() bool"}); got != 2 {
		t.Errorf("a method of an interface is declared at line %d, expected 2: its comment has the name, too", got)
	}
	s.Signature = "something else"
	if got := s.NameLine(lines); got != 3 {
		t.Errorf("with another signature, declared at line %d, expected 3", got)
	}
	if got := s.NameLine(nil); got != 1 {
		t.Errorf("without the content, declared at line %d, expected its first line", got)
	}
}
