package web

import "net/http"

// loginPage asks for the token.
func (s *Server) loginPage(r *http.Request) (*pageData, error) {
	return &pageData{
		Page: "login", Title: "Sign in", Release: s.pages.release, Version: s.deps.Version, Here: true,
		MayWrite: s.guard.mayWrite(r), status: http.StatusOK,
	}, nil
}

// login checks the token and sets the cookie.
func (s *Server) login(r *http.Request, w http.ResponseWriter) (any, error) {
	var in struct {
		Token string `json:"token"`
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	if !s.guard.isToken(in.Token) {
		return nil, statusErr(http.StatusUnauthorized, "wrong token", "open the address that ken serve printed, or make a new token with: ken serve --new-token")
	}
	s.guard.setCookie(w)
	return map[string]bool{"ok": true}, nil
}
