package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/allow"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/statedir"
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
				d.tools, err = p.ToolFiles(c.Context(), statedir.Options{From: p.dir})
				d.toolsKnown = p.reportToolsError(err)
			} else {
				err = p.inState(c, f, func(s *workflow.Manager) error {
					found, err := s.Findings(c.Context())
					d.findings = append(found, d.findings...)
					if err != nil {
						return err
					}
					d.tools, err = p.ToolFiles(c.Context(), statedir.Options{From: p.dir, Dir: f.dir})
					d.toolsKnown = p.reportToolsError(err)
					return nil
				})
				if err != nil {
					return err
				}
			}
			if !noConfig && f.dir == "" {
				d.findings = append(d.findings, p.specFindings(c.Context())...)
			}
			d.dropFilesOfKen()
			return failCheck(p.printDiagnosis(d), check && len(d.findings) > 0)
		},
	}
	f.bind(c.Flags())
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is a finding")
	return c
}

// A diagnosis is the result of ken doctor.
type diagnosis struct {
	findings   []workflow.Finding
	clients    []install.ClientStatus // with entries of ken
	addresses  []allow.Permission
	tools      []install.ToolFiles
	toolsKnown bool // tools was read without an error
	shared     bool // some of the tools have files with entries of ken
}

// dropFilesOfKen removes directories of other tools that contain only files with entries of
// ken. The list of clients has those.
func (d *diagnosis) dropFilesOfKen() {
	d.tools = slices.DeleteFunc(d.tools, func(l install.ToolFiles) bool {
		own := 0
		for _, s := range d.clients {
			if repo.Path(s.Path).Under(l.Path) {
				own++
			}
		}
		only := own > 0 && own == l.Usage.Files && l.Usage.Missed == ""
		d.shared = d.shared || own > 0 && !only
		return only
	})
}

// reportToolsError prints why the files of other tools are unknown, and reports whether they
// are known.
func (p *program) reportToolsError(err error) bool {
	if err != nil {
		p.io.Remarkf("ken: could not list the files of other tools: %s", term.Clean(err.Error()))
	}
	return err == nil
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

// printDiagnosis prints a diagnosis. In JSON, unknown files of other tools are null.
func (p *program) printDiagnosis(d *diagnosis) error {
	if p.io.JSON {
		var litter []toolsJSON
		if d.toolsKnown {
			litter = make([]toolsJSON, len(d.tools))
			for i, l := range d.tools {
				litter[i] = describeTools(l)
			}
		}
		return p.io.Encode(struct {
			Findings  []workflow.Finding     `json:"findings"`
			Clients   []install.ClientStatus `json:"clients"`
			Addresses []addressJSON          `json:"addresses"`
			Litter    []toolsJSON            `json:"litter"`
		}{append([]workflow.Finding{}, d.findings...), append([]install.ClientStatus{}, d.clients...), describeAddresses(d.addresses), litter})
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
	p.printTools(d.tools, d.shared)
	return nil
}

func (p *program) printTools(left []install.ToolFiles, shared bool) {
	if len(left) == 0 {
		return
	}
	but := ""
	if shared {
		but = ", except its own entries"
	}
	p.io.Printf("\nfiles of other tools, which ken does not change%s:\n", but)
	now := time.Now()
	names, wide := make([]string, len(left)), 0
	for i, l := range left {
		names[i] = l.Path.String()
		if l.Usage.Dir {
			names[i] += "/"
		}
		wide = max(wide, len(names[i]))
	}
	for i, l := range left {
		amount := english.Count(l.Usage.Files, "file") + ", " + term.Bytes(l.Usage.Bytes)
		if l.Usage.Missed != "" {
			amount = "at least " + amount + " (" + term.Clean(l.Usage.Missed) + ")"
		}
		age := ""
		if !l.Usage.Touched.IsZero() {
			age = ", changed " + term.Age(now, l.Usage.Touched)
		}
		p.io.Printf("  %-*s  %s: %s; %s, %s%s\n", min(wide, 40), names[i], l.Tool, l.Holds, amount, gitState(l), age)
	}
}

type toolsJSON struct {
	repo.PathJSON
	Tool    string     `json:"tool"`
	Holds   string     `json:"holds"`
	Files   int        `json:"files"`
	Bytes   int64      `json:"bytes"`
	Tracked int        `json:"tracked"`
	Git     string     `json:"git"`
	Touched *time.Time `json:"touched"`
	Missed  string     `json:"missed,omitempty"`
}

func describeTools(l install.ToolFiles) toolsJSON {
	j := toolsJSON{
		PathJSON: l.Path.JSON(), Tool: l.Tool, Holds: l.Holds, Files: l.Usage.Files, Bytes: l.Usage.Bytes,
		Tracked: l.Tracked, Git: gitState(l), Missed: l.Usage.Missed,
	}
	if at := l.Usage.Touched.UTC(); !l.Usage.Touched.IsZero() {
		j.Touched = &at
	}
	return j
}

// gitState says whether git tracks or ignores the files of a tool.
func gitState(l install.ToolFiles) string {
	switch {
	case l.Tracked == 0 && l.Usage.Files == 0 && l.Usage.Missed == "":
		return "empty"
	case l.Tracked == 0 && l.Loose:
		return "untracked"
	case l.Tracked == 0:
		return "ignored"
	case l.Tracked < l.Usage.Files:
		return "partly tracked"
	}
	return "tracked"
}
