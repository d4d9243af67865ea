package spec_test

import (
	"testing"

	"ken/internal/repo"
	"ken/internal/spec/parse"
	"ken/internal/testrepo"
)

func TestMain(m *testing.M) {
	defer testrepo.Isolate()()
	m.Run()
}

// load parses spec files given as path, content, path, content.
func load(pairs ...string) []*parse.Node {
	var files []repo.LoadedFile
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, repo.LoadedFile{Path: repo.Path(pairs[i]), Content: []byte(pairs[i+1])})
	}
	return parse.Load(files)
}
