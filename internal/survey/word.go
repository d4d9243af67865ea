package survey

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ken/internal/store"
)

// A Word is what a directory says of itself in a file that no grammar reads so far: a
// README in plain text, or the description in its manifest.
type Word struct {
	Text   string // one line; "" for none
	Readme bool
}

// wordBytes bounds the files that a word is looked for in.
const wordBytes = 64 << 10

// A manifest is a file in which a directory may describe itself.
type manifest struct {
	name string // in lower case, or how it ends from the dot on
	read func(content string) string
}

// manifests are looked at in this order.
var manifests = []manifest{
	{"readme.rst", plainLead},
	{"readme.txt", plainLead},
	{"readme.adoc", plainLead},
	{"readme", plainLead},
	{"package.json", jsonDescription},
	{"composer.json", jsonDescription},
	{"cargo.toml", func(s string) string { return keyed(s, "package", "description") }},
	{"pyproject.toml", func(s string) string {
		if text := keyed(s, "project", "description"); text != "" {
			return text
		}
		return keyed(s, "tool.poetry", "description")
	}},
	{".gemspec", gemSummary},
	{"pom.xml", xmlDescription},
	{".csproj", xmlDescription},
	{".fsproj", xmlDescription},
	{"setup.cfg", func(s string) string { return keyed(s, "metadata", "description") }},
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

// word looks for what a directory says of itself. A file that a word came from counts
// with all its bytes: its outline does not tell the word.
func (j *judgement) word(ctx context.Context, it *Item) (Word, error) {
	for _, m := range manifests {
		i := slices.IndexFunc(it.Files, func(f ItemFile) bool { return m.matches(f.Path.Base()) })
		if i < 0 || it.Files[i].Size > wordBytes {
			continue
		}
		content, err := j.tree.Read(ctx, it.Files[i].File, wordBytes)
		if errors.Is(err, ErrMoved) || ctx.Err() != nil {
			return Word{}, err
		}
		if err != nil {
			continue
		}
		if text := tidy(m.read(strings.ToValidUTF8(string(content), "\uFFFD"))); telling(text) {
			it.Basis.Files[i].Shape = store.OutlineShape{}
			return Word{cut(text, leadBytes), strings.HasPrefix(m.name, "readme")}, nil
		}
	}
	return Word{}, nil
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

// plainLead returns the first paragraph of a document that speaks: no title, directive,
// badge or rule.
func plainLead(content string) string {
	for part := range strings.SplitSeq(strings.ReplaceAll(content, "\r\n", "\n"), "\n\n") {
		var lines []string
		for line := range strings.Lines(strings.Trim(part, "\n")) {
			lines = append(lines, strings.TrimRight(line, " \t\n"))
		}
		if len(lines) == 0 || slices.ContainsFunc(lines, isRuled) {
			continue
		}
		if first := lines[0]; first == "" || strings.ContainsAny(first[:1], ".|:=*-[<! \t#+>") {
			continue
		}
		if text := tidy(sentenceOf(strings.Join(lines, " "))); telling(text) {
			return text
		}
	}
	return ""
}

// isRuled reports a line drawn with punctuation, which makes a title of its neighbours.
func isRuled(line string) bool {
	return len(line) > 2 && strings.Trim(line, "=-~^\"'`#*+_.:") == ""
}
