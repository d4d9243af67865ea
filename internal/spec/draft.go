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
	"ken/internal/spec/parse"
)

// A Draft is a spec to be created.
type Draft struct {
	Dir   string   // the directory below .spec; it may include the prefix .spec/
	Title string   // defaults to the name of the directory
	Code  []string // the entries of the files that it governs
}

// Created is a new spec.
type Created struct {
	*parse.Node
	Missing []string // the code entries that match no tracked file yet
}

// JSON returns the spec for JSON documents.
func (c *Created) JSON() NodeJSON { return nodeJSON(c.Node) }

// New writes the file of a new spec, and returns the spec as parsed from the file.
func (r *Reader) New(ctx context.Context, d Draft) (*Created, error) {
	file, err := d.path()
	if err != nil {
		return nil, err
	}
	text, err := d.text(file)
	if err != nil {
		return nil, err
	}
	tracked, err := r.tracked(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.ws.Files.Create(file, text); err != nil {
		return nil, err
	}
	nodes, err := r.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Path == file {
			gone, _ := missing(n.Code, newLocator(pathsOf(tracked))) // the limit on globs is never reached with one node
			return &Created{n, gone}, nil
		}
	}
	return nil, fmt.Errorf("%s disappeared while ken wrote it; try again", file)
}

// path returns the path of the draft's file.
func (d Draft) path() (repo.Path, error) {
	name := strings.Trim(strings.ReplaceAll(d.Dir, `\`, "/"), "/")
	name = strings.TrimSuffix(strings.TrimPrefix(name, parse.Root+"/"), "/"+parse.FileName)
	refuse := func(format string, args ...any) (repo.Path, error) {
		return "", &fault.Error{Kind: fault.Usage, Hint: "name it with letters, digits and hyphens: ken spec new parser/lexer", Err: fmt.Errorf(format, args...)}
	}
	if name == "" || name == parse.Root {
		return refuse("no name given")
	}
	if path.Clean(name) != name || !utf8.ValidString(name) {
		return refuse("%s is not a plain path below %s", parse.Quote(d.Dir), parse.Root)
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case strings.EqualFold(element, ".git"):
			return refuse("%s cannot be the name of a spec: git does not allow a directory of that name", parse.Quote(element))
		case element == ".." || parse.IDToken(element) != element:
			return refuse("%s cannot be the name of a spec: its id would differ", parse.Quote(element))
		case strings.ContainsFunc(element, unicode.IsUpper):
			return refuse("%s cannot be the name of a spec: use lower case", parse.Quote(element))
		}
	}
	return repo.Path(parse.Root + "/" + name + "/" + parse.FileName), nil
}

// text returns the content of the draft's file.
func (d Draft) text(file repo.Path) ([]byte, error) {
	title := d.Title
	if title == "" {
		title = file.Dir().Base()
	}
	if strings.ContainsFunc(title, unicode.IsControl) {
		return nil, &fault.Error{Kind: fault.Usage, Err: fmt.Errorf("title %s is not one line", parse.Quote(title))}
	}
	front := struct {
		Title  string   `yaml:"title"`
		Status string   `yaml:"status"`
		Code   []string `yaml:"code,omitempty"`
	}{Title: title, Status: "pending"}
	for _, c := range d.Code {
		e, err := parse.ReadEntry(c)
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
