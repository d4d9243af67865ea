package brief

import (
	"fmt"
	"path"
	"strings"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/project"
	"ken/internal/repo"
)

// RepositoryFacts are the facts about a repository as a whole.
type RepositoryFacts struct {
	Words   []Section // the summary of the root or its own words
	Project *project.Project
	Parts   []Part
	Start   []FileAbout // documents and programs to begin with
	Central []CentralFile
	Tests   []repo.Path
	Stale   []StaleSummary
	History History
}

// Link returns the brief of a symbolic link whose target is no tracked file or directory.
func Link(p repo.Path, about Section) *Brief {
	j := p.JSON()
	b := &Brief{Path: j.Path, PathB64: j.B64, Kind: KindFile}
	b.fit([]*block{{Section: about}}, 0)
	return b
}

// A StaleSummary is a summary of an older content.
type StaleSummary struct {
	Subject string // "summary of PATH"
	Why     string
}

// MostUsed is how many of the most used files the brief of a repository lists.
const MostUsed = 10

// MainParts is the subject of the section with the main directories.
const MainParts = "main parts"

const (
	rootParts = 14
	rootStart = 8
	rootStale = 5
)

// Repository returns the brief of the whole repository.
func Repository(r RepositoryFacts, budget int) *Brief {
	b := &Brief{Path: ".", Kind: KindRepository, Unknown: r.History.unknown()}
	var blocks []*block
	for _, s := range r.Words {
		blocks = append(blocks, &block{Section: s})
	}
	blocks = append(blocks, r.commands()...)
	blocks = append(blocks,
		parts(MainParts, r.Parts, rootParts),
		described("start reading at", r.Start, rootStart),
		instructions(r.Project.Instructions(""), false),
		central("most used files", r.Central, "", MostUsed),
		r.stale(),
	)
	blocks = append(blocks, r.unknownCommands()...)
	for _, k := range r.History.blocks("the repository") {
		if k != nil && strings.HasPrefix(k.Subject, "last") {
			blocks = append(blocks, k)
		}
	}
	b.Unknown = append(b.Unknown, unread(r.Project, "")...)
	b.fit(blocks, budget)
	return b
}

// Empty is the brief of a repository without tracked files.
func Empty() *Brief {
	b := &Brief{Path: ".", Kind: KindRepository}
	b.fit([]*block{{Section: Section{Subject: ".", Verdict: fresh.None.String(), Text: "git tracks no file yet", ByKen: true}}}, 0)
	return b
}

func described(subject string, list []FileAbout, first int) *block {
	k := entries(subject, list)
	k.first = first
	return k
}

// commands lists how to build, test, lint and run the repository, and how to run one test.
func (r *RepositoryFacts) commands() []*block {
	c := r.Project.CommandsFor("")
	list := []*block{
		r.needs(),
		commandIfKnown("install dependencies", c.Install),
		command("build", c.Build),
		command("test", c.Test),
	}
	if one := r.oneTest(); one != nil {
		list = append(list, one)
	}
	list = append(list, command("lint", c.Lint))
	return append(list, commandIfKnown("run", c.Run))
}

// unknownCommands returns a block for each of install and run that ken did not find. Not every repository has these
// commands, so the blocks come after the known commands.
func (r *RepositoryFacts) unknownCommands() []*block {
	c := r.Project.CommandsFor("")
	var list []*block
	if len(c.Install) == 0 {
		list = append(list, unknownBlock("install dependencies", "no manifest lists any or says how"))
	}
	if len(c.Run) == 0 {
		list = append(list, unknownBlock("run", "no manifest names a program"))
	}
	return list
}

// needs lists the languages and tools that the manifests ask for, in one line.
func (r *RepositoryFacts) needs() *block {
	var texts []string
	for _, n := range r.Project.Needs("") {
		texts = append(texts, fmt.Sprintf("%s (%s)", n.Text, at(n.Source, n.Line)))
	}
	if len(texts) == 0 {
		return nil
	}
	text := strings.Join(texts, ", ")
	return factBlock("needs", 1, Item{Text: text, show: text})
}

func commandIfKnown(subject string, list []project.Command) *block {
	if len(list) == 0 {
		return nil
	}
	return command(subject, list)
}

func command(subject string, list []project.Command) *block {
	if len(list) == 0 {
		return unknownBlock(subject, "no manifest says how")
	}
	items := make([]Item, len(list))
	for i, c := range list {
		items[i] = Item{Command: c.Run, Source: source(c), show: fault.WithRemark(c.Run, source(c))}
	}
	return factBlock(subject, len(items), items...)
}

// oneTest says how to run one test file, with an example for up to two sorts of tests.
func (r *RepositoryFacts) oneTest() *block {
	var items []Item
	seen := make(map[string]bool)
	sorts := make(map[string]int)
	for _, t := range r.Tests {
		sorts[path.Ext(string(t))]++
	}
	for _, t := range shallowestFirst(r.Tests) {
		ext := path.Ext(string(t))
		if seen[ext] || sorts[ext]*10 < len(r.Tests) {
			continue
		}
		c, ok, note := r.Project.TestCommand(t)
		if !ok || note != "" {
			continue
		}
		seen[ext] = true
		items = append(items, Item{Command: c.Run, Source: source(c), show: fault.WithRemark(c.Run, name(t))}.at(t))
		if len(items) == 2 {
			break
		}
	}
	if len(items) == 0 {
		return nil
	}
	return factBlock("run one test file, for example", len(items), items...)
}

// stale lists the summaries of older contents.
func (r *RepositoryFacts) stale() *block {
	items := make([]Item, len(r.Stale))
	for i, s := range r.Stale {
		show := s.Subject
		if s.Why != "" {
			show += ": " + s.Why
		}
		items[i] = Item{Text: s.Why, Names: []string{s.Subject}, show: show}
	}
	return factBlock("stale texts", rootStale, items...)
}
