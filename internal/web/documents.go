package web

import "net/http"

// documentsPage lists the mentions of each document, those that are wrong first.
func (s *Server) documentsPage(r *http.Request) (*pageData, error) {
	return s.newPage(r, "documents", "Documents")
}
