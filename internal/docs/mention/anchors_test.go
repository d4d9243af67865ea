package mention

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestAnchors(t *testing.T) {
	got := slices.Sorted(maps.Keys(Anchors([]byte(strings.Join([]string{
		"# The `first` Title! <Badge/>", "# `<config>`", "## [Linked](x.md) words", "## Twice", "## Twice", "### Set {#by-hand}", "### In MDX {/* #commented */}", "### In HTML <!-- #hidden -->",
		"Underlined", "---", `<a name="Named"></a>`, "{: #kramdown}", "(myst)=", "```", "# no title", "```",
	}, "\n")))))
	want := []string{
		"by-hand", "commented", "config", "hidden", "in-html", "in-mdx", "kramdown", "linked-words", "myst", "named", "set",
		"the-first-title", "the-first-title-badge", "twice", "twice-1", "underlined",
	}
	if !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
}
