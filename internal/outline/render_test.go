package outline_test

import (
	"fmt"
	"strings"

	"ken/internal/outline"
)

// render formats an outline for comparison in tests and for -v.
func render(o *outline.Outline) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", o.Language)
	if o.Package != "" {
		fmt.Fprintf(&b, " %s", o.Package)
	}
	if o.Doc != "" {
		fmt.Fprintf(&b, ": %s", o.Doc)
	}
	b.WriteByte('\n')
	if len(o.Imports) > 0 {
		fmt.Fprintf(&b, "imports %s\n", strings.Join(o.Imports, ", "))
	}
	if o.Partial != "" {
		fmt.Fprintf(&b, "partial %s\n", o.Partial)
	}
	for _, s := range o.Symbols {
		public := "-"
		if s.Exported {
			public = "+"
		}
		fmt.Fprintf(&b, "%s%s %s %s [%d-%d] %s", strings.Repeat("  ", s.Depth), public, s.Kind, s.FullName(), s.Line, s.EndLine, s.Signature)
		if s.Doc != "" {
			fmt.Fprintf(&b, " | %s", s.Doc)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
