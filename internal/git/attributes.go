package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/git/index"
	"ken/internal/repo"
)

// attributeNames are the attributes that ken reads, in the order of git's output.
var attributeNames = []string{
	"text", "crlf", "eol", "filter", "ident", "working-tree-encoding",
	"linguist-generated", "linguist-vendored", "binary",
}

// Attributes returns the attributes of paths, with the settings for line endings, in the order of paths. It runs git
// even if the snapshot found no attributes, since git also reads untracked .gitattributes files.
func (r *Repo) Attributes(ctx context.Context, paths []repo.Path) ([]repo.Attributes, error) {
	raw, err := r.attributes(ctx, paths)
	if err != nil {
		return nil, err
	}
	auto, err := r.autoCRLF(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]repo.Attributes, len(raw))
	for i, a := range raw {
		out[i] = a.evaluate(auto)
	}
	return out, nil
}

// attributes returns the attributes of paths as git prints them, in the order of paths.
func (r *Repo) attributes(ctx context.Context, paths []repo.Path) ([]rawAttributes, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var in strings.Builder
	for _, p := range paths {
		if !index.ValidPath([]byte(p)) {
			return nil, fmt.Errorf("look up attributes: %s is not a valid path", p)
		}
		in.WriteString(string(p))
		in.WriteByte(0)
	}
	args := append([]string{"check-attr", "-z", "--stdin"}, attributeNames...)
	out, err := r.git().Read(ctx, strings.NewReader(in.String()), args...)
	if err != nil {
		return nil, err
	}
	return parseCheckAttr(out, paths)
}

// rawAttributes are the values of attributeNames as git prints them: "set", "unset", "unspecified" or a value.
type rawAttributes struct {
	text, crlf, eol, filter, ident, encoding, generated, vendored, binary string
}

// parseCheckAttr parses the output of `git check-attr -z`: path, NUL, attribute, NUL, value, NUL for each path and
// each of attributeNames.
func parseCheckAttr(out string, paths []repo.Path) ([]rawAttributes, error) {
	list := make([]rawAttributes, len(paths))
	field := func() (string, bool) {
		f, rest, ok := strings.Cut(out, "\x00")
		out = rest
		return f, ok
	}
	for i, want := range paths {
		a := &list[i]
		values := []*string{&a.text, &a.crlf, &a.eol, &a.filter, &a.ident, &a.encoding, &a.generated, &a.vendored, &a.binary}
		for k, value := range values {
			path, ok1 := field()
			name, ok2 := field()
			v, ok3 := field()
			if !ok1 || !ok2 || !ok3 || path != string(want) || name != attributeNames[k] {
				return nil, fmt.Errorf("git check-attr: no %s for %s in the output", attributeNames[k], want)
			}
			*value = v
		}
	}
	if out != "" {
		return nil, errors.New("git check-attr: more output than requested")
	}
	return list, nil
}

// evaluate returns the attributes that ken uses. auto says that core.autocrlf converts files without an attribute.
func (a rawAttributes) evaluate(auto bool) repo.Attributes {
	out := repo.Attributes{
		Convert:   a.lineEndings(auto),
		Filtered:  hasValue(a.filter),
		Generated: flagAttribute(a.generated),
		Vendored:  flagAttribute(a.vendored),
		Binary:    a.binary == "set",
	}
	encoded := hasValue(a.encoding) && !strings.EqualFold(a.encoding, "utf-8") && !strings.EqualFold(a.encoding, "utf8")
	if encoded || a.ident == "set" {
		out.Convert = repo.ConvertGit
	}
	return out
}

// lineEndings returns how git add converts CRLF, by the rules of convert_attrs in git's convert.c. The line ending
// that a checkout would write does not matter.
func (a rawAttributes) lineEndings(auto bool) repo.Convert {
	const undefined = repo.ConvertGit // means that no attribute is set
	action := func(value string) repo.Convert {
		switch value {
		case "set", "input":
			return repo.ConvertText
		case "unset":
			return repo.ConvertNone
		case "auto":
			return repo.ConvertAuto
		}
		return undefined
	}
	convert := action(a.text)
	if convert == undefined {
		convert = action(a.crlf)
	}
	// A file with an eol attribute is text, unless the text attribute says something else.
	if convert == undefined && (a.eol == "lf" || a.eol == "crlf") {
		convert = repo.ConvertText
	}
	switch {
	case convert != undefined:
		return convert
	case auto:
		return repo.ConvertAuto
	}
	return repo.ConvertNone
}

// hasValue reports whether an attribute has a value.
func hasValue(value string) bool {
	return value != "" && value != "set" && value != "unset" && value != "unspecified"
}

// flagAttribute returns the value of a boolean attribute, nil if it is not set. People also write the linguist
// attributes as =true and =false.
func flagAttribute(value string) *bool {
	switch value {
	case "set", "true":
		return new(true)
	case "unset", "false":
		return new(false)
	}
	return nil
}

// autoCRLF reports whether git add converts line endings: core.autocrlf is true or input.
func (r *Repo) autoCRLF(ctx context.Context) (bool, error) {
	c, err := r.allConfig(ctx)
	if err != nil {
		return false, err
	}
	if v, ok := c.Last("core.autocrlf"); ok && strings.EqualFold(v, "input") {
		return true, nil
	}
	on, _ := c.Bool("core.autocrlf")
	return on, nil
}
