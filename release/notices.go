package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticesName is the file with the licences of the linked modules.
const noticesName = "THIRD-PARTY.txt"

// licenceName matches the files of a module that must go with its code.
var licenceName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|copyright|patents)(-[^.]*)?(\.(txt|md))?$`)

// A module is one whose code is in the program.
type module struct{ path, version, dir string }

// notices returns the licences and notices of Go and of all modules that are linked into
// the program for a platform, and where their source is.
func notices(ctx context.Context, p platform, tags string) (file, error) {
	modules, err := linked(ctx, p, tags)
	if err != nil {
		return file{}, err
	}
	goroot, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return file{}, err
	}
	all := append([]module{{path: "Go", dir: goroot}}, modules...)
	var b bytes.Buffer
	b.WriteString("ken contains code of these projects, unchanged. Each has its own licence, which follows.\n\n")
	for _, m := range all {
		fmt.Fprintf(&b, "%s %s\n    source: %s\n", m.path, m.version, m.source())
	}
	for _, m := range all {
		names, err := licences(m.dir)
		if err != nil {
			return file{}, fmt.Errorf("%s: %w", m.path, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(m.dir, name))
			if err != nil {
				return file{}, err
			}
			line := strings.Repeat("=", 79)
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%s\n\n%s\n", line, m.path, m.version, name, line, bytes.TrimSpace(text))
		}
	}
	return file{noticesName, 0o644, b.Bytes()}, nil
}

// source returns the address of a module's source code.
func (m module) source() string {
	if m.version == "" {
		return "https://go.dev/dl/"
	}
	return "https://pkg.go.dev/" + m.path + "@" + m.version
}

// linked lists the modules of the packages in the program, sorted by path.
func linked(ctx context.Context, p platform, tags string) ([]module, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-tags", tags,
		"-f", `{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`, "./cmd/ken")
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the linked modules: %w", err)
	}
	var modules []module
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) == 3 {
			modules = append(modules, module{fields[0], fields[1], fields[2]})
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(modules), nil
}

// licences lists the licence files in the directory of a module. A module without one
// must not be linked.
func licences(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && licenceName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no licence file in %s", dir)
	}
	return names, nil
}
