package web

import (
	"net/http"
	"net/url"
	"strings"
)

// loginPage asks for the token, if browsers can sign in under the name of the request.
func (s *Server) loginPage(r *http.Request) (*pageData, error) {
	to := ""
	if s.guard.acceptsCookie(r) {
		to = localPage(r.URL.Query().Get("to"))
	}
	return &pageData{
		Page: "login", Title: "Sign in", Release: s.pages.release, Version: s.deps.Version, Here: true,
		SignedIn: s.guard.signedIn(r), status: http.StatusOK, Body: to,
	}, nil
}

// apiLogin checks the token and sets the cookie.
func (s *Server) apiLogin(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
		To    string `json:"to"` // the page that a form leads to
	}
	err := decode(r, &in)
	if err == nil && !s.guard.acceptsCookie(r) {
		err = errSignIn
	}
	if err == nil && !s.guard.isToken(in.Token) {
		err = statusErr(http.StatusUnauthorized, "wrong token", newAddress)
	}
	if err == nil {
		s.guard.setCookie(w)
	}
	s.reply(w, r, map[string]bool{"ok": true}, err, localPage(in.To))
}

// localPage returns the address of a page of this dashboard, and / for any other address.
func localPage(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(to, `\`) {
		return "/"
	}
	return u.RequestURI()
}
