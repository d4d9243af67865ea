package web

import "net/http"

// homePage lists what needs the user, and says how the parts of the repository stand.
func (s *Server) homePage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "home", "Home")
	if err != nil || f.Tree == nil {
		return f, err
	}
	f.Body = summarize(f.Tree)
	return f, nil
}
