package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) summaryClose() *cobra.Command {
	var rev, file string
	c := &cobra.Command{
		Use:        "close",
		SuggestFor: []string{"close"},
		Short:      "After a commit: store summaries, list files without one, and check",
		Long: `Agents run ken summary close after a commit. It stores the given summaries, lists the
files of the commit that have no fresh summary, and checks everything that changed
since the last check. last_verified_sha then names this commit.

Updates are JSON: [{"path": "…", "summary": "…", "read": "content id or md5"}], or
{"path": "…", "keep": true} if the old summary still holds.`,
		Example: `  ken summary close
  ken summary close -F updates.json   # with summaries of the files that changed`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var updates []registry.Update
			if file != "" {
				b, err := readInput(p.io.In, file)
				if err != nil {
					return err
				}
				if updates, err = parseUpdates(b); err != nil {
					return usageError(c, fmt.Errorf("updates in %s: %w", file, err))
				}
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				for i, u := range updates {
					path, err := w.RootPath(string(u.Path))
					if err != nil {
						updates[i].Refused = err.Error()
						continue
					}
					updates[i].Path = path
				}
				out, err := w.Registry.Close(c.Context(), registry.CloseOptions{Rev: rev, Updates: updates})
				if err != nil {
					return err
				}
				err = p.printClosing(out)
				if said := w.PushAfterClose(c.Context()); said != "" {
					p.io.Remarkf("ken: %s", term.CleanText(said))
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&rev, "commit", "", "close the commit `REV` (default HEAD)")
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
		return nil, errors.New("expected one JSON array and nothing after it")
	}
	out := make([]registry.Update, len(in))
	for i, u := range in {
		path, err := u.Raw()
		if err != nil {
			return nil, err
		}
		out[i] = registry.Update{Path: path, Text: u.Summary, Read: u.Read, Keep: u.Keep}
		if strings.ContainsRune(u.Summary, utf8.RuneError) && !bytes.ContainsRune(b, utf8.RuneError) {
			out[i].Refused = "the text contains half of a surrogate pair"
		}
	}
	return out, nil
}

func (p *program) printClosing(out *registry.CloseResult) error {
	rejected := slices.ContainsFunc(out.Updated, func(w registry.WriteResult) bool { return w.Result == registry.Rejected })
	if p.io.JSON {
		if err := p.io.Encode(out); err != nil {
			return err
		}
	} else {
		p.io.Line(term.Plain, "closed", idOrNone(out.Commit), "last check at "+idOrNone(out.LastVerified))
		if out.Unknown != "" {
			p.io.Line(term.Bad, "unknown", "files of the commit", out.Unknown)
		}
		for _, w := range out.Updated {
			p.printWrittenLine(w)
		}
		for _, n := range out.NeedsSummary {
			p.io.Line(term.Warn, "needs", n.Display(), "summary "+n.Summary.String()+", content "+idOrNone(n.ID))
		}
		if len(out.NeedsSummary) > 0 {
			p.io.Remarkf("hint: describe a file with: ken summary set PATH --read ID -m TEXT; " +
				"see what changed since the old one: ken summary diff PATH")
		}
	}
	if rejected {
		return &fault.Error{Err: fmt.Errorf("some summaries were rejected; the others are stored")}
	}
	return nil
}

// idOrNone returns an id in full, or "none".
func idOrNone(id repo.ID) string {
	if id.IsZero() {
		return "none"
	}
	return id.String()
}
