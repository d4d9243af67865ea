package web

import "net/http"

// worktreesPage is who works where, and what each proposes.
func (s *Server) worktreesPage(r *http.Request) (*pageData, error) {
	return s.newPage(r, "worktrees", "Worktrees")
}
