package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/docs"
	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/term"
)

// ignoreDocs settles the stale mentions on a line of a document, and prints what it wrote.
func (p *program) ignoreDocs(c *cobra.Command, place string, dry bool) error {
	at := strings.TrimSuffix(place, ":")
	colon := max(strings.LastIndexByte(at, ':'), 0)
	name := at[:colon]
	line, err := strconv.Atoi(strings.TrimPrefix(at[colon:], ":"))
	if err != nil || line < 1 || name == "" {
		return &fault.Error{
			Kind: fault.Usage, Hint: "list stale mentions with their lines: ken docs",
			Err: fmt.Errorf("--ignore %q: want PATH:LINE, such as docs/guide.md:12", place),
		}
	}
	return p.withRepository(c.Context(), func(w *ken.Repository) error {
		doc, rep, err := checkDocument(c, w, name)
		if err != nil {
			return err
		}
		p.remarkDocs(rep, false)
		list, err := rep.StaleAt(doc, line)
		if err != nil {
			return err
		}
		done, err := w.Documents().Ignore(c.Context(), doc, list, dry)
		if p.io.JSON {
			head := struct {
				DryRun bool `json:"dry_run"`
			}{dry}
			list := term.List{Name: "ignored", Len: len(done), At: func(i int) any { return done[i].JSON() }}
			return errors.Join(p.io.EncodeList(head, list), err)
		}
		form := "%s:%d: ignored: %s — wrote at %s:%d: %s\n"
		if dry {
			form = "%s:%d: would ignore: %s — would write at %s:%d: %s\n"
		}
		for _, i := range done {
			p.io.Printf(form, i.File, i.CheckedMention.Line, term.Clean(i.Mention.Text), i.In, i.Line, term.Clean(i.Text))
		}
		if len(done) > 0 && !dry {
			p.io.Printf("ignored %s; if you remove what ken wrote, ken lists it again\n", english.Count(len(done), "mention"))
		}
		return err
	})
}

// checkDocument checks one document, whose name is relative to the current directory or, as ken prints it, to the root.
func checkDocument(c *cobra.Command, w *ken.Repository, name string) (doc repo.Path, rep *docs.Report, err error) {
	memories := w.Memories("")
	for i := range memories {
		if memories[i].File == name {
			rep, err = w.Documents().Check(c.Context(), docs.Options{Memories: memories[i : i+1]})
			return repo.Path(memories[i].Path()), rep, err
		}
	}
	doc, err = w.Path(name)
	if err == nil {
		rep, err = w.Documents().Check(c.Context(), docs.Options{Paths: []repo.Path{doc}})
	}
	if err == nil {
		return doc, rep, nil
	}
	root, failed := w.RootPath(name)
	if failed != nil || root == doc {
		return "", nil, err
	}
	rep, failed = w.Documents().Check(c.Context(), docs.Options{Paths: []repo.Path{root}})
	if failed != nil {
		return "", nil, err
	}
	return root, rep, nil
}
