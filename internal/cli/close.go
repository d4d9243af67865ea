package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) close() *cobra.Command {
	var rev, file string
	c := &cobra.Command{
		Use:   "close",
		Short: "End a piece of work: keep its summaries, list what lacks one, verify, advance",
		Long: `What an agent calls after its commit. The given summaries are kept; the paths
of the commit that still lack one are listed with their content ids; everything
since the last verification is verified; and only then last_verified_sha
advances.

Updates are JSON: [{"path": "…", "summary": "…", "read": "content id or md5"}],
or {"path": "…", "keep": true} where the text still holds.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var updates []registry.Update
			if file != "" {
				b, err := readInput(p.io.In, file)
				if err != nil {
					return err
				}
				if updates, err = parseUpdates(b); err != nil {
					return usage(c, fmt.Errorf("updates in %s: %w", file, err))
				}
			}
			return p.within(c.Context(), func(w Workspace) error {
				for i, u := range updates {
					path, err := w.RootPath(string(u.Path))
					if err != nil {
						updates[i].Refused = err.Error()
						continue
					}
					updates[i].Path = path
				}
				out, err := w.Registry().Close(c.Context(), registry.CloseOptions{Rev: rev, Updates: updates})
				if err != nil {
					return err
				}
				err = p.printClosing(out)
				if said := w.AfterClose(c.Context()); said != "" {
					p.io.Remarkf("ken: %s", plain(said))
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&rev, "commit", "", "the commit to close (default HEAD)")
	c.Flags().StringVarP(&file, "file", "F", "", "read updates from `FILE`, - for standard input")
	return c
}

func parseUpdates(b []byte) ([]registry.Update, error) {
	var in []struct {
		repo.PathJSON
		Summary string `json:"summary"`
		Read    string `json:"read"`
		Keep    bool   `json:"keep"`
	}
	b = bytes.TrimPrefix(b, []byte("\uFEFF"))
	if !utf8.Valid(b) {
		return nil, errors.New("not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err := dec.Decode(&in)
	if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
		return nil, errors.New(`want an array like [{"path": "…", "summary": "…", "read": "…"}]`)
	}
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("one JSON array is wanted, and there is more behind it")
	}
	out := make([]registry.Update, len(in))
	for i, u := range in {
		path, err := u.Raw()
		if err != nil {
			return nil, err
		}
		out[i] = registry.Update{Path: path, Text: u.Summary, Read: u.Read, Keep: u.Keep}
		if strings.ContainsRune(u.Summary, utf8.RuneError) && !bytes.ContainsRune(b, utf8.RuneError) {
			out[i].Refused = "the text has half a surrogate pair in it"
		}
	}
	return out, nil
}

func (p *program) printClosing(out *registry.Closing) error {
	rejected := false
	for _, w := range out.Updated {
		rejected = rejected || w.Result == registry.Rejected
	}
	if p.io.JSON {
		if err := p.io.Encode(out); err != nil {
			return err
		}
	} else {
		p.io.Line(term.Plain, "closed", name(out.Commit), "last verified "+name(out.LastVerified))
		if out.Unknown != "" {
			p.io.Line(term.Bad, "unknown", "what the commit touched", out.Unknown)
		}
		if err := p.printWritten(out.Updated, false); err != nil && !rejected {
			return err
		}
		for _, n := range out.NeedsSummary {
			p.io.Line(term.Warn, "needs", display(n.PathJSON), "summary "+n.Summary.String()+", content "+name(n.ID))
		}
		if len(out.NeedsSummary) > 0 {
			p.io.Remarkf("hint: ken summary set PATH --read ID -m TEXT, or where the old text holds: ken confirm PATH")
		}
	}
	if rejected {
		return &fault.Error{Err: fmt.Errorf("some summaries were rejected; the others were kept")}
	}
	return nil
}

// name is an id in full, or that there is none.
func name(id repo.ID) string {
	if id.IsZero() {
		return "none"
	}
	return id.String()
}
