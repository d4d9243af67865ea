package registry

import (
	"strings"

	"ken/internal/fresh"
)

// Describe returns a verdict as words for people: the state of the summary first, then how the file changed.
func (v FileState) Describe() (word, why string) {
	if v.Content.Reason == fresh.NotCheckedOut {
		switch v.Summary {
		case fresh.Stale:
			return "stale", v.Reason + ", and " + v.staleFor()
		case fresh.Unknown:
			return "unknown", v.Reason
		default:
			return "sparse", v.Reason
		}
	}
	switch v.Content.State {
	case fresh.Unknown:
		return "unknown", strings.TrimPrefix(v.Reason, "read "+v.path.String()+": ")
	case fresh.Gone:
		return "gone", v.Reason
	case fresh.None:
		switch {
		case v.Summary == fresh.Stale:
			return "stale", v.renamed("; ") + v.staleFor()
		case v.PathChanged != "":
			return "new", v.renamed(", ") + "summary " + v.Summary.String()
		case v.Summary == fresh.None:
			return "new", ""
		default:
			return "new", "summary " + v.Summary.String() + colon(v.Reason)
		}
	case fresh.Stale:
		if v.Summary == fresh.None || v.Summary == fresh.Excluded {
			// This is the last check of ken, which may differ from the commit that git compares with.
			return "changed", "since the last check; summary " + v.Summary.String() + colon(v.Reason)
		}
	default:
	}
	switch v.Summary {
	case fresh.Stale:
		return "stale", v.staleFor()
	case fresh.Excluded:
		return "excluded", v.Reason
	case fresh.None:
		return "none", ""
	case fresh.Fresh:
		if v.Restored {
			return "fresh", "back to content that has a summary"
		}
		if v.Grade != "" {
			return "fresh", "edited since the summary was written" + colon(extent(v.Grade)) + ", which does not count"
		}
		return "fresh", ""
	default:
		return v.Summary.String(), v.Reason
	}
}

// staleFor returns the reason why a summary is stale.
func (v FileState) staleFor() string {
	return "edited since the summary was written" + colon(extent(v.Grade))
}

// renamed returns the former path of a renamed file and then sep, "" for other files.
func (v FileState) renamed(sep string) string {
	if v.PathChanged == "" {
		return ""
	}
	return "renamed from " + v.former.String() + sep
}

// extent returns the name of a grade, "" if it only says that something changed.
func extent(g fresh.Grade) string {
	if g == fresh.GradeContent {
		return ""
	}
	return string(g)
}

// colon returns a reason with a colon in front, "" for none.
func colon(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// FirstLine returns the first line of the summary, after its caveats.
func (s *Summary) FirstLine() string {
	if notes := s.caveats(); len(notes) > 0 {
		return "(" + strings.Join(notes, ", ") + ") " + firstLine(s.Text)
	}
	return firstLine(s.Text)
}

// firstLine returns the first line of a text, for lists.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
