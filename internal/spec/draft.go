package spec

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A Draft is a node that is about to be.
type Draft struct {
	Dir   string   // where it lies, below .spec; the prefix may be given
	Title string   // the name of the directory when ""
	Code  []string // what it governs
}

// Begun is a node that was just written.
type Begun struct {
	*Node
	Missing []string // the entries of its code that name nothing that git tracks yet
}

// New writes the file of a node that is not there yet, and returns it as it reads
// back.
func (r *Reader) New(ctx context.Context, d Draft) (*Begun, error) {
	file, err := d.path()
	if err != nil {
		return nil, err
	}
	text, err := d.text(file)
	if err != nil {
		return nil, err
	}
	tracked, err := r.src.Tracked(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.src.Create(file, text); err != nil {
		return nil, err
	}
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Path == file {
			gone, _ := missing(n.Code, newLocator(pathsOf(tracked))) // of one node it can always be told
			return &Begun{n, gone}, nil
		}
	}
	return nil, fmt.Errorf("%s disappeared while ken wrote it; try again", file)
}

// path is where the draft's file goes.
func (d Draft) path() (repo.Path, error) {
	name := strings.Trim(strings.ReplaceAll(d.Dir, `\`, "/"), "/")
	name = strings.TrimSuffix(strings.TrimPrefix(name, Root+"/"), "/"+FileName)
	refuse := func(format string, args ...any) (repo.Path, error) {
		return "", &fault.Error{Kind: fault.Usage, Hint: "name it with letters, digits and hyphens: ken spec new parser/lexer", Err: fmt.Errorf(format, args...)}
	}
	if name == "" || name == Root {
		return refuse("no name given")
	}
	if path.Clean(name) != name || !utf8.ValidString(name) {
		return refuse("%s is not a plain path below %s", show(d.Dir), Root)
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case strings.EqualFold(element, ".git"):
			return refuse("%s cannot be the name of a spec: git does not allow a directory of that name", show(element))
		case element == ".." || token(element) != element:
			return refuse("%s cannot be the name of a spec: its id would differ", show(element))
		case strings.ContainsFunc(element, unicode.IsUpper):
			return refuse("%s cannot be the name of a spec: use lower case", show(element))
		}
	}
	return repo.Path(Root + "/" + name + "/" + FileName), nil
}

// text is what the draft's file says.
func (d Draft) text(file repo.Path) ([]byte, error) {
	title := d.Title
	if title == "" {
		title = file.Dir().Base()
	}
	if strings.ContainsFunc(title, unicode.IsControl) {
		return nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("title %s is not one line", show(title))}
	}
	front := struct {
		Title  string   `yaml:"title"`
		Status string   `yaml:"status"`
		Code   []string `yaml:"code,omitempty"`
	}{Title: title, Status: "pending"}
	for _, c := range d.Code {
		e, err := ParseEntry(c)
		if err != nil {
			return nil, err
		}
		front.Code = append(front.Code, e.String())
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(front); err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, template, title)
	return b.Bytes(), nil
}

// template is the body of a new spec. Comments explain its parts; a reader does not see them.
const template = `---
# %s

## raw source

<!-- What you want, in your own words. Agents do not edit this part. -->

## expanded spec

<!-- What the code does now, in detail: rules, limits, errors. Keep it true when the code changes. -->
`
