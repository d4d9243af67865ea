package survey

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"ken/internal/project"
)

// manifestRank reports whether a file name is that of a manifest with a description, and its rank among them.
func manifestRank(base string) (rank int, ok bool) {
	for i, pattern := range project.DescribingManifests {
		if ok, _ := path.Match(pattern, strings.ToLower(base)); ok {
			return i, true
		}
	}
	return 0, false
}

// manifests returns the indexes of the manifests of the directory, by rank.
func (r *wordReader) manifests() []int {
	var list []int
	for rank := range project.DescribingManifests {
		for i := range r.item.Files {
			if at, ok := manifestRank(r.item.Files[i].Path.Base()); ok && at == rank {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// nameLine matches the line of a manifest with the name of its package, in JSON, TOML or YAML.
var nameLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[{,])\s*(?:"name"\s*:\s*|name\s*[=:]\s*)["']?([^"'\s,]+)`)
})

// manifestName returns the name in a manifest, "" for none.
func manifestName(content string) string {
	if m := nameLine().FindStringSubmatch(content); m != nil {
		return m[1]
	}
	return ""
}
