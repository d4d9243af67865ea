package project

import (
	"encoding/xml"
	"path"
	"strings"

	"ken/internal/manifest"
)

// DescribingManifests are the names of manifests that may describe their directory, as patterns of [path.Match] in
// lower case. If a directory has several, the first one that has a description counts.
var DescribingManifests = []string{
	"package.json", "jsr.json", "deno.json", "composer.json", "cargo.toml", "pyproject.toml", "setup.cfg", "*.gemspec", "pom.xml", "*.csproj", "*.fsproj",
	"pubspec.yaml", "chart.yaml", "action.yml", "action.yaml", "vcpkg.json",
}

// Description returns the description in a manifest with a name, on one line; "" if it has none or cannot be read.
func Description(name string, content []byte) string {
	name = strings.ToLower(name)
	content = []byte(strings.TrimPrefix(string(content), "\uFEFF"))
	switch path.Ext(name) {
	case ".json", ".toml", ".yml", ".yaml":
		return cleanText(documentDescription(name, content))
	case ".cfg":
		text := manifest.ParseINI(content)["metadata"]["description"].Text
		if strings.HasPrefix(text, "file:") {
			return ""
		}
		return cleanText(text)
	case ".gemspec":
		return cleanText(gemDescription(string(content)))
	case ".xml", ".csproj", ".fsproj":
		return cleanText(xmlDescription(content))
	}
	return ""
}

func documentDescription(name string, content []byte) string {
	if len(content) > maxFile {
		return ""
	}
	doc, err := parse(name, content)
	if err != nil {
		return ""
	}
	if root := doc.YAML(); root != nil {
		return manifest.YAMLText(manifest.YAMLAt(root, "description"))
	}
	places := [][]string{{"description"}}
	switch name {
	case "cargo.toml":
		places = [][]string{{"package", "description"}}
	case "pyproject.toml":
		places = [][]string{{"project", "description"}, {"tool", "poetry", "description"}}
	}
	for _, keys := range places {
		if text := doc.Text(keys...); text != "" {
			return text
		}
	}
	return ""
}

func xmlDescription(content []byte) string {
	var in struct {
		Description string   `xml:"description"`               // of Maven
		Project     []string `xml:"PropertyGroup>Description"` // of MSBuild
	}
	if xml.Unmarshal(content, &in) != nil {
		return ""
	}
	if len(in.Project) > 0 {
		return in.Project[0]
	}
	return in.Description
}

var gemLine = lazyRegexp(`(?m)^\s*\w+\.(summary|description)\s*=\s*(?:"([^"\\]*)"|'([^'\\]*)'|%[qQ]?\{([^{}\\]*)\}|%[qQ]?\(([^()\\]*)\))`)

// gemDescription returns the summary of a gem, or its description. It ignores computed texts.
func gemDescription(content string) string {
	found := make(map[string]string)
	for _, m := range gemLine().FindAllStringSubmatch(content, maxNames) {
		if text := strings.Join(m[2:], ""); !strings.Contains(text, "#{") {
			found[m[1]] = text
		}
	}
	if text := found["summary"]; text != "" {
		return text
	}
	return found["description"]
}
