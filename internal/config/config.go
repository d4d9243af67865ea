// Package config reads the configuration of a repository, .ken/config.yaml.
//
// It knows the file, and no section of it: each feature defines the section with its own settings, and the caller of
// [Load] puts the sections together. A malformed file is an error with the name of the file and the line: ken never
// ignores a setting silently.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"ken/internal/fault"
	"ken/internal/repo"
)

// Name is the path of the configuration, from the repository root.
const Name = ".ken/config.yaml"

// maxBytes is the size of the largest file that is parsed. People write these files by hand.
const maxBytes = 1 << 20

// Sections is a pointer to a struct with a field for each section, or to one section.
type Sections interface {
	// Validate returns an error for the first wrong value that the YAML decoder accepted.
	Validate() error
}

// Load reads the configuration of the work tree at root into s. Without the file, s stays as it is. Load follows no
// link out of root.
func Load(root string, s Sections) error {
	b, err := ReadFile(root, Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return refused(fmt.Errorf("read %s: %w", Name, err))
	}
	return Parse(b, s)
}

// ReadFile reads a file of the work tree at root that people write for ken. It follows no link out of root.
func ReadFile(root, name string) ([]byte, error) {
	// Most repositories do not have the file: check with one system call before opening anything.
	info, err := os.Lstat(root + "/" + name)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist // .ken is a file of another program
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("larger than %d bytes", maxBytes)
	}
	return b, err
}

// Parse reads the text of a configuration into s. After an error, s may have some of the values.
func Parse(b []byte, s Sections) error {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return malformed(err)
	}
	if err := s.Validate(); err != nil {
		return malformed(atGlob(b, err))
	}
	return nil
}

// A Whole is a whole number from 0. The YAML decoder would accept 1.5 as 1.
type Whole int

// UnmarshalYAML accepts whole numbers from 0.
func (w *Whole) UnmarshalYAML(n *yaml.Node) error { return decodeWhole(n, (*int)(w), 0) }

// A Positive is a whole number from 1, or 0 if it is not set.
type Positive int

// UnmarshalYAML accepts whole numbers from 1.
func (p *Positive) UnmarshalYAML(n *yaml.Node) error { return decodeWhole(n, (*int)(p), 1) }

func decodeWhole(n *yaml.Node, to *int, least int) error {
	if n.ShortTag() != "!!int" || n.Decode(to) != nil || *to < least {
		return fmt.Errorf("line %d: %q is not a whole number of at least %d", n.Line, n.Value, least)
	}
	return nil
}

// atGlob adds the line of a refused glob to an error, as the decoder does.
func atGlob(text []byte, err error) error {
	glob, ok := errors.AsType[*repo.GlobError](err)
	if !ok {
		return err
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil {
		return err
	}
	if line := lineOf(&doc, glob.Glob); line > 0 {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return err
}

// lineOf returns the line of the first scalar with a value, 0 if there is none.
func lineOf(n *yaml.Node, value string) int {
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return n.Line
	}
	for _, child := range n.Content {
		if line := lineOf(child, value); line > 0 {
			return line
		}
	}
	return 0
}

// malformed turns an error of the decoder into the form FILE:LINE: MESSAGE.
func malformed(err error) error {
	// Compile the expressions only in case of an error.
	atLine := regexp.MustCompile(`line (\d+): `)
	notAField := regexp.MustCompile(`field (\S+) not found in type \S+`)
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n"), "yaml: ")
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	place := Name
	if m := atLine.FindStringSubmatch(first); m != nil {
		place += ":" + m[1]
		first = strings.Replace(first, m[0], "", 1)
	}
	first = notAField.ReplaceAllString(first, "unknown field $1")
	return refused(fmt.Errorf("%s: %s", place, first))
}

func refused(err error) error {
	return &fault.Error{Hint: "correct " + Name + ", or move it aside to use the defaults", Err: err}
}
