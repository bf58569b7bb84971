package sso_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/sso"
	"patchbay/internal/testing/testclient"
)

const unicodeIssuer, asciiIssuer = "https://größe.example", "https://xn--gre-6ka8i.example"

// namedHost sends requests for a host on the internet to a server of the test. It records the requested hosts.
type namedHost struct {
	server string
	next   http.RoundTripper
	mu     sync.Mutex
	hosts  []string // guarded by mu: with those of the Host headers
}

// RoundTrip sends one request.
func (h *namedHost) RoundTrip(r *http.Request) (*http.Response, error) {
	server, err := url.Parse(h.server)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.hosts = append(h.hosts, r.URL.Host, r.Host)
	h.mu.Unlock()
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = server.Scheme, server.Host
	return h.next.RoundTrip(r)
}

// newNamedOffice returns an office with its provider at asciiIssuer.
func newNamedOffice(t *testing.T) (*office, *namedHost) {
	t.Helper()
	host := &namedHost{next: testclient.New(t).Transport}
	w := newOffice(t, func(o *sso.Options) {
		o.HTTP = &http.Client{Transport: host}
		o.CheckURL = safehttp.New(safehttp.Options{Mode: safehttp.Public}).CheckURL
	})
	host.server = w.idp.URL
	return w, host
}

// namedProvider are the answers of a provider with an issuer and endpoints in Unicode.
func namedProvider(issuer string) lies {
	return lies{
		person: map[string]any{"sub": "ada-1"},
		info:   ada(),
		token:  func(claims map[string]any) { claims["iss"] = issuer },
		answer: func(answer url.Values) { answer.Set("iss", issuer) },
		meta: func(document map[string]any) {
			document["issuer"] = issuer
			document["authorization_endpoint"], document["token_endpoint"] = unicodeIssuer+"/authorize", unicodeIssuer+"/token"
			document["jwks_uri"], document["userinfo_endpoint"] = unicodeIssuer+"/keys", unicodeIssuer+"/userinfo"
		},
	}
}

func TestProvider_InternationalisedHost(t *testing.T) {
	t.Parallel()
	w, host := newNamedOffice(t)
	w.idp.lie(namedProvider(asciiIssuer))
	settings := w.settings(func(c *sso.Change) { c.Issuer = new(" " + unicodeIssuer + " ") })
	w.save(w.owner, settings)
	stored, err := w.sso.Settings(t.Context(), w.owner)
	if err != nil || stored.Issuer != asciiIssuer {
		t.Fatalf("stored as %s, %v", stored.Issuer, err)
	}
	to, err := w.sso.Try(t.Context(), w.owner, adasBrowser)
	if err != nil || !strings.HasPrefix(to, asciiIssuer+"/authorize?") {
		t.Fatalf("the browser goes to %s, %v", to, err)
	}
	back := w.authorizeAt(strings.Replace(to, asciiIssuer, w.idp.URL, 1))
	done, err := w.sso.Finish(t.Context(), sso.Return{Query: back, Browser: adasBrowser, Person: &w.owner})
	if err != nil || done.Trial == nil || done.Trial.Email != "ada@acme.example" {
		t.Fatalf("%+v, %v", done, err)
	}
	if slices.ContainsFunc(host.hosts, func(name string) bool { return name != strings.TrimPrefix(asciiIssuer, "https://") }) || len(host.hosts) < 8 {
		t.Errorf("requested of %v", host.hosts)
	}
	settings.ClientSecret = ""
	after, err := w.sso.Save(t.Context(), w.owner, settings)
	if err != nil || after.TestedAt == nil {
		t.Errorf("the same issuer again: %+v, %v", after, err)
	}
}

// OpenID Connect Discovery section 4.3: the issuers are identical.
func TestProvider_IssuerIsComparedAsWritten(t *testing.T) {
	t.Parallel()
	w, _ := newNamedOffice(t)
	w.idp.lie(namedProvider(unicodeIssuer))
	w.save(w.owner, w.settings(func(c *sso.Change) { c.Issuer = new(asciiIssuer) }))
	if err := w.sso.Check(t.Context(), w.owner); err == nil {
		t.Error("another form of the issuer is accepted")
	}
}

func TestProvider_MisleadingHostIsRefused(t *testing.T) {
	t.Parallel()
	w, host := newNamedOffice(t)
	const lookalike = "https://p\u0430ypal.example"
	if _, err := w.sso.Save(t.Context(), w.owner, w.settings(func(c *sso.Change) { c.Issuer = new(lookalike) })); field(err) != "issuer" {
		t.Errorf("issuer: %v", err)
	}
	w.save(w.owner, w.settings(func(c *sso.Change) { c.Issuer = new(asciiIssuer) }))
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri"} {
		says := namedProvider(asciiIssuer)
		honest := says.meta
		says.meta = func(document map[string]any) { honest(document); document[name] = lookalike + "/x" }
		w.idp.lie(says)
		w.fresh()
		if err := w.sso.Check(t.Context(), w.owner); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, name := range host.hosts {
		if _, ok := connectors.ASCIIURL("https://" + name); !ok {
			t.Errorf("requested of %s", name)
		}
	}
}
