package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// startPatchbay records requests, and redirects consent to the program.
func startPatchbay(t *testing.T) (base string, sent func() []string) {
	t.Helper()
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		all = append(all, r.Method+" "+r.URL.Path+" "+r.PostForm.Get("email")+r.PostForm.Get("decision"))
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "ann's", Path: "/"})
		case "/oauth/authorize":
			if _, err := r.Cookie("session"); err != nil {
				w.WriteHeader(http.StatusForbidden)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { return all }
}

func TestRun_SignsInAndAllowsAccess(t *testing.T) {
	t.Parallel()
	base, sent := startPatchbay(t)
	ann := account{issuer: base, email: "ann", password: "secret"}
	said := "Access the following URL\n" + base + "/oauth/authorize?" + url.Values{"client_id": {"x"}}.Encode() + "\nhttp://elsewhere.example/oauth/authorize?client_id=x\nWaiting\n"
	if err := ann.followLinks(t.Context(), strings.NewReader(said)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"POST /login ann", "POST /oauth/authorize allow"}; !slices.Equal(sent(), want) {
		t.Errorf("%q, want %q", sent(), want)
	}
}

func TestRun_WithoutCommand(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), nil, account{}, io.Discard); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("%v", err)
	}
}
