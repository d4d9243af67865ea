package contract

import "strings"

// maxSlug is how long a lane's slug may be.
const maxSlug = 32

// Slug makes of a lane's name the word that stands for it in file names: lower
// case letters, digits and underscores, beginning with a letter, 32 at most. A
// name with nothing of the kind in it is "ungrouped".
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
