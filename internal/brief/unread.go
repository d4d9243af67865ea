package brief

import (
	"fmt"
	"strings"

	"ken/internal/english"
	"ken/internal/project"
	"ken/internal/repo"
)

// unreadNames is how many manifests a remark names.
const unreadNames = 3

// unread returns the remark about manifests that ken could not read so far, and that apply
// to a path or are below it. "" is the root.
func unread(p *project.Project, at repo.Path) []string {
	var names []string
	for _, s := range p.Skipped() {
		if isIn(at, s.Source.Dir()) || isIn(s.Source, at) {
			names = append(names, fmt.Sprintf("%s (%s)", s.Source, s.Why))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"ken could not read in full: " + english.First(names, unreadNames)}
}

// isIn reports whether p is dir or in it.
func isIn(p, dir repo.Path) bool {
	return dir == "" || p == dir || strings.HasPrefix(string(p), string(dir)+"/")
}
