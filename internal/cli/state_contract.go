package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/contract"
	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) stateContract(f *stateFlags) *cobra.Command {
	var asYAML, schema bool
	c := &cobra.Command{
		Use:   "contract",
		Short: "Print the contract: all allowed names and patterns",
		Long: `Prints the contract in force: the default contract, with what .ken/contract.yaml adds.
It lists the files by group, the patterns, and the keys of the workflow document.
With --schema it prints the JSON Schema of that file, for editors.`,
		Example: `  ken state contract
  ken state contract --yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if schema && (asYAML || p.io.JSON) || asYAML && p.io.JSON {
				return usageError(c, errors.New("choose one of --json, --yaml and --schema"))
			}
			if schema {
				p.io.Printf("%s", contract.JSONSchema())
				return nil
			}
			return p.withContract(c, f, func(s *workflow.Manager) error {
				ct := s.Contract()
				switch {
				case p.io.JSON:
					return p.io.Encode(ct)
				case asYAML:
					text, err := ct.YAML()
					p.io.Printf("%s", text)
					return err
				default:
					p.printContract(ct)
					return nil
				}
			})
		},
	}
	c.Flags().BoolVar(&asYAML, "yaml", false, "print the contract as YAML")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of .ken/contract.yaml")
	return c
}

// printContract prints the contract: the files by group, then the patterns and the keys
// of the workflow document.
func (p *program) printContract(ct *contract.Contract) {
	var sections []contractSection
	for _, g := range ct.Groups {
		s := contractSection{title: g.Title, tone: term.Good, verdict: contract.Canonical.String()}
		for _, f := range ct.Files {
			if f.Group == g.Name {
				s.add(f.Name, fileNotes(f))
			}
		}
		sections = append(sections, s)
	}
	allowed := contractSection{title: "Patterns", tone: term.Plain, verdict: contract.PatternAllowed.String()}
	for _, pt := range ct.Patterns {
		allowed.add(pt.Pattern, patternNotes(pt))
	}
	ephemeral := contractSection{title: "Temporary files", tone: term.Dim, verdict: contract.Ephemeral.String()}
	for _, pt := range ct.Ephemeral {
		ephemeral.add(pt.Pattern, patternNotes(pt))
	}
	keys := contractSection{title: "Keys of the workflow document", tone: term.Plain, verdict: "key"}
	for _, k := range ct.Keys {
		notes := []string{string(k.Type)}
		notes = appendNote(notes, "one of ", k.Enum...)
		notes = appendNote(notes, "starts as ", k.Initial)
		keys.add(k.Name, notes)
	}
	before := ""
	for _, s := range append(sections, allowed, ephemeral, keys) {
		if len(s.names) == 0 {
			continue
		}
		p.io.Printf("%s%s\n", before, term.Clean(s.title))
		before = "\n"
		for i, name := range s.names {
			if s.notes[i] != "" {
				name = fmt.Sprintf("%-*s", s.width, name)
			}
			p.io.Line(s.tone, s.verdict, name, s.notes[i])
		}
	}
}

// A contractSection lists names, each with what the contract says about it.
type contractSection struct {
	title   string
	tone    term.Tone
	verdict string
	names   []string
	notes   []string
	width   int // of the longest name that is not too long for a column
}

func (s *contractSection) add(name string, notes []string) {
	const column = 30
	if len(name) <= column {
		s.width = max(s.width, len(name))
	}
	s.names = append(s.names, name)
	s.notes = append(s.notes, strings.Join(notes, "; "))
}

func fileNotes(f contract.Entry) []string {
	var notes []string
	notes = appendNote(notes, "", f.Purpose)
	notes = appendNote(notes, "written by ", f.Writer)
	if f.Dir {
		notes = append(notes, "a directory")
	}
	if f.Exempt {
		notes = append(notes, "survives reset")
	}
	notes = appendNote(notes, "", evictNote(f.Evict))
	notes = appendNote(notes, "status ", f.Status...)
	notes = appendNote(notes, "sidecar ", f.Sidecar)
	if f.Schema == nil {
		return notes
	}
	notes = appendNote(notes, "requires ", f.Schema.Required...)
	notes = appendNote(notes, "recommends ", f.Schema.Recommended...)
	for _, field := range slices.Sorted(maps.Keys(f.Schema.Enums)) {
		notes = appendNote(notes, field+" ", f.Schema.Enums[field]...)
	}
	return notes
}

func patternNotes(p contract.Pattern) []string {
	var notes []string
	notes = appendNote(notes, "", p.Use)
	notes = appendNote(notes, "e.g. ", p.Example)
	notes = appendNote(notes, "", evictNote(p.Evict))
	return appendNote(notes, "content as in ", p.Base)
}

// evictNote says when a file moves to the archive, "" if it never does.
func evictNote(e contract.Evict) string {
	switch e {
	case contract.Always:
		return "archived when another workflow starts"
	case contract.Scoped:
		return "archived when another workflow starts, unless the current session wrote it"
	case contract.Stays:
	}
	return ""
}

// appendNote appends the words that are not empty as one note.
func appendNote(notes []string, before string, words ...string) []string {
	text := strings.Join(words, ", ")
	if text == "" {
		return notes
	}
	return append(notes, before+text)
}
