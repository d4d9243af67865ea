package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) summary() *cobra.Command {
	c := &cobra.Command{
		Use:   "summary",
		Short: "Read and write summaries of files",
		Args:  cobra.NoArgs,
		RunE:  needsSub,
	}
	c.AddCommand(p.summarySet(), p.summaryShow(), p.summaryList())
	return c
}

// needsSub answers a group of commands called without one of them.
func needsSub(c *cobra.Command, _ []string) error {
	names := make([]string, 0, len(c.Commands()))
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return usage(c, fmt.Errorf("%s needs one of: %s", c.CommandPath(), strings.Join(names, ", ")))
}

func (p *program) summarySet() *cobra.Command {
	var text, file, read string
	var b64 []string
	c := &cobra.Command{
		Use:   "set PATH (-m TEXT | -F FILE|-)",
		Short: "Keep a summary of a file, under the content it was written from",
		Long: `Keeps a text for a file. --read names the content id or md5 of the bytes that
the author read; when the file has moved on since, the text is kept for those
bytes (superseded) and never becomes a claim about others. Without --read the
content there now is assumed, and every reader is told so.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("message") == c.Flags().Changed("file") {
				return usage(c, errors.New("give the text with either -m TEXT or -F FILE"))
			}
			if len(args)+len(b64) != 1 {
				return usage(c, errors.New("name one file"))
			}
			if c.Flags().Changed("file") {
				b, err := readInput(p.io.In, file)
				if err != nil {
					return err
				}
				text = string(b)
			}
			return p.within(c.Context(), func(w Workspace) error {
				path, err := onePath(w, args, b64)
				if err != nil {
					return p.outside(args, err)
				}
				written, err := w.Registry().Write(c.Context(), []registry.Update{{Path: path, Text: text, Read: read}})
				if err != nil {
					return err
				}
				return p.printWritten(written, true)
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the `TEXT`")
	c.Flags().StringVarP(&file, "file", "F", "", "read the text from `FILE`, - for standard input")
	c.Flags().StringVar(&read, "read", "", "content `ID` or md5 of the bytes that the author read")
	pathB64(c, &b64)
	return c
}

// maxInput bounds what is read from a file or pipe: enough for any batch of
// summaries, and for telling a text that is too long how long it is.
const maxInput = 64 << 20

func readInput(stdin io.Reader, name string) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Usage, Err: err}
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("read %s: more than %d bytes", name, maxInput)
	}
	return b, err
}

func onePath(w Workspace, args, b64 []string) (repo.Path, error) {
	all, err := paths(w, args, b64)
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// outside answers for a path that leads out of the repository: for programs, a
// rejected update like any other.
func (p *program) outside(args []string, err error) error {
	if !p.io.JSON || len(args) == 0 {
		return err
	}
	w := registry.Written{
		PathJSON: repo.Path(args[0]).JSON(), Result: registry.Rejected, Reason: err.Error(),
	}
	return p.printWritten([]registry.Written{w}, true)
}

// printWritten prints what became of updates, one document for a single one
// when alone is set. A rejected update is a failure, told by its own line.
func (p *program) printWritten(written []registry.Written, alone bool) error {
	if p.io.JSON {
		var doc any = written
		if alone {
			doc = written[0]
		}
		if err := p.io.Encode(doc); err != nil {
			return err
		}
	} else {
		for _, w := range written {
			tone, why := term.Good, w.Reason
			switch w.Result {
			case registry.Rejected:
				tone = term.Bad
			case registry.Superseded:
				tone = term.Warn
			default:
				if w.Assumed {
					why = "assumed: no --read given, so for the content there now"
				}
			}
			p.io.Line(tone, string(w.Result), display(w.PathJSON), why)
		}
	}
	for _, w := range written {
		if w.Result == registry.Rejected {
			return &fault.Error{Err: errors.New("")}
		}
	}
	return nil
}

// display is a document's path as a line shows it.
func display(j repo.PathJSON) string {
	raw, err := j.Raw()
	if err != nil {
		return j.Path
	}
	return raw.String()
}

func (p *program) summaryShow() *cobra.Command {
	var id string
	var check bool
	var b64 []string
	c := &cobra.Command{
		Use:   "show PATH… | --id CONTENT_ID",
		Short: "Show what is known of files, and whether it holds",
		RunE: func(c *cobra.Command, args []string) error {
			if (id != "") == (len(args)+len(b64) > 0) {
				return usage(c, errors.New("name either files or --id CONTENT_ID"))
			}
			return p.within(c.Context(), func(w Workspace) error {
				known, err := p.lookUp(c, w, id, args, b64)
				if err != nil {
					return err
				}
				if err := p.printKnowledge(known); err != nil {
					return err
				}
				for _, k := range known {
					if check && k.Verdict != fresh.Fresh {
						return errWanting
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "find the text written from this content `ID` or md5, wherever it lies or lay")
	c.Flags().BoolVar(&check, "check", false, "exit 3 unless it is fresh")
	pathB64(c, &b64)
	return c
}

func (p *program) lookUp(c *cobra.Command, w Workspace, id string, args, b64 []string) ([]registry.Knowledge, error) {
	if id == "" {
		only, err := paths(w, args, b64)
		if err != nil {
			return nil, err
		}
		return w.Registry().Show(c.Context(), only)
	}
	content, err := parseContent(id)
	if err != nil {
		return nil, usage(c, err)
	}
	k, ok, err := w.Registry().ShowContent(c.Context(), content)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &fault.Error{
			Hint: "list what is known with: ken summary ls",
			Err:  fmt.Errorf("no summary was written from content %s", id),
		}
	}
	return []registry.Knowledge{k}, nil
}

// parseContent reads a content id or md5.
func parseContent(s string) (repo.Content, error) {
	if len(s) == 32 {
		md5, err := repo.ParseMD5(s)
		return repo.Content{MD5: md5}, err
	}
	id, err := repo.ParseID(s)
	return repo.Content{ID: id}, err
}

// printKnowledge prints one document for one file, a list for several.
func (p *program) printKnowledge(known []registry.Knowledge) error {
	if p.io.JSON {
		if len(known) == 1 {
			return p.io.Encode(known[0])
		}
		return p.io.Encode(known)
	}
	for _, k := range known {
		why := strings.Join(k.Reasons, ", ")
		if k.Assumed {
			why = strings.TrimPrefix(why+", assumed", ", ")
		}
		p.io.Line(toneOf(k.Verdict), k.Verdict.String(), display(k.PathJSON), why)
		if k.Text == "" {
			continue
		}
		p.io.Printf("%s\n", k.Text)
		from := k.ID.String()
		if from == "" {
			from = "md5 " + k.MD5.String()
		}
		p.io.Printf("-- %s, %s, from %s\n", k.Author, k.UpdatedAt.Format("2006-01-02 15:04"), from)
	}
	return nil
}

func toneOf(s fresh.State) term.Tone {
	switch s {
	case fresh.Fresh:
		return term.Good
	case fresh.Stale, fresh.Gone:
		return term.Warn
	case fresh.Unknown:
		return term.Bad
	default:
		return term.Dim
	}
}

func (p *program) summaryList() *cobra.Command {
	var states []string
	var b64 []string
	c := &cobra.Command{
		Use:     "ls [PATH…]",
		Aliases: []string{"list"},
		Short:   "List summaries, one line each, with their verdicts",
		RunE: func(c *cobra.Command, args []string) error {
			var want []fresh.State
			for _, s := range states {
				var st fresh.State
				if err := st.UnmarshalText([]byte(s)); err != nil {
					return usage(c, err)
				}
				want = append(want, st)
			}
			return p.within(c.Context(), func(w Workspace) error {
				only, err := paths(w, args, b64)
				if err != nil {
					return err
				}
				l, err := w.Registry().List(c.Context(), only, want)
				if err != nil {
					return err
				}
				if p.io.JSON {
					return p.io.Encode(l)
				}
				for _, k := range l.Entries {
					p.io.Line(toneOf(k.Verdict), k.Verdict.String(), display(k.PathJSON), registry.FirstLine(k.Text))
				}
				return nil
			})
		},
	}
	c.Flags().StringSliceVar(&states, "state", nil, "only those in these states (fresh, stale, none, excluded, unknown); default fresh,stale")
	pathB64(c, &b64)
	return c
}
