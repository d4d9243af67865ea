package contract_test

import (
	"strings"
	"testing"

	"ken/internal/contract"
)

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"API":                            "api",
		"Billing sub-graph":              "billing_sub_graph",
		"  __x__ ":                       "x",
		"":                               "ungrouped",
		"---":                            "ungrouped",
		"日本":                             "ungrouped",
		"2nd lane":                       "lane_2nd_lane",
		"a/../b":                         "a_b",
		strings.Repeat("a", 40):          strings.Repeat("a", 32),
		strings.Repeat("ab ", 9):         "ab_ab_ab_ab_ab_ab_ab_ab_ab",
		strings.Repeat("a", 31) + " bcd": strings.Repeat("a", 31),
		strings.Repeat("1", 40):          "lane_" + strings.Repeat("1", 27),
		"Über":                           "ber",
	} {
		if got := contract.Slug(in); got != want {
			t.Errorf("Slug(%q) = %q, want %q", in, got, want)
		}
	}
}
