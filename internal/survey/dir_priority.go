package survey

import (
	"strings"
)

// dirPriority says how much the name of a directory promises to whoever is new, the most
// first.
func dirPriority(name string) int {
	low := strings.ToLower(name)
	switch {
	case low == "" || low[0] == '.':
		return promiseHidden
	case strings.HasPrefix(low, "test") || strings.HasSuffix(low, "tests") || strings.HasSuffix(low, "_test") || strings.HasSuffix(low, "-test"):
		return promiseTests
	}
	switch low {
	case "src", "main", "source", "sources", "lib", "libs", "pkg", "packages", "crates", "modules", "internal", "cmd", "app", "apps", "include", "core":
		return promiseCode
	case "__tests__", "e2e", "fixtures", "mocks", "__mocks__", "snapshots", "__snapshots__":
		return promiseTests
	case "spec", "specs", "doc", "docs", "documentation", "example", "examples", "sample", "samples", "benchmark", "benchmarks", "__benchmarks__", "bench", "contrib",
		"ci", "scripts", "script", "tools", "assets", "resources", "static", "public", "locale", "locales", "changelogs", "site", "website",
		"hack", "third_party", "vendor", "extras", "misc", "types", "typings":
		return promiseAside
	default:
		return promiseCommon
	}
}

// The promises of names.
const (
	promiseCode = iota
	promiseCommon
	promiseAside
	promiseTests
	promiseHidden
	promiseNone
)
