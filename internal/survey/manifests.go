package survey

import (
	"encoding/json"
	"encoding/xml"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A manifest is a file in which a directory may describe itself.
type manifest struct {
	name string // in lower case, or how it ends from the dot on
	read func(content string) string
}

// manifests are looked at in this order.
var manifests = []manifest{
	{"package.json", jsonDescription},
	{"composer.json", jsonDescription},
	{"cargo.toml", func(s string) string { return keyed(s, "package", "description") }},
	{"pyproject.toml", func(s string) string {
		if text := keyed(s, "project", "description"); text != "" {
			return text
		}
		return keyed(s, "tool.poetry", "description")
	}},
	{"setup.cfg", func(s string) string { return keyed(s, "metadata", "description") }},
	{".gemspec", gemSummary},
	{"pom.xml", xmlDescription},
	{".csproj", xmlDescription},
	{".fsproj", xmlDescription},
	{"pubspec.yaml", func(s string) string { return keyed(s, "", "description") }},
	{"chart.yaml", func(s string) string { return keyed(s, "", "description") }},
	{"action.yml", func(s string) string { return keyed(s, "", "description") }},
	{"action.yaml", func(s string) string { return keyed(s, "", "description") }},
	{"vcpkg.json", jsonDescription},
}

func (m manifest) matches(base string) bool {
	base = strings.ToLower(base)
	return base == m.name || m.name[0] == '.' && path.Ext(base) == m.name && base != m.name
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

func jsonDescription(content string) string {
	var in struct {
		Description string `json:"description"`
	}
	if json.Unmarshal([]byte(strings.TrimPrefix(content, "\uFEFF")), &in) != nil {
		return ""
	}
	return in.Description
}

func xmlDescription(content string) string {
	var in struct {
		Description string   `xml:"description"`               // of Maven
		Project     []string `xml:"PropertyGroup>Description"` // of MSBuild
	}
	if xml.Unmarshal([]byte(content), &in) != nil {
		return ""
	}
	if len(in.Project) > 0 {
		return in.Project[0]
	}
	return in.Description
}

// keyed returns the value of a key in a section, "" for the top, of a file in TOML, INI
// or YAML. It reads lines, and only such values as stand on one, or are folded behind
// the key; what it does not understand is none.
func keyed(content, section, key string) string {
	at := ""
	var lines []string
	for line := range strings.Lines(content) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	for i, line := range lines {
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(name, "]")
			at = strings.TrimSpace(name)
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if section == "" {
			name, value, ok = strings.Cut(line, ":")
		}
		if !ok || at != section || strings.TrimRight(name, " \t") != key {
			continue
		}
		return scalar(strings.TrimSpace(value), lines[i+1:])
	}
	return ""
}

// scalar reads a value, with the lines that follow it.
func scalar(value string, after []string) string {
	for _, quote := range []string{`"""`, "'''"} {
		if rest, ok := strings.CutPrefix(value, quote); ok {
			text, _, ok := strings.Cut(strings.Join(append([]string{rest}, after...), "\n"), quote)
			if !ok {
				return ""
			}
			return text
		}
	}
	switch {
	case value == "":
		return ""
	case value[0] == '"':
		quoted, err := strconv.QuotedPrefix(value)
		if err != nil {
			return ""
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return ""
		}
		return text
	case value[0] == '\'':
		text, _, ok := strings.Cut(value[1:], "'")
		if !ok {
			return ""
		}
		return text
	case value[0] == '>' || value[0] == '|':
		var folded []string
		for _, line := range after {
			if line != "" && line[0] != ' ' && line[0] != '\t' {
				break
			}
			folded = append(folded, strings.TrimSpace(line))
		}
		return strings.Join(folded, "\n")
	case strings.ContainsAny(value[:1], "[{&*!%@`#"):
		return ""
	default:
		text, _, _ := strings.Cut(value, " #")
		return text
	}
}

var gemLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*\w+\.(summary|description)\s*=\s*(?:"([^"\\]*)"|'([^'\\]*)'|%[qQ]?\{([^{}\\]*)\}|%[qQ]?\(([^()\\]*)\))`)
})

// gemSummary reads what a gem's specification gives as a literal; what is computed is
// none.
func gemSummary(content string) string {
	found := make(map[string]string)
	for _, m := range gemLine().FindAllStringSubmatch(content, -1) {
		if text := strings.Join(m[2:], ""); !strings.Contains(text, "#{") {
			found[m[1]] = text
		}
	}
	if text := found["summary"]; text != "" {
		return text
	}
	return found["description"]
}
