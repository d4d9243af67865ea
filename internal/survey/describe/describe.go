// Package describe writes the text about one directory: as an outline that ken makes itself, or by asking a model.
//
// A [Writer] gets an [Item], which has the files, the subdirectories and the earlier summary of the directory, and returns
// a [Draft]. Package survey decides which directories need a text, in which order, and stores it.
package describe

import (
	"context"

	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Writer describes directories.
type Writer interface {
	// Author returns the name of the writer.
	Author() string
	// Recipe returns the version of the prompt and the model.
	Recipe() string
	// Write describes one directory. The draft has the cost, even if there is an error.
	Write(ctx context.Context, it *Item) (Draft, error)
}

// A Draft is the answer of a writer.
type Draft struct {
	Text    string
	Keep    bool                 // the previous summary is still right; Text is empty
	Files   map[repo.Path]string // summaries of its files
	Partial bool                 // the writer could not finish
	Flags   []store.DirFlag
	Spent   Spent
}

// Severities lists the severities of a flag, the least severe first.
var Severities = []string{"info", "concern", "critical"}

// Spent is the cost of writing.
type Spent struct {
	Usage model.Usage
	Cost  model.Cost
}

// Add returns the sum of both.
func (s Spent) Add(t Spent) Spent { return Spent{s.Usage.Add(t.Usage), s.Cost.Add(t.Cost)} }
