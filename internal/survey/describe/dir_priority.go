package describe

import "strings"

// dirPriority ranks a directory by its name for a reader who is new to the repository. The lowest value comes first.
func dirPriority(name string) int {
	low := strings.ToLower(name)
	switch {
	case low == "" || low[0] == '.':
		return priorityHidden
	case strings.HasPrefix(low, "test") || strings.HasSuffix(low, "tests") || strings.HasSuffix(low, "_test") || strings.HasSuffix(low, "-test"):
		return priorityTests
	}
	switch low {
	case "src", "main", "source", "sources", "lib", "libs", "pkg", "packages", "crates", "modules", "internal", "cmd", "app", "apps", "include", "core":
		return priorityCode
	case "__tests__", "e2e", "fixtures", "mocks", "__mocks__", "snapshots", "__snapshots__":
		return priorityTests
	case "spec", "specs", "doc", "docs", "documentation", "example", "examples", "sample", "samples", "benchmark", "benchmarks", "__benchmarks__", "bench", "contrib",
		"ci", "scripts", "script", "tools", "assets", "resources", "static", "public", "locale", "locales", "changelogs", "site", "website",
		"hack", "third_party", "vendor", "extras", "misc", "types", "typings":
		return priorityAside
	default:
		return priorityCommon
	}
}

// The priorities of directories.
const (
	priorityCode = iota
	priorityCommon
	priorityAside
	priorityTests
	priorityHidden
	priorityNone
)

// IsCodeDir reports whether the name of a directory suggests product code, not tests, documents, examples or tools.
func IsCodeDir(name string) bool { return dirPriority(name) <= priorityCommon }

// IsHiddenDir reports whether the name of a directory starts with a dot.
func IsHiddenDir(name string) bool { return dirPriority(name) == priorityHidden }
