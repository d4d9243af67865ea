package cli

import (
	"time"

	"github.com/spf13/cobra"

	"ken/internal/litter"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/workflow"
)

func (p *program) doctor() *cobra.Command {
	f := &stateFlags{}
	var check bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what wants attention, and how to mend it; write nothing",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				found, err := s.Keeper().Findings(c.Context())
				if err != nil {
					return err
				}
				left, err := s.Litter(c.Context())
				if err != nil {
					p.io.Remarkf("what other tools keep here is not known: %s", term.Clean(err.Error()))
				}
				if err := p.printDiagnosis(found, left, err == nil); err != nil {
					return err
				}
				if check && len(found) > 0 {
					return errWanting
				}
				return nil
			})
		},
	}
	f.bind(c.Flags())
	c.Flags().BoolVar(&check, "check", false, "exit 3 if there is a finding; what other tools keep is none")
	return c
}

// printDiagnosis prints the findings and what other tools keep, which without
// looked nobody knows: it is null then, and not empty.
func (p *program) printDiagnosis(found []workflow.Finding, left []litter.Found, looked bool) error {
	if p.io.JSON {
		var litter []litterJSON
		if looked {
			litter = make([]litterJSON, len(left))
			for i, l := range left {
				litter[i] = describeLitter(l)
			}
		}
		return p.io.Encode(struct {
			Findings []workflow.Finding `json:"findings"`
			Litter   []litterJSON       `json:"litter"`
		}{append([]workflow.Finding{}, found...), litter})
	}
	for _, f := range found {
		p.io.Line(term.Warn, f.Code, f.What, "")
		if f.Mend != "" {
			p.io.Remarkf("hint: %s", term.Clean(f.Mend))
		}
	}
	if len(found) == 0 {
		p.io.Printf("nothing wants attention\n")
	}
	if len(left) == 0 {
		return nil
	}
	p.io.Printf("\nother tools keep here, and ken leaves alone:\n")
	now := time.Now()
	names, wide := make([]string, len(left)), 0
	for i, l := range left {
		names[i] = l.Path.String()
		if l.Weight.Dir {
			names[i] += "/"
		}
		wide = max(wide, len(names[i]))
	}
	for i, l := range left {
		amount := term.Count(l.Weight.Files, "file") + ", " + term.Bytes(l.Weight.Bytes)
		if l.Weight.Missed != "" {
			amount = "at least " + amount + " (" + term.Clean(l.Weight.Missed) + ")"
		}
		age := ""
		if !l.Weight.Touched.IsZero() {
			age = ", touched " + term.Age(now, l.Weight.Touched)
		}
		p.io.Printf("  %-*s  %s: %s; %s, %s%s\n", min(wide, 40), names[i], l.Tool, l.Holds, amount, standing(l), age)
	}
	return nil
}

type litterJSON struct {
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

func describeLitter(l litter.Found) litterJSON {
	j := litterJSON{
		PathJSON: l.Path.JSON(), Tool: l.Tool, Holds: l.Holds, Files: l.Weight.Files, Bytes: l.Weight.Bytes,
		Tracked: l.Tracked, Git: standing(l), Missed: l.Weight.Missed,
	}
	if at := l.Weight.Touched.UTC(); !l.Weight.Touched.IsZero() {
		j.Touched = &at
	}
	return j
}

// standing says what git makes of something that a tool keeps.
func standing(l litter.Found) string {
	switch {
	case l.Tracked == 0 && l.Weight.Files == 0 && l.Weight.Missed == "":
		return "empty"
	case l.Tracked == 0 && l.Loose:
		return "untracked"
	case l.Tracked == 0:
		return "ignored"
	case l.Tracked < l.Weight.Files:
		return "partly tracked"
	}
	return "tracked"
}
