package web

import (
	"context"
	"net/http"
	"slices"

	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/repo"
)

// apiFixDocs corrects the mentions of a document that moved.
func (s *Server) apiFixDocs(w http.ResponseWriter, r *http.Request) {
	var in repo.PathJSON
	err := decode(r, &in)
	var path repo.Path
	if err == nil {
		path, err = in.Raw()
	}
	if err == nil && path == "" {
		err = statusErr(http.StatusBadRequest, "no document given", `send {"path": "docs/guide.md"}`)
	}
	var done any
	if err == nil {
		done, err = s.write(func() (any, error) {
			return s.within(r, func(ctx context.Context, ws Workspace) (any, error) { return fixDocument(ctx, ws, path) })
		})
	}
	s.reply(w, r, done, err, "/")
}

func fixDocument(ctx context.Context, w Workspace, path repo.Path) (any, error) {
	rep, err := w.Docs(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(rep.Documents, func(t docs.Tally) bool { return t.File == path }) {
		return nil, statusErr(http.StatusNotFound, "no tracked document at "+path.String(), "see the documents at /documents")
	}
	fixed, err := w.FixDocs(ctx, rep.Only([]repo.Path{path}))
	if err != nil {
		return nil, err
	}
	if len(fixed.Edits) == 0 {
		return nil, statusErr(http.StatusConflict, "nothing to correct in "+path.String(), "see: ken docs "+fault.Quote(string(path)))
	}
	return map[string]int{"edits": len(fixed.Edits), "left": len(fixed.Left)}, nil
}
