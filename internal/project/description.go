package project

import (
	"encoding/xml"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/repo"
)

var gemDescription = later(`(?m)^\s*\w+\.(?:summary|description)\s*=\s*(?:%q?[({\[<]?\s*)?["']?(.+?)["'\])}>]?\s*$`)

// Description returns the description in the manifest of a directory, and that manifest; "" if none has one.
func (p *Project) Description(dir repo.Path) (string, repo.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range []struct {
		pattern string
		keys    [][]string
	}{
		{"package.json", [][]string{{"description"}}},
		{"jsr.json", [][]string{{"description"}}},
		{"deno.json", [][]string{{"description"}}},
		{"composer.json", [][]string{{"description"}}},
		{"vcpkg.json", [][]string{{"description"}}},
		{"Cargo.toml", [][]string{{"package", "description"}}},
		{"pyproject.toml", [][]string{{"project", "description"}, {"tool", "poetry", "description"}}},
	} {
		doc := p.document(p.first(dir, m.pattern))
		for _, keys := range m.keys {
			if text := cleanText(textAt(doc, keys...)); text != "" {
				return text, join(dir, m.pattern)
			}
		}
	}
	if file := p.first(dir, "setup.cfg"); file != "" {
		if text := cleanText(parseINI(p.text(file))["metadata"]["description"].text); text != "" && !strings.HasPrefix(text, "file:") {
			return text, file
		}
	}
	for _, name := range []string{"pubspec.yaml", "Chart.yaml", "action.yml", "action.yaml"} {
		root, _ := p.document(p.first(dir, name)).(*yaml.Node)
		if text := cleanText(yamlText(yamlAt(root, "description"))); text != "" {
			return text, join(dir, name)
		}
	}
	if read := p.pom(dir); read != nil {
		if text := cleanText(read.Description); text != "" {
			return text, join(dir, "pom.xml")
		}
	}
	if file := p.manifest(dir, "*.gemspec"); file != "" {
		if m := gemDescription().FindSubmatch(p.text(file)); m != nil {
			return cleanText(string(m[1])), file
		}
	}
	if file := p.manifest(dir, "*.csproj"); file != "" {
		var project struct {
			Groups []struct {
				Description string `xml:"Description"`
			} `xml:"PropertyGroup"`
		}
		if xml.Unmarshal(p.text(file), &project) == nil {
			for _, g := range project.Groups {
				if text := cleanText(g.Description); text != "" {
					return text, file
				}
			}
		}
	}
	return "", ""
}
