package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ken/internal/contract"
	"ken/internal/english"
	"ken/internal/repo"
	"ken/internal/term"
	"ken/internal/workflow"
)

// auditLines is the number of entries of a bucket that are listed without --all.
const auditLines = 50

func (p *program) stateAudit(f *stateFlags) *cobra.Command {
	var check, all bool
	c := &cobra.Command{
		Use:   "audit",
		Short: "List the files of the state directory by bucket of the contract",
		Long: `Classifies every entry of the state directory:

  canonical        allowed by its name
  pattern_allowed  allowed by a pattern
  ephemeral        a leftover of an editor or an interrupted write
  ad_hoc           not allowed
  unknown          ken could not inspect it

For an ad_hoc entry ken prints the nearest allowed name, or the line of
.ken/contract.yaml that would allow it. The command moves and writes nothing.`,
		Example: `  ken state audit
  ken state audit --check   # exit 3 if something does not belong there`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				a, err := s.Audit(c.Context())
				if err != nil {
					return err
				}
				if p.io.JSON {
					err = p.encodeAudit(a)
				} else {
					p.printAudit(f, s.Contract(), a, all)
				}
				return failCheck(err, check && a.Counts.NeedsAttention())
			})
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 3 if anything is ad_hoc, ephemeral or unknown")
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("list all entries, not only the first %d of a bucket", auditLines))
	return c
}

// encodeAudit prints an audit entry by entry, since there may be very many.
func (p *program) encodeAudit(a *workflow.Audit) error {
	var lists []term.List
	for _, b := range []contract.Bucket{contract.Canonical, contract.PatternAllowed, contract.Ephemeral, contract.AdHoc, contract.Unknown} {
		at := func(i int) any { return a.Entry(b, i) }
		lists = append(lists, term.List{Name: b.String(), Len: len(a.Buckets[b]), At: at})
	}
	return p.io.EncodeLists(a, "buckets", lists...)
}

func (p *program) printAudit(f *stateFlags, ct *contract.Contract, a *workflow.Audit, all bool) {
	n := a.Counts
	p.io.Printf("%s: %s, %s: %d canonical, %d pattern_allowed, %d ephemeral, %d ad_hoc, %d unknown\n",
		a.Dir, english.Count(n.Total, "entry"), term.Bytes(a.TotalBytes), n.Canonical, n.PatternAllowed, n.Ephemeral, n.AdHoc, n.Unknown)
	now := time.Now()
	tones := map[contract.Bucket]term.Tone{
		contract.AdHoc: term.Bad, contract.Ephemeral: term.Warn, contract.Unknown: term.Bad,
		contract.PatternAllowed: term.Plain, contract.Canonical: term.Good,
	}
	for _, b := range []contract.Bucket{contract.AdHoc, contract.Unknown, contract.Ephemeral, contract.PatternAllowed, contract.Canonical} {
		for i, e := range a.Buckets[b] {
			if i == auditLines && !all {
				p.io.Printf("… and %d more %s; list them with --all\n", len(a.Buckets[b])-i, b)
				break
			}
			why := "ken could not inspect it"
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
		p.io.Remarkf("hint: list what cleanup would move with: %s", p.addDirFlags(f, "ken state cleanup"))
	}
}

// advice returns a suggestion for an ad_hoc entry.
func advice(ct *contract.Contract, name string, dir bool) string {
	if f, known := ct.File(name); known {
		if f.Dir {
			return "expected a directory"
		}
		return "expected a file"
	}
	if dir {
		return "not in the contract"
	}
	if near, ok := ct.SuggestFile(name); ok {
		return "did you mean " + near + "?"
	}
	if line := ct.Line(name); line != "" {
		return "allow it in .ken/contract.yaml with " + line
	}
	return "a contract cannot allow this name"
}
