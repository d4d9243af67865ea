package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"ken/internal/attention"
	"ken/internal/board"
	"ken/internal/english"
	"ken/internal/repo"
)

// A homeBody has the values of the home page.
type homeBody struct {
	*boardSummary
	Items   []homeItem
	Total   int      // items, also those that are not listed
	Reading []string // parts that are not read yet
	Steps   []step   // the first steps in a repository without summaries
}

// A homeItem is one thing that needs attention.
type homeItem struct {
	attention.Item
	ID      string       // of its element
	Page    template.URL // of its subject, "" without one
	Patch   template.URL // of the change behind it, "" without one
	Open    string       // the label of that change
	Command string
	Ago     string
	Entry   *repo.PathJSON // the name of a file that can be moved away
	// More is the number of items of the same kind after this one that are not listed.
	More     int
	MorePage template.URL
}

// A step is something to do first.
type step struct{ Title, Text, Command string }

// maxItems is the number of items of a kind that the home page lists.
const maxItems = 20

// homePage lists what needs the user, and says how the parts of the repository stand.
func (s *Server) homePage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "home", "Home")
	if err != nil || f.Tree == nil {
		return f, err
	}
	list := attention.List(f.Board)
	f.Body = &homeBody{
		boardSummary: summarize(f.Tree), Items: f.homeItems(list, time.Now()), Total: len(list), Reading: readingParts(f.Board, f.Tree), Steps: firstSteps(f.Tree),
	}
	return f, nil
}

// homeItems returns the first items of each kind.
func (pd *pageData) homeItems(list []attention.Item, now time.Time) []homeItem {
	var out []homeItem
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Kind == list[0].Kind {
			n++
		}
		for _, it := range list[:min(n, maxItems)] {
			out = append(out, pd.homeItem(it, now))
		}
		if n > maxItems {
			last := &out[len(out)-1]
			last.More, last.MorePage = n-maxItems, pd.Link(morePages[last.Kind])
		}
		list = list[n:]
	}
	return out
}

// morePages list everything of a kind.
var morePages = map[attention.Kind]string{
	attention.Stale: "/files", attention.Mention: "/documents", attention.Drift: "/specs", attention.Broken: "/specs",
	attention.Collision: "/worktrees", attention.Foreign: "/state", attention.Failed: "/map", attention.Untrusted: "/worktrees", attention.Unknown: "/files",
}

func (pd *pageData) homeItem(it attention.Item, now time.Time) homeItem {
	out := homeItem{Item: it, ID: itemID(&it), Page: pd.itemPage(&it), Command: pd.Command(it.Command), Ago: ago(it.Since.At, now)}
	if it.Directory && it.Path == "" {
		out.Subject = "the repository"
	}
	switch it.Kind {
	case attention.Stale:
		out.Patch, out.Open = pd.Link("/attention/summary", "path", dirPath(&it), "of", pd.contentOf(&it)), "Show the change"
	case attention.Drift:
		out.Patch, out.Open = pd.Link("/attention/drift", "spec", it.Spec, "of", pd.Tree.Head.Short()), "Show the commits"
	case attention.Mention:
		out.Patch, out.Open = pd.Link("/attention/mention", "path", it.Path, "line", it.Line, "name", it.Name), "Show the line"
	case attention.Foreign:
		j := repo.Path(it.Name).JSON()
		out.Entry = &j
	default: // a command settles it
	}
	return out
}

// contentOf returns a word that changes with the content of an item, so that the page
// loads its patch again.
func (pd *pageData) contentOf(it *attention.Item) string {
	if it.Directory {
		return pd.Tag
	}
	if it.Content.IsZero() {
		return ""
	}
	return it.Content.Short()
}

// dirPath returns the path of an item for a query. The root is a dot, because an empty
// value would be left out.
func dirPath(it *attention.Item) repo.Path {
	if it.Path == "" {
		return "."
	}
	return it.Path
}

// itemID returns an id that an item keeps while its subject and kind stay the same.
func itemID(it *attention.Item) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %q", it.Kind, it.Word, it.Subject, it.Name))
	return "item-" + hex.EncodeToString(sum[:8])
}

// itemPage returns the address of the page about an item's subject.
func (pd *pageData) itemPage(it *attention.Item) template.URL {
	switch {
	case it.Kind == attention.Mention:
		return pd.Link("/documents")
	case it.Kind == attention.Foreign || it.Name != "":
		return pd.Link("/state")
	case it.Spec != "":
		return pd.Node(it.Spec)
	case it.Directory:
		return pd.Directory(it.Path)
	case it.Path != "":
		return pd.File(it.Path, 0)
	case it.Kind == attention.Unknown && partPages[it.Subject] != "":
		return pd.Link(partPages[it.Subject])
	default:
		return ""
	}
}

// partPages are the pages of the parts that an unknown item can name.
var partPages = map[string]string{
	"files": "/files", "directories": "/map", "documents": "/documents", "specs": "/specs", "worktrees": "/worktrees", "workflow": "/state",
}

// ago says how long ago a time was; "" for the zero time.
func ago(t, now time.Time) string {
	const day = 24 * time.Hour
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return english.Count(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return english.Count(int(d/time.Hour), "hour") + " ago"
	case d < 60*day:
		return english.Count(int(d/day), "day") + " ago"
	case d < 2*365*day:
		return english.Count(int(d/(30*day)), "month") + " ago"
	default:
		return english.Count(int(d/(365*day)), "year") + " ago"
	}
}

// readingParts names the parts of a board that are not read yet.
func readingParts(b *board.Board, w *board.Worktree) []string {
	var list []string
	add := func(read bool, name string) {
		if !read {
			list = append(list, name)
		}
	}
	add(w.Files.Ready(), "files")
	add(w.Survey.Ready(), "directories")
	add(w.Spec.Ready(), "specs")
	add(w.Documents.Ready(), "documents")
	add(w.State.Ready(), "the state directory")
	add(b.Proposals.Ready(), "worktrees")
	return list
}

// firstSteps returns the first steps for a repository without summaries; nil for others.
func firstSteps(w *board.Worktree) []step {
	files, dirs := w.Files.Known, w.Survey.Known
	if files == nil || dirs == nil {
		return nil
	}
	c, d := files.Counts, dirs.Summaries
	if c.Fresh+c.Stale+c.Unknown+d.Fresh+d.Stale+d.Unknown > 0 {
		return nil
	}
	install := step{"Connect your agent", "ken answers Claude Code, Codex, Cursor and others through MCP, and tells them what changed.", "ken install claude"}
	if len(files.MapFiles) == 0 {
		return []step{{"Add a file", "ken reads the files that git tracks. There are none yet.", "git add FILE"}, install}
	}
	return []step{
		{"Write the first summary", "One or two sentences about a file. ken says when the file changes after them. Agents can write summaries too.", "ken summary set " + pathArg(firstFile(files)) + " -m TEXT"},
		{"Read the repository", "ken outlines every directory, and prints what this repository is, how to build and test it, and what needs attention.", "ken up"},
		install,
	}
}

// firstFile returns the file to summarise first: a file named main, else a readme, at the root if
// possible.
func firstFile(f *board.Files) repo.Path {
	best, worth := f.MapFiles[0].Path, -1
	for _, l := range f.MapFiles {
		name := strings.ToLower(path.Base(string(l.Path)))
		n := 0
		if !strings.Contains(string(l.Path), "/") {
			n++
		}
		switch {
		case strings.HasPrefix(name, "main."):
			n += 4
		case strings.HasPrefix(name, "readme"):
			n += 3
		}
		if strings.HasPrefix(string(l.Path), ".") {
			n = 0
		}
		if n > worth {
			best, worth = l.Path, n
		}
	}
	return best
}
