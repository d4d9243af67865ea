package contract

import "strings"

// maxSlug is the length of the longest slug.
const maxSlug = 32

// Slug returns the name of a review lane for file names: at most 32 lower-case letters,
// digits and underscores, beginning with a letter. A name without letters or digits
// becomes "ungrouped".
func Slug(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('_')
			gap = false
		}
		b.WriteRune(r)
	}
	s := b.String()
	switch {
	case s == "":
		return "ungrouped"
	case s[0] <= '9':
		s = "lane_" + s
	}
	return strings.TrimRight(s[:min(len(s), maxSlug)], "_")
}
