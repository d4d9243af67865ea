package cli

import (
	"errors"
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
		Long: `Prints the contract in force: the default contract, extended by .ken/contract.yaml.
With --schema it prints the JSON Schema of that file, for editors.`,
		Example: `  ken state contract
  ken state contract --yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if schema && (asYAML || p.io.JSON) || asYAML && p.io.JSON {
				return usage(c, errors.New("choose one of --json, --yaml and --schema"))
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

func (p *program) printContract(ct *contract.Contract) {
	for _, f := range ct.Files {
		p.io.Line(term.Good, contract.Canonical.String(), f.Name, strings.Join(fileNotes(f), "; "))
	}
	for _, pt := range ct.Patterns {
		p.io.Line(term.Plain, contract.PatternAllowed.String(), pt.Pattern, "e.g. "+pt.Example)
	}
	for _, pt := range ct.Ephemeral {
		p.io.Line(term.Dim, contract.Ephemeral.String(), pt.Pattern, "e.g. "+pt.Example)
	}
}

func fileNotes(f contract.File) []string {
	notes := []string{f.Purpose}
	if f.Exempt {
		notes = append(notes, "survives reset")
	}
	if len(f.Status) > 0 {
		notes = append(notes, "status "+strings.Join(f.Status, ", "))
	}
	return notes
}
