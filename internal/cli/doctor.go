package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/ken"
	"ken/internal/permission"
	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) doctor() *cobra.Command {
	f := &stateFlags{}
	var check bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the set-up, and print how to fix each finding",
		Example: `  ken doctor           # print findings, each with a command
  ken doctor --check   # exit 3 if there is a finding`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d := &diagnosis{}
			noConfig, err := p.diagnose(c, f, d)
			if err != nil {
				return err
			}
			if noConfig {
				p.io.Remarkf("ken: the state directory was not checked, because the configuration that names it cannot be read")
			} else {
				err = p.inState(c, f, func(s *workflow.Manager) error {
					found, err := s.Findings(c.Context())
					d.findings = append(found, d.findings...)
					return err
				})
				if err != nil {
					return err
				}
			}
			if !noConfig && f.dir == "" {
				d.findings = append(d.findings, p.specFindings(c.Context())...)
			}
			return failCheck(p.printDiagnosis(d), check && slices.ContainsFunc(d.findings, workflow.Finding.IsProblem))
		},
	}
	f.bind(c.Flags())
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is a finding that is not only information")
	return c
}

// A diagnosis is the result of ken doctor.
type diagnosis struct {
	findings  []workflow.Finding
	clients   []install.ClientStatus // with entries of ken
	addresses []permission.Permission
}

// diagnose adds the findings about the set-up. noConfig says that the configuration, which names
// the state directory, cannot be read.
func (p *program) diagnose(c *cobra.Command, f *stateFlags, d *diagnosis) (noConfig bool, err error) {
	if f.dir != "" { // the user asks about that directory, not about a repository
		return false, nil
	}
	facts, ok, err := p.Diagnose(c.Context(), p.dir)
	if err != nil || !ok {
		return false, err
	}
	for _, found := range facts.Findings() {
		d.findings = append(d.findings, workflow.Finding{Code: found.Code, Problem: found.What, Fix: found.Mend})
	}
	d.addresses = facts.Addresses
	for _, s := range facts.Clients {
		if s.Parts > 0 {
			d.clients = append(d.clients, s)
		}
	}
	return facts.Config != nil, nil
}

// specFindings returns the problems of specs. Outside of a repository there are none.
func (p *program) specFindings(ctx context.Context) []workflow.Finding {
	var list []workflow.Finding
	err := p.withRepository(ctx, func(w *ken.Repository) error {
		l, err := w.Spec().List(ctx)
		if err != nil {
			return err
		}
		for i := range l.Nodes {
			for _, problem := range l.Nodes[i].Problems {
				list = append(list, workflow.Finding{Code: "SPEC_PROBLEM", Problem: l.Nodes[i].ID + ": " + problem.Message, Fix: problem.Fix})
			}
		}
		return nil
	})
	if err != nil && fault.KindOf(err) != fault.NoRepo {
		p.io.Remarkf("ken: could not check the specs: %s", term.Clean(err.Error()))
	}
	return list
}

// printDiagnosis prints a diagnosis.
func (p *program) printDiagnosis(d *diagnosis) error {
	if p.io.JSON {
		return p.io.Encode(struct {
			Findings  []workflow.Finding     `json:"findings"`
			Clients   []install.ClientStatus `json:"clients"`
			Addresses []addressJSON          `json:"addresses"`
		}{append([]workflow.Finding{}, d.findings...), append([]install.ClientStatus{}, d.clients...), describeAddresses(d.addresses)})
	}
	for _, f := range d.findings {
		p.io.Line(term.Warn, f.Code, term.CleanText(oneLine(f.Problem)), "")
		if f.Fix != "" {
			p.io.Remarkf("hint: %s", term.Clean(f.Fix))
		}
	}
	if len(d.findings) == 0 {
		p.io.Printf("no findings\n")
	}
	if len(d.clients) > 0 {
		p.io.Printf("\nclients with ken installed:\n")
	}
	for _, s := range d.clients {
		what := "hooks"
		if s.Server {
			what = "server"
		}
		p.io.Printf("  %-11s  %-6s  %s\n", s.Client, what, term.Clean(s.Path))
	}
	if len(d.addresses) > 0 {
		p.io.Printf("\naddresses in .ken/config.yaml, and your permissions (see ken allow):\n")
	}
	for _, s := range d.addresses {
		p.io.Printf("  %-7s  %s  %s: %s\n", s.State, term.Clean(s.Address), term.Clean(s.For), term.Clean(s.Sends()))
	}
	return nil
}
