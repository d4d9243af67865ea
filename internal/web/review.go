package web

import "net/http"

// reviewPage shows what the current change of each worktree makes stale or breaks.
func (s *Server) reviewPage(r *http.Request) (*pageData, error) {
	return s.newPage(r, "review", "Review")
}
