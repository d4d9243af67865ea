package prove

import (
	"regexp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A Task is a query for ken find, made from a commit.
type Task struct {
	Commit repo.ID
	Tree   repo.ID     // the commit whose tree and history are searched: the parent
	Query  string      // the subject
	Files  []repo.Path // the files that the commit changed or deleted
}

// Limits of tasks.
const (
	SampledTasks = 40 // the maximum number of tasks
	taskWords    = 3  // the minimum number of words in a subject
	taskFiles    = 8  // the maximum number of files in a commit: a larger change is not about one place
)

var (
	releaseSubject = regexp.MustCompile(`(?i)^(merge |chore\(release\)|release|bump|revert|v?[0-9]+\.[0-9]+)`)
	pullRequest    = regexp.MustCompile(`\s*\(#[0-9]+\)`)
)

// Tasks returns the tasks of a history, the newest first: at most [SampledTasks], evenly spread. A commit counts
// if its subject has three words or more and is not about a release, a merge or a revert, and if it changed one to
// eight existing files that isCode admits.
func Tasks(h History, isCode func(repo.Path) bool) []Task {
	var tasks []Task
	for _, c := range slices.Backward(h.Commits) {
		if c.Parent.IsZero() || releaseSubject.MatchString(c.Task) || len(strings.Fields(c.Task)) < taskWords {
			continue
		}
		var files []repo.Path
		for _, ch := range c.Changes {
			if ch.Old.Counts && !ch.Old.Absent && isCode(ch.Path) {
				files = append(files, ch.Path)
			}
		}
		if len(files) == 0 || len(files) > taskFiles {
			continue
		}
		tasks = append(tasks, Task{Commit: c.ID, Tree: c.Parent, Query: pullRequest.ReplaceAllString(c.Task, ""), Files: files})
	}
	if len(tasks) <= SampledTasks {
		return tasks
	}
	sampled := make([]Task, SampledTasks)
	for i := range sampled {
		sampled[i] = tasks[i*len(tasks)/SampledTasks]
	}
	return sampled
}

// FindResult counts how many of the changed files the searches found.
type FindResult struct {
	Commits int          `json:"commits"` // the number of tasks
	Files   int          `json:"files"`   // the number of files that they changed
	Ken     SearchResult `json:"ken"`     // by ken find
	Text    SearchResult `json:"text"`    // by a plain text search
}

// SearchResult counts the results of one search.
type SearchResult struct {
	Files int `json:"files"` // changed files among the first ten
	First int `json:"first"` // commits for which the first result is a changed file
}

// Add counts the results of a task: the first ten files of both searches.
func (f *FindResult) Add(t Task, ken, text []repo.Path) {
	f.Commits++
	f.Files += len(t.Files)
	f.Ken.add(t, ken)
	f.Text.add(t, text)
}

func (l *SearchResult) add(t Task, answer []repo.Path) {
	for _, p := range t.Files {
		if slices.Contains(answer, p) {
			l.Files++
		}
	}
	if len(answer) > 0 && slices.Contains(t.Files, answer[0]) {
		l.First++
	}
}
