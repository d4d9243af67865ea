package survey

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"ken/internal/project"
)

// describes reports whether the name of a file is that of a manifest which may describe its
// directory, and its place among them.
func describes(base string) (rank int, ok bool) {
	for i, pattern := range project.DescribingManifests {
		if ok, _ := path.Match(pattern, strings.ToLower(base)); ok {
			return i, true
		}
	}
	return 0, false
}

// manifests returns the manifests of the directory that may describe it, in the order in which
// they count.
func (r *wordReader) manifests() []int {
	var list []int
	for rank := range project.DescribingManifests {
		for i := range r.item.Files {
			if at, ok := describes(r.item.Files[i].Path.Base()); ok && at == rank {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// nameLine is a manifest's line with the name of its package, in JSON, TOML or YAML, or the
// module in go.mod.
var nameLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[{,])\s*(?:"name"\s*:\s*|name\s*[=:]\s*)["']?([^"'\s,]+)`)
})

// manifestName returns the name that a manifest gives, "" for none.
func manifestName(content string) string {
	if m := nameLine().FindStringSubmatch(content); m != nil {
		return m[1]
	}
	return ""
}
