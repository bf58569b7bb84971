//go:build e2e

package e2e_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// visitor is a person with a browser that follows redirects: from Patchbay to the authorization server and
// back.
type visitor struct {
	t      *testing.T
	client *http.Client
	at     *url.URL // of the page that is shown
	shown  page

	stops bool     // stops before the callback
	back  *url.URL // the callback's address, where it stopped there
	next  string   // where the shown page leads by itself; empty: nowhere
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, client: &http.Client{Transport: localTransport, Jar: jar}}
	v.client.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		if v.stops && req.URL.Path == "/oauth/callback" {
			v.back = req.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	return v
}

func (v *visitor) open(address string) *visitor {
	v.t.Helper()
	res, err := v.client.Get(address)
	return v.read(res, err)
}

// send posts a form to an address, which may be relative to the page that is shown.
func (v *visitor) send(address string, fields url.Values) *visitor {
	v.t.Helper()
	target, err := v.at.Parse(address)
	if err != nil {
		v.t.Fatal(err)
	}
	res, err := v.client.PostForm(target.String(), fields)
	return v.read(res, err)
}

func (v *visitor) read(res *http.Response, err error) *visitor {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	v.at, v.shown = res.Request.URL, page{res.StatusCode, res.Header.Get("Location"), string(body)}
	v.next, _ = strings.CutPrefix(res.Header.Get("Refresh"), "0; url=")
	return v
}

// goOn is where the shown page leads by itself.
func (v *visitor) goOn() *visitor {
	v.t.Helper()
	if v.next == "" {
		v.t.Fatalf("%s leads nowhere: %d %s", v.at.Redacted(), v.shown.status, v.shown.body)
	}
	return v.open(v.next)
}

// follow opens a sent link, and presses its button.
func (v *visitor) follow(link string) *visitor {
	v.t.Helper()
	if v.open(link); v.shown.status != http.StatusOK {
		v.t.Fatalf("the link answers %d: %s", v.shown.status, v.shown.body)
	}
	return v.send(link, nil)
}

var agreement = regexp.MustCompile(`<form id="(?:login|confirm)" method="post" action="([^"]+)"`)

// agree signs in at the authorization server and consents, for as long as it asks.
func (v *visitor) agree(account string) *visitor {
	v.t.Helper()
	forms := 0
	for form := agreement.FindStringSubmatch(v.shown.body); form != nil; form = agreement.FindStringSubmatch(v.shown.body) {
		v.send(form[1], url.Values{"login": {account}})
		forms++
	}
	if forms == 0 {
		v.t.Fatalf("no form to agree with at %s: %d %s", v.at.Redacted(), v.shown.status, v.shown.body)
	}
	return v
}

// deny signs in and refuses.
func (v *visitor) deny(account string) *visitor {
	v.t.Helper()
	if form := agreement.FindStringSubmatch(v.shown.body); form != nil {
		v.send(form[1], url.Values{"login": {account}})
	}
	return v.send(v.at.Path+"/abort", nil)
}
