package suggest_test

import (
	"strings"
	"testing"

	"ken/internal/suggest"
)

func TestWord(t *testing.T) {
	phases := []string{"assess", "plan", "implement", "test", "review", "verify", "cancelled"}
	verdict := []string{"APPROVED", "APPROVED_WITH_NOTES", "NEEDS_WORK"}
	for _, tt := range []struct {
		word  string
		among []string
		want  string
	}{
		{"APPROVE", verdict, "APPROVED"},
		{"approved", verdict, "APPROVED"},
		{"needs-work", verdict, "NEEDS_WORK"},
		{"approved with notes", verdict, "APPROVED_WITH_NOTES"},
		{"planing", phases, "plan"},
		{"implementation", phases, "implement"},
		{"canceled", phases, "cancelled"},
		{"PASSED", []string{"PASS", "FAIL"}, "PASS"},
		{"OK", []string{"PASS", "FAIL"}, ""},
		{"", phases, ""},
		{"zzz", phases, ""},
		{"x", nil, ""},
		{strings.Repeat("x", 1e6), phases, ""},
	} {
		got, ok := suggest.Word(tt.word, tt.among)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Word(%.20q) = %q, %v; want %q", tt.word, got, ok, tt.want)
		}
	}
}
