package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/contract"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/workflow"
)

// auditLines is how many entries of a bucket are listed unless all are asked for.
const auditLines = 50

func (p *program) stateAudit(f *stateFlags) *cobra.Command {
	var check, all bool
	c := &cobra.Command{
		Use:   "audit",
		Short: "Say which bucket of the contract each entry is in; move nothing",
		Long: `Classifies every entry of the state directory: canonical (allowed by its name),
pattern_allowed (by a pattern), ephemeral (a leftover), ad_hoc (by nothing), or
unknown (it could not be inspected). For what is foreign it names the nearest legal
name, or the line that would allow it. Nothing is moved or written.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s StateSpace) error {
				a, err := s.Keeper().Audit(c.Context())
				if err != nil {
					return err
				}
				if p.io.JSON {
					if err := p.encodeAudit(a); err != nil {
						return err
					}
				} else {
					p.printAudit(f, s.Keeper().Contract(), a, all)
				}
				if check && a.Counts.Wanting() {
					return errWanting
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if anything is ad_hoc, ephemeral or unknown")
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("list every entry, not only the first %d of a bucket", auditLines))
	return c
}

// encodeAudit prints an audit whose entries may be as many as a disk holds.
func (p *program) encodeAudit(a *workflow.Audit) error {
	var lists []term.List
	for _, b := range []contract.Bucket{contract.Canonical, contract.PatternAllowed, contract.Ephemeral, contract.AdHoc, contract.Unknown} {
		entries := a.Buckets[b]
		lists = append(lists, term.List{Name: b.String(), Len: len(entries), At: func(i int) any { return workflow.Shown(entries[i]) }})
	}
	return p.io.EncodeLists(a, "buckets", lists...)
}

func (p *program) printAudit(f *stateFlags, ct *contract.Contract, a *workflow.Audit, all bool) {
	n := a.Counts
	p.io.Printf("%s: %s, %s: %d canonical, %d pattern_allowed, %d ephemeral, %d ad_hoc, %d unknown\n",
		a.Dir, entries(n.Total), term.Bytes(a.TotalBytes), n.Canonical, n.PatternAllowed, n.Ephemeral, n.AdHoc, n.Unknown)
	now := time.Now()
	tones := map[contract.Bucket]term.Tone{
		contract.AdHoc: term.Bad, contract.Ephemeral: term.Warn, contract.Unknown: term.Bad,
		contract.PatternAllowed: term.Plain, contract.Canonical: term.Good,
	}
	for _, b := range []contract.Bucket{contract.AdHoc, contract.Unknown, contract.Ephemeral, contract.PatternAllowed, contract.Canonical} {
		for i, e := range a.Buckets[b] {
			if i == auditLines && !all {
				p.io.Printf("… and %d more that are %s; see them with --all\n", len(a.Buckets[b])-i, b)
				break
			}
			why := "cannot be inspected"
			switch {
			case e.IsDir():
				why = "a directory, " + term.Age(now, e.ModTime)
			case e.Err == nil:
				why = fmt.Sprintf("%s, %s", term.Bytes(e.Size), term.Age(now, e.ModTime))
			}
			if b == contract.AdHoc {
				why += "; " + advice(ct, e.Name, e.IsDir())
			}
			p.io.Line(tones[b], b.String(), repo.Path(e.Name).String(), why)
		}
	}
	if n.AdHoc+n.Ephemeral > 0 {
		p.io.Remarkf("hint: see what would be archived with: %s", p.here(f, "ken state cleanup "))
	}
}

// advice says what to do about an entry that nothing allows.
func advice(ct *contract.Contract, name string, dir bool) string {
	if f, known := ct.File(name); known {
		if f.Dir {
			return "a directory belongs there"
		}
		return "a file belongs there"
	}
	if dir {
		return "the contract does not know it"
	}
	if near, ok := ct.Nearest(name); ok {
		return "the nearest legal name is " + near
	}
	if line := ct.Line(name); line != "" {
		return "allow it in .ken/contract.yaml with " + line
	}
	return "no contract can allow such a name"
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
