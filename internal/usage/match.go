package usage

import (
	"regexp"
	"strings"
	"sync"
)

// The results of catchAll.
const (
	withCatchAll    = "with a catch-all arm"
	withoutCatchAll = "without a catch-all arm"
)

var (
	matchHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(match|switch)\b.*\{\s*$`) })
	// A lower-case name matches any value, unless a condition follows it.
	rustCatchAll = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:.*\|\s*)?(?:_|[a-z][a-z0-9_]*)\s*=>`)
	})
	switchCatchAll = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^default\b`) })
)

// HasCatchAll reports whether a line is in a match or switch with an arm for all other values.
func HasCatchAll(lines []string, n int) bool { return catchAll(lines, n) == withCatchAll }

// catchAll says whether the match or switch around a line has an arm for all other values; "" if there is no match
// around it. It relies on indentation.
func catchAll(lines []string, n int) string {
	if n < 1 || n > len(lines) {
		return ""
	}
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	// Each line that is indented less contains the line. In Go, a switch is indented like its cases.
	head := -1
	around := lines[n-1]
	for i := n - 2; i >= 0 && head < 0; i-- {
		line := lines[i]
		if strings.TrimSpace(line) == "" || indent(line) > indent(around) {
			continue
		}
		m := matchHead().FindStringSubmatch(line)
		isCase := strings.HasPrefix(strings.TrimSpace(around), "case")
		isBeside := indent(line) == indent(around)
		switch {
		case m != nil && (!isBeside || isCase && m[1] == "switch"):
			head = i
		case !isBeside:
			around = line
		}
	}
	if head < 0 {
		return ""
	}
	isRust := matchHead().FindStringSubmatch(lines[head])[1] == "match"
	arm := -1
	for _, line := range lines[head+1:] {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		if indent(line) <= indent(lines[head]) && strings.HasPrefix(text, "}") {
			return withoutCatchAll
		}
		if arm < 0 {
			arm = indent(line)
		}
		if indent(line) != arm {
			continue
		}
		arms := switchCatchAll()
		if isRust {
			arms = rustCatchAll()
		}
		if arms.MatchString(text) {
			return withCatchAll
		}
	}
	return ""
}
