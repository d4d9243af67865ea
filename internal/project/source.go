package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"ken/internal/repo"
)

const (
	// maxFile limits how much of a file is read.
	maxFile = 256 << 10
	// maxTOML limits the size of a TOML file: the time to parse it grows with the square of the number of keys.
	maxTOML = 64 << 10
	// maxNames limits the scripts, targets, tasks or members that are read from one file.
	maxNames = 300
)

// text returns a tracked file, or its first lines if it is long; nil if it is missing or cannot be read.
func (p *Project) text(file repo.Path) []byte {
	if file == "" || !p.has(file) {
		return nil
	}
	if data, ok := p.texts[file]; ok {
		return data
	}
	data, err := p.read(file)
	return p.remember(file, data, err)
}

// remember caches the content of a file, except source code, which can be large.
func (p *Project) remember(file repo.Path, data []byte, err error) []byte {
	code := languageOf(file) != "" && !isManifest(file.Base())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data = nil
	case err != nil:
		p.skipped[file] = "cannot be read: " + cleanText(err.Error())
		data = nil
	case len(data) > maxFile:
		data = data[:maxFile]
		data = data[:bytes.LastIndexByte(data, '\n')+1]
		if !code {
			p.skipped[file] = fmt.Sprintf("only its first %d KiB are read", maxFile>>10)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if !code {
		p.texts[file] = data
	}
	return data
}

// document returns a file as a parsed document of nested map[string]any, []any, string, float64 and so on, nil if it is
// missing or broken. A file that was cut is broken.
func (p *Project) document(file repo.Path) any {
	if doc, ok := p.parsed[file]; ok {
		return doc
	}
	data := p.text(file)
	if data == nil {
		return nil
	}
	var doc any
	err := parse(file, data, &doc)
	if err != nil {
		doc = nil
		p.skipped[file] = cleanText(err.Error())
	}
	p.parsed[file] = doc
	return doc
}

// parse reads JSON (with comments), TOML or YAML, by the name of the file. If a parser
// panics, only this file is affected.
func parse(file repo.Path, data []byte, doc *any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("parse: %v", r)
		}
	}()
	switch base := file.Base(); {
	case strings.HasSuffix(base, ".toml") || base == "Pipfile":
		if len(data) > maxTOML {
			return fmt.Errorf("larger than %d KiB", maxTOML>>10)
		}
		var table map[string]any
		if err := toml.Unmarshal(data, &table); err != nil {
			return fmt.Errorf("not TOML: %w", err)
		}
		*doc = table
	case strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml"):
		var root yaml.Node
		if err := yaml.Unmarshal(data, &root); err != nil {
			return fmt.Errorf("not YAML: %w", err)
		}
		*doc = &root
	default:
		// encoding/json refuses deep nesting before the recursive parser of comments could run out of stack.
		if err := json.Unmarshal(data, doc); err == nil {
			return nil
		}
		if nesting(data) > 1000 {
			return errors.New("nested too deeply")
		}
		plain, err := hujson.Standardize(slices.Clone(data))
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		return json.Unmarshal(plain, doc)
	}
	return nil
}

// nesting returns an upper bound for how deeply brackets are nested.
func nesting(data []byte) int {
	depth, deepest := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	}
	return deepest
}

// at returns a value inside of a document, nil if it is not there.
func at(doc any, keys ...string) any {
	for _, key := range keys {
		table, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = table[key]
	}
	return doc
}

// textAt returns a string inside of a document, "" if there is none.
func textAt(doc any, keys ...string) string {
	s, _ := at(doc, keys...).(string)
	return s
}

// textsAt returns the strings of a list, or the one string, inside of a document.
func textsAt(doc any, keys ...string) []string {
	switch v := at(doc, keys...).(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				list = append(list, s)
			}
		}
		return list
	}
	return nil
}

// tableAt returns a table inside of a document, nil if there is none.
func tableAt(doc any, keys ...string) map[string]any {
	table, _ := at(doc, keys...).(map[string]any)
	return table
}

// sortedKeys returns the keys of a map in order, at most maxNames.
func sortedKeys[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for key := range m {
		list = append(list, key)
	}
	slices.Sort(list)
	return list[:min(len(list), maxNames)]
}

// lineOf returns the line of a text at which an expression first matches, 0 for none.
func lineOf(text []byte, expr string) int {
	re, err := regexp.Compile("(?m)" + expr)
	if err != nil {
		return 0
	}
	at := re.FindIndex(text)
	if at == nil {
		return 0
	}
	return lineAt(text, at[0])
}

// lineAt returns the line of an offset in a text.
func lineAt(text []byte, offset int) int { return bytes.Count(text[:offset], []byte("\n")) + 1 }

// jsonLine returns the line of a key inside of a JSON text, 0 if it is not found.
func jsonLine(text []byte, path ...string) int {
	from := 0
	for _, key := range path {
		quoted, err := json.Marshal(key)
		if err != nil {
			return 0
		}
		re, err := regexp.Compile(regexp.QuoteMeta(string(quoted)) + `\s*:`)
		if err != nil {
			return 0
		}
		at := re.FindIndex(text[from:])
		if at == nil {
			return 0
		}
		from += at[0]
	}
	return lineAt(text, from)
}

// lazyRegexp returns an expression that is compiled when it is first used: most commands of ken read no manifest.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// An iniFile has the sections of a file such as tox.ini, each with its keys. A value of several lines keeps its line ends.
type iniFile map[string]map[string]iniValue

type iniValue struct {
	text string
	line int
}

// parseINI reads as much of an INI file as is one.
func parseINI(text []byte) iniFile {
	file := make(iniFile)
	var section map[string]iniValue
	last := ""
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, " \t\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			name := line[1 : len(line)-1]
			section = file[name]
			if section == nil {
				section = map[string]iniValue{"": {line: n}}
				file[name] = section
			}
			last = ""
		case section == nil:
		case line[0] == ' ' || line[0] == '\t':
			if v, ok := section[last]; ok && last != "" {
				v.text = strings.TrimPrefix(v.text+"\n"+trimmed, "\n")
				section[last] = v
			}
		default:
			i := strings.IndexAny(line, "=:")
			if i < 0 {
				last = ""
				continue
			}
			last = strings.TrimSpace(line[:i])
			section[last] = iniValue{text: strings.TrimSpace(line[i+1:]), line: n}
		}
	}
	return file
}
