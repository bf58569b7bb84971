//go:build e2e

package e2e_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
)

// person is a person with a browser that keeps cookies and does not follow redirects.
type person struct {
	t      *testing.T
	client *http.Client
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t: t, client: &http.Client{
		Transport:     localTransport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is an answer, read to its end.
type page struct {
	status   int
	location string
	body     string
}

func (p *person) get(address string) page {
	p.t.Helper()
	res, err := p.client.Get(address)
	return p.read(res, err)
}

func (p *person) post(address string, fields url.Values) page {
	p.t.Helper()
	res, err := p.client.PostForm(address, fields)
	return p.read(res, err)
}

func (p *person) read(res *http.Response, err error) page {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return page{res.StatusCode, res.Header.Get("Location"), string(body)}
}

const (
	ownerEmail    = "owner@example.com"
	ownerPassword = "correct horse battery"
)

// setUp follows the printed link and creates the owner, signed in.
func (s *server) setUp(p *person) {
	s.t.Helper()
	link := s.setupLink()
	if shown := p.get(link); shown.status != http.StatusOK {
		s.t.Fatalf("the setup link answers %d: %s", shown.status, shown.body)
	}
	u, err := url.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	made := p.post(s.base+"/setup", url.Values{
		"token": {u.Query().Get("token")}, "email": {ownerEmail}, "name": {"Owner"}, "password": {ownerPassword},
	})
	if made.status != http.StatusSeeOther {
		s.t.Fatalf("setting up answers %d: %s", made.status, made.body)
	}
}

// setupLink is the one that the server printed.
func (s *server) setupLink() string {
	s.t.Helper()
	return addressIn(s.line("/setup?token="))
}

// signIn signs the owner in.
func (s *server) signIn(p *person) page {
	s.t.Helper()
	return p.post(s.base+"/login", url.Values{"email": {ownerEmail}, "password": {ownerPassword}})
}
