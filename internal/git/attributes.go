package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ken/internal/git/index"
	"ken/internal/repo"
)

// attributeNames are the attributes that ken asks for. The order is that of
// the answer.
var attributeNames = []string{
	"text", "crlf", "eol", "filter", "ident", "working-tree-encoding",
	"linguist-generated", "linguist-vendored", "binary",
}

// Attributes looks up what git attributes and the line-ending configuration say
// of paths, in their order. It asks git even where the snapshot found no
// attributes, since git also heeds files that nobody has added yet.
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
		out[i] = a.judge(auto)
	}
	return out, nil
}

// attributes asks git for the attributes of paths, in their order.
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
	out, err := r.read(ctx, strings.NewReader(in.String()), args...)
	if err != nil {
		return nil, err
	}
	return parseCheckAttr(out, paths)
}

// rawAttributes are the values git gives for attributeNames: "set", "unset",
// "unspecified" or what the attribute was set to.
type rawAttributes struct {
	text, crlf, eol, filter, ident, encoding, generated, vendored, binary string
}

// parseCheckAttr reads `git check-attr -z`: path, NUL, attribute, NUL, value,
// NUL, for each of the paths and each of attributeNames.
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
				return nil, fmt.Errorf("git check-attr: no %s for %s in the answer", attributeNames[k], want)
			}
			*value = v
		}
	}
	if out != "" {
		return nil, errors.New("git check-attr: more output than requested")
	}
	return list, nil
}

// judge turns attributes into what ken cares about. auto says that core.autocrlf
// converts what no attribute speaks of.
func (a rawAttributes) judge(auto bool) repo.Attributes {
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

// lineEndings decides, as convert_attrs in git's convert.c does, what becomes
// of CRLF on the way into the repository. Which ending a checkout would write
// makes no difference here.
func (a rawAttributes) lineEndings(auto bool) repo.Convert {
	const undefined = repo.ConvertGit // stands in for "no attribute says"
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
	// An explicit eol makes it text, unless it is auto or not text at all.
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

// hasValue reports whether an attribute is set to something.
func hasValue(value string) bool {
	return value != "" && value != "set" && value != "unset" && value != "unspecified"
}

// flagAttribute reads an attribute that says yes or no, nil when it says
// nothing. The linguist attributes are also written as =true and =false.
func flagAttribute(value string) *bool {
	switch value {
	case "set", "true":
		return new(true)
	case "unset", "false":
		return new(false)
	}
	return nil
}

// autoCRLF reports whether core.autocrlf is on; "input" is, on the way in.
func (r *Repo) autoCRLF(ctx context.Context) (bool, error) {
	c, err := r.everything(ctx)
	if err != nil {
		return false, err
	}
	if v, ok := c.Last("core.autocrlf"); ok && strings.EqualFold(v, "input") {
		return true, nil
	}
	on, _ := c.Bool("core.autocrlf")
	return on, nil
}
