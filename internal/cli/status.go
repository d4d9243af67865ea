package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/term"
)

type verifyFlags struct {
	full, all, untracked, check bool
	b64                         []string
}

func (f *verifyFlags) bind(c *cobra.Command) {
	c.Flags().BoolVar(&f.all, "all", false, "list every path, not only what is not plainly as it was")
	c.Flags().BoolVar(&f.untracked, "untracked", false, "list untracked files too")
	c.Flags().BoolVar(&f.check, "check", false, "exit 3 if anything known of files or directories is stale, unknown, conflicted or damaged")
	pathB64(c, &f.b64)
}

func (p *program) status() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "status [PATH…]",
		Short: "Say how far what is known can be trusted; write nothing",
		Long: `Decides what a session finds on entry (new, bootstrap, trust or verify, and why)
and lists what does not hold. Reads only what it must to decide, and writes
nothing.

Texts about directories count as those about files do. Outlines do not: they are
made again for free.`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.report(c.Context(), args, f, (*registry.Registry).Status, false, "record what is there with: ken verify")
		},
	}
	f.bind(c)
	return c
}

func (p *program) verify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify [PATH…]",
		Short: "Compare what is known with what is there, and record the result",
		Long: `Compares every row with the content there now, and records the result. Only
changed bytes are read; --full reads all of them. With paths, only those are
compared, and the baseline (last_verified_sha) stays where it is.

--full reads every record as well, and removes those that are not used: their
content does not match their hash, or they are dated more than a day ahead.`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.report(c.Context(), args, f, (*registry.Registry).Verify, true, "describe a file with: ken summary set PATH -m TEXT")
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&f.full, "full", false, "read every file and every record, and remove damaged records")
	return c
}

type reportFunc func(*registry.Registry, context.Context, registry.VerifyOptions) (*registry.Report, error)

// report runs status or verify and prints its answer; first is what to do next
// where nothing was known before.
func (p *program) report(ctx context.Context, args []string, f verifyFlags, run reportFunc, verifies bool, first string) error {
	return p.within(ctx, func(w Workspace) error {
		only, err := paths(w, args, f.b64)
		if err != nil {
			return err
		}
		known := &knowledge{}
		if f.full {
			if known.Removed, err = unusedOf(w.RemoveUnused(ctx)); err != nil {
				return err
			}
		}
		known.Report, err = run(w.Registry(), ctx, registry.VerifyOptions{
			Full: f.full, All: f.all, Untracked: f.untracked, Paths: only,
			// Nobody reads a list of all files, nor of most of them.
			OmitNew: !p.io.JSON && !f.all, OmitSparse: !p.io.JSON && !f.all,
		})
		if err != nil {
			return err
		}
		if known.Directories, err = w.Standings(ctx, known.Report, verifies, only); err != nil {
			return err
		}
		if f.check {
			if known.Unused, err = unusedOf(w.Unused(ctx)); err != nil {
				return err
			}
		}
		if p.io.JSON {
			if err := p.encodeReport(known); err != nil {
				return err
			}
		} else {
			p.printReport(known, first)
		}
		if f.check && known.wanting() {
			return errWanting
		}
		return nil
	})
}

// knowledge is what status and verify tell: of files, and of what else somebody wrote.
type knowledge struct {
	*registry.Report
	Directories *survey.Standings `json:"directories,omitempty"` // absent where nobody ever wrote about one
	Unused      []unused          `json:"unused,omitempty"`      // records that are not used; with --check
	Removed     []unused          `json:"removed,omitempty"`     // of those, the ones that --full has removed
}

// wanting reports whether a check should fail.
func (k *knowledge) wanting() bool {
	damaged := slices.ContainsFunc(k.Unused, func(u unused) bool { return errors.Is(u.why, fresh.ErrDamaged) })
	return k.Counts.Wanting() || k.Directories != nil && len(k.Directories.Wanting) > 0 || damaged
}

// An unused is a record that is not used.
type unused struct {
	repo.PathJSON
	Directory bool   `json:"directory"`
	Reason    string `json:"reason"`

	label string
	why   error
}

func unusedOf(list []fresh.Unused, err error) ([]unused, error) {
	var out []unused
	for _, u := range list {
		out = append(out, unused{u.Path.JSON(), u.Directory, u.Why.Error(), u.Label(), u.Why})
	}
	return out, err
}

// encodeReport prints a report whose verdicts may be as many as there are files.
func (p *program) encodeReport(known *knowledge) error {
	head := struct {
		*knowledge
		Verdicts *struct{} `json:"verdicts,omitempty"` // hides the report's own
	}{knowledge: known}
	rep := known.Report
	return p.io.EncodeList(head, term.List{Name: "verdicts", Len: len(rep.Verdicts), At: func(i int) any { return &rep.Verdicts[i] }})
}

func (p *program) printReport(known *knowledge, first string) {
	rep := known.Report
	p.io.Printf("%s\n", rep.Headline())
	if d := known.Directories; d != nil {
		p.io.Printf("directories %d, texts: %d fresh, %d stale, %d unknown; %d outlined, %d without a text\n",
			d.Directories, d.Fresh, d.Stale, d.Unknown, d.Outlines, d.None)
	}
	left := rep.Counts.Sparse // less those that are listed
	for _, v := range rep.Verdicts {
		word, tone, why := describe(v)
		if v.Verdict == registry.FoundSparse {
			left--
		}
		p.io.Line(tone, word, v.RawPath().String(), why)
	}
	if d := known.Directories; d != nil {
		for _, w := range d.Wanting {
			p.io.Line(toneOf(w.Verdict.State()), w.Verdict.State().String(), display(w.PathJSON), "text about a directory, "+w.Verdict.String()+colon(plain(strings.Join(w.Reasons, ", "))))
		}
	}
	for _, u := range known.Unused {
		p.io.Line(term.Bad, "unused", u.label, "a record: "+u.Reason)
	}
	for _, u := range known.Removed {
		p.io.Line(term.Warn, "removed", u.label, "a record: "+u.Reason)
	}
	if len(known.Removed) > 0 {
		p.io.Remarkf("hint: bring back what was shared with: ken share pull")
	}
	if left > 0 {
		p.io.Line(term.Dim, "sparse", counted(left, "file"), "not checked out")
	}
	if rep.Untracked != nil {
		for _, u := range rep.Untracked.Paths {
			if raw, err := u.Raw(); err == nil {
				p.io.Line(term.Dim, "untracked", raw.String(), "")
			}
		}
	}
	if hint := nextStep(rep, first); hint != "" {
		p.io.Remarkf("hint: %s", hint)
	}
}

// describe puts a verdict into a person's words. What the text is worth comes
// first, since that is what a reader came for; how the file moved says why.
func describe(v registry.Verdict) (word string, tone term.Tone, why string) {
	switch v.Verdict {
	case registry.FoundUnknown, registry.FoundConflicted:
		return v.Verdict.String(), term.Bad, v.Reason
	case registry.FoundMissing:
		return "missing", term.Warn, v.Reason
	case registry.FoundSparse:
		if v.Summary == fresh.Stale {
			return "stale", term.Warn, v.Reason + ", and " + staleFor(v)
		}
		return "sparse", term.Dim, v.Reason
	case registry.FoundNew:
		switch {
		case v.Summary == fresh.Stale:
			return "stale", term.Warn, renamed(v, "; ") + staleFor(v)
		case v.PathChanged != "":
			return "new", term.Plain, renamed(v, ", ") + "summary " + v.Summary.String()
		case v.Summary == fresh.None:
			return "new", term.Plain, ""
		default:
			return "new", term.Plain, "summary " + v.Summary.String() + colon(v.Reason)
		}
	case registry.FoundMismatch:
		if v.Summary == fresh.None || v.Summary == fresh.Excluded {
			// Against what ken saw last, which need not be what git compares with.
			return "changed", term.Dim, "since it was last verified; summary " + v.Summary.String() + colon(v.Reason)
		}
	default:
	}
	switch v.Summary {
	case fresh.Stale:
		return "stale", term.Warn, staleFor(v)
	case fresh.Excluded:
		return "excluded", term.Dim, v.Reason
	case fresh.None:
		return "none", term.Dim, ""
	case fresh.Fresh:
		if v.Restored {
			return "fresh", term.Good, "back to content that is known"
		}
		if v.Grade != "" {
			return "fresh", term.Good, "edited in a way that does not count" + colon(extent(v.Grade))
		}
		return "fresh", term.Good, ""
	default:
		return v.Summary.String(), term.Bad, v.Reason
	}
}

// staleFor says why a text does not hold.
func staleFor(v registry.Verdict) string {
	return "edited since the summary was written" + colon(extent(v.Grade))
}

// renamed says where a file came from, and then sep; nothing of one that was not renamed.
func renamed(v registry.Verdict, sep string) string {
	if v.PathChanged == "" {
		return ""
	}
	return "renamed from " + v.PathBefore().String() + sep
}

// extent names how far something moved, unless nothing finer is known than that it did.
func extent(g fresh.Grade) string {
	if g == fresh.GradeContent {
		return ""
	}
	return string(g)
}

// colon puts a reason behind what it explains.
func colon(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// untracked says how files come to be tracked where none are.
func untracked(rep *registry.Report) string {
	if !rep.Head.IsZero() {
		return "the index is empty, though there is a commit; get its files with: git checkout HEAD -- ."
	}
	return "nothing is tracked yet; track files with: git add FILE"
}

// nextStep is the command that gets a person on from here.
func nextStep(rep *registry.Report, first string) string {
	switch rep.State {
	case registry.StateNew:
		return untracked(rep)
	case registry.StateBootstrap:
		return first
	default:
		return ""
	}
}
