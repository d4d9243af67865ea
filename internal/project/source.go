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

	"ken/internal/manifest"
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

// document returns a file as a parsed document, an empty one if it is missing or broken. A file that was cut is broken.
func (p *Project) document(file repo.Path) manifest.Document {
	if doc, ok := p.parsed[file]; ok {
		return doc
	}
	data := p.text(file)
	if data == nil {
		return manifest.Document{}
	}
	doc, err := parse(file.Base(), data)
	if err != nil {
		p.skipped[file] = cleanText(err.Error())
	}
	p.parsed[file] = doc
	return doc
}

func parse(name string, data []byte) (manifest.Document, error) {
	if strings.HasSuffix(name, ".toml") && len(data) > maxTOML {
		return manifest.Document{}, fmt.Errorf("larger than %d KiB", maxTOML>>10)
	}
	return manifest.Parse(name, data)
}

// keysOf returns the keys of a part of a document in order, at most maxNames.
func keysOf(doc manifest.Document, keys ...string) []string {
	list := doc.Keys(keys...)
	return list[:min(len(list), maxNames)]
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
