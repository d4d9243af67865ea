package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"ken/internal/attention"
	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/ken"
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
	c.Flags().BoolVar(&f.all, "all", false, "list all paths, including unchanged ones")
	c.Flags().BoolVar(&f.untracked, "untracked", false, "list untracked files too")
	c.Flags().BoolVar(&f.check, "check", false, "exit 3 if a summary is stale, gone or unknown, a file is in conflict, or a record is damaged")
	pathB64(c, &f.b64)
}

func (p *program) status() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "status [PATH…]",
		Short: "Say how things stand, and what needs attention",
		Long: `Prints one line each about files, directories, specs, documents and the workflow,
then what needs attention, the most important first, each with the command that
shows or mends it. With paths, or with --all, it lists files.

ken status records nothing; ken verify does. --check looks at files and directories.
Outlines never fail it, because ken makes them again for free.`,
		Example: `  ken                   # the same as ken status
  ken status main.go    # one file
  ken status --check    # for scripts`,
		RunE: func(c *cobra.Command, args []string) error {
			whole := len(args)+len(f.b64) == 0
			return p.report(c.Context(), reportOptions{
				verifyFlags: f, args: args, run: (*registry.Registry).Status, overview: whole, next: "check and describe everything with: ken up",
			})
		},
	}
	f.bind(c)
	return c
}

func (p *program) verify() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify [PATH…]",
		Short: "Compare files with the last check, and record the result",
		Long: `Compares each file with its content at the last check, and records the result. ken
reads only files that changed; --full reads all of them. With paths, ken compares
only those, and last_verified_sha does not change.

--full also reads every record, and removes damaged ones: their content does not match
their hash. ken ignores records dated more than a day in the future, but keeps them.`,
		Example: `  ken verify
  ken verify --check    # for scripts: exit 3 if a summary is stale
  ken verify --full     # read every file and every record`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.report(c.Context(), reportOptions{
				verifyFlags: f, args: args, run: (*registry.Registry).Verify, verifies: true, next: "describe a file with: ken summary set PATH -m TEXT",
			})
		},
	}
	f.bind(c)
	c.Flags().BoolVar(&f.full, "full", false, "read every file and every record, and remove damaged records")
	return c
}

type reportFunc func(*registry.Registry, context.Context, registry.VerifyOptions) (*registry.Report, error)

// reportOptions say which report is made.
type reportOptions struct {
	verifyFlags
	args     []string
	run      reportFunc
	verifies bool   // run records what it finds
	overview bool   // report specs, documents and the workflow too
	next     string // the hint if nothing was ever recorded
}

// report runs status or verify and prints the answer.
func (p *program) report(ctx context.Context, opts reportOptions) error {
	return p.withRepository(ctx, func(w *ken.Repository) error {
		only, err := paths(w, opts.args, opts.b64)
		if err != nil {
			return err
		}
		known := &statusReport{}
		if opts.full {
			if known.Removed, err = unusedOf(w.Store.RemoveUnused(ctx)); err != nil {
				return err
			}
		}
		// People do not read a list of all files, or of all new files.
		short := !p.io.JSON && !opts.all
		known.Report, err = opts.run(w.Registry, ctx, registry.VerifyOptions{
			Full: opts.full, All: opts.all, Untracked: opts.untracked, Paths: only, OmitNew: short, OmitSparse: short,
		})
		if err != nil {
			return err
		}
		if known.Directories, err = w.Surveys().DirCounts(ctx, known.Report, opts.verifies, only); err != nil {
			return err
		}
		if opts.check {
			if known.Unused, err = unusedOf(w.Store.CheckRecords(ctx)); err != nil {
				return err
			}
		}
		if opts.overview {
			if known.Overview, err = p.overview(ctx, w, known, w.Documents().CheckIfFast); err != nil {
				return err
			}
		}
		if p.io.JSON {
			err = p.encodeReport(known)
		} else {
			p.printReport(known, opts)
		}
		return failCheck(err, opts.check && known.failsCheck())
	})
}

// statusReport is the answer of status and verify: the report on files, and the counts of the other texts.
type statusReport struct {
	*registry.Report
	Directories *survey.DirCounts `json:"directories,omitempty"` // absent if no directory was ever described
	Unused      []unused          `json:"unused,omitempty"`      // records that are not used; with --check
	Removed     []unused          `json:"removed,omitempty"`     // of those, the ones that --full has removed
	Overview    *Overview         `json:"overview,omitempty"`    // of status without paths
}

// failsCheck reports whether --check should fail.
func (s *statusReport) failsCheck() bool {
	damaged := slices.ContainsFunc(s.Unused, func(u unused) bool { return errors.Is(u.why, fresh.ErrDamaged) })
	return s.Counts.NeedsAttention() || s.Directories != nil && len(s.Directories.NeedAttention) > 0 || damaged
}

// An unused is a record that is not used.
type unused struct {
	repo.PathJSON
	Directory bool   `json:"directory"`
	Reason    string `json:"reason"`

	label string
	why   error
}

func unusedOf(list []fresh.UnusedRecord, err error) ([]unused, error) {
	var out []unused
	for _, u := range list {
		out = append(out, unused{u.Path.JSON(), u.Directory, u.Why.Error(), u.Label(), u.Why})
	}
	return out, err
}

// encodeReport prints a report verdict by verdict, since there may be very many.
func (p *program) encodeReport(known *statusReport) error {
	head := struct {
		*statusReport
		Verdicts *struct{} `json:"verdicts,omitempty"` // hides the report's own
	}{statusReport: known}
	rep := known.Report
	return p.io.EncodeList(head, term.List{Name: "verdicts", Len: len(rep.Verdicts), At: func(i int) any { return &rep.Verdicts[i] }})
}

func (p *program) printReport(known *statusReport, opts reportOptions) {
	rep := known.Report
	if known.Overview != nil {
		p.printOverview(known, known.Overview, overviewItems)
	} else {
		p.io.Printf("%-12s %s\n", "files", filesLine(rep, opts.verifies))
		if known.Directories != nil {
			p.io.Printf("%-12s %s\n", "directories", directoriesLine(known.Directories))
		}
	}
	if known.Overview == nil || opts.all {
		p.listFiles(known)
	}
	for _, u := range known.Unused {
		p.io.Line(term.Bad, "ignored", u.label, "a record: "+u.Reason)
	}
	for _, u := range known.Removed {
		p.io.Line(term.Warn, "removed", u.label, "a record: "+u.Reason)
	}
	if len(known.Removed) > 0 {
		p.io.Remarkf("hint: bring back what was shared with: ken share pull")
	}
	if rep.Untracked != nil {
		for _, u := range rep.Untracked.Paths {
			if raw, err := u.Raw(); err == nil {
				p.io.Line(term.Dim, "untracked", raw.String(), "")
			}
		}
	}
	if hint := nextStep(rep, opts.next); hint != "" {
		p.io.Remarkf("hint: %s", hint)
	}
}

// listFiles prints a line for each listed path, and for each directory whose summary is stale or unknown.
func (p *program) listFiles(known *statusReport) {
	left := known.Counts.Sparse // files that no line names
	for _, v := range known.Verdicts {
		word, tone, why := describeVerdict(v)
		if v.Content.Reason == fresh.NotCheckedOut {
			left--
		}
		p.io.Line(tone, word, v.RawPath().String(), why)
	}
	if d := known.Directories; d != nil {
		for _, dir := range d.NeedAttention {
			p.io.Line(toneOf(dir.Verdict.State), dir.Verdict.State.String(), dir.Display(), attention.DirectoryWhy(dir))
		}
	}
	if left > 0 {
		p.io.Line(term.Dim, "sparse", counted(left, "file"), "not checked out")
	}
}

// counted is english.Count with commas between thousands.
func counted(n int, noun string) string {
	number := strconv.Itoa(n)
	for i := len(number) - 3; i > 0; i -= 3 {
		number = number[:i] + "," + number[i:]
	}
	return number + " " + english.Noun(n, noun)
}

// describeVerdict returns a verdict in plain words, and the colour of the first word.
func describeVerdict(v registry.FileState) (word string, tone term.Tone, why string) {
	word, why = v.Describe()
	switch word {
	case "fresh":
		tone = term.Good
	case "stale", "gone":
		tone = term.Warn
	case "changed", "none", "excluded", "sparse":
		tone = term.Dim
	case "new":
		tone = term.Plain
	default:
		tone = term.Bad
	}
	return word, tone, why
}

// colon returns a reason with a colon before it, "" for no reason.
func colon(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// hintNoFiles returns a hint for a repository without tracked files.
func hintNoFiles(rep *registry.Report) string {
	if !rep.Head.IsZero() {
		return "the index is empty although there is a commit; restore its files with: git checkout HEAD -- ."
	}
	return "git tracks no files yet; add some with: git add FILE"
}

// nextStep returns a hint for the entry states new and bootstrap, "" for others.
func nextStep(rep *registry.Report, first string) string {
	switch rep.State {
	case registry.StateNew:
		return hintNoFiles(rep)
	case registry.StateBootstrap:
		return first
	default:
		return ""
	}
}
