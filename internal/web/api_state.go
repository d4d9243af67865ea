package web

import (
	"context"
	"fmt"
	"net/http"

	"ken/internal/repo"
	"ken/internal/workflow"
)

// apiCleanup moves one entry of the state directory to the archive, if ken state cleanup
// would move it.
func (s *Server) apiCleanup(w http.ResponseWriter, r *http.Request) {
	var in workflow.Name
	err := decode(r, &in)
	name := in.Raw()
	if err == nil && name == "" {
		err = statusErr(http.StatusBadRequest, "no entry given", `send {"name": "notes.txt"}`)
	}
	var done any
	if err == nil {
		done, err = s.changeState(r, func(ctx context.Context, k *workflow.Manager) (any, error) { return archiveEntry(ctx, k, name) })
	}
	s.reply(w, r, done, err, "/")
}

func archiveEntry(ctx context.Context, k *workflow.Manager, name string) (*workflow.Sweep, error) {
	sweep, err := k.Cleanup(ctx, workflow.CleanupOptions{Apply: true, Only: name})
	if err != nil {
		return nil, err
	}
	shown := repo.Path(name).String()
	if len(sweep.Moves) == 0 {
		return nil, statusErr(http.StatusConflict, shown+" is gone, or belongs in the state directory", "see the entries at /state")
	}
	if sweep.Failures() > 0 {
		return nil, statusErr(http.StatusInternalServerError, fmt.Sprintf("cannot move %s: %s", shown, sweep.Moves[0].Error), "ken state cleanup")
	}
	return sweep, nil
}
