package brief

import (
	"fmt"
	"strings"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/project"
	"ken/internal/repo"
)

// unreadNames is how many manifests a line names.
const unreadNames = 3

// unread returns what is unknown since there are manifests that ken could not read so far, and that apply
// to a path or are below it. "" is the root.
func unread(p *project.Project, at repo.Path) []fault.Unknown {
	var names []string
	for _, s := range p.Skipped() {
		if isIn(at, s.Source.Dir()) || isIn(s.Source, at) {
			names = append(names, fmt.Sprintf("%s (%s)", s.Source, s.Why))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []fault.Unknown{{What: "commands", Why: "ken could not read in full: " + english.First(names, unreadNames)}}
}

// isIn reports whether p is dir or in it.
func isIn(p, dir repo.Path) bool {
	return dir == "" || p == dir || strings.HasPrefix(string(p), string(dir)+"/")
}
