package web

import "net/http"

// worktreesPage shows what each worktree proposes.
func (s *Server) worktreesPage(r *http.Request) (*pageData, error) {
	return s.newPage(r, "worktrees", "Worktrees")
}
