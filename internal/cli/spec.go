package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/spec"
)

// spec returns ken spec. Its verbs are built only for a command line that names it,
// as those of ken state are.
func (p *program) spec(args []string) *cobra.Command {
	const name = "spec"
	c := &cobra.Command{
		Use:   name,
		Short: "Read what each part of the system is meant to do, and whether its code moved on",
		Long: `The specs of a repository lie in .spec, a directory to a node, each with a spec.md:
what a part of the system is meant to do, and which code it governs.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	if slices.Contains(args, name) {
		c.AddCommand(p.specList(), p.specHistory(), p.specDiff(), p.specShow(), p.specOwner(), p.specSearch(), p.specGraph(), p.specLint(), p.specNew())
	}
	return c
}

// specNode is a node as documents show it.
type specNode struct {
	ID      string   `json:"id"`
	Parent  *string  `json:"parent"`
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Desc    string   `json:"desc"`
	Status  string   `json:"declared"`
	Code    []string `json:"code"`
	Related []string `json:"related"`
	// Problems are what its author should look at.
	Problems []spec.Problem `json:"problems"`
}

func shownNode(n *spec.Node) specNode {
	out := specNode{
		ID: n.ID, Path: n.Path.String(), Title: n.Title, Desc: n.Desc, Status: n.Declared,
		Code: []string{}, Related: []string{}, Problems: append([]spec.Problem{}, n.Problems...),
	}
	if n.Parent != "" {
		out.Parent = &n.Parent
	}
	for _, e := range n.Code {
		out.Code = append(out.Code, e.Text)
	}
	for _, e := range n.Related {
		out.Related = append(out.Related, e.Text)
	}
	return out
}
