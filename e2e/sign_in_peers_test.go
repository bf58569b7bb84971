//go:build e2e

package e2e_test

import (
	"encoding/json"
	"slices"
	"testing"

	"patchbay/internal/testing/browser"
	"patchbay/internal/testing/pgtest"
)

// doorstep is an installation with tools, and without a session.
type doorstep struct {
	*home
	base string
}

func newDoorstep(t *testing.T, env ...string) doorstep {
	t.Helper()
	needPeers(t)
	h := newHome(t, append(env, "DATABASE_URL="+pgtest.URL(t))...)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"))
	upstream := h.devMCP()
	s := h.serve()
	s.setUp(newPerson(t))
	client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}.offersTools(upstream)
	return doorstep{home: h, base: s.base}
}

// answers is what a person does in a browser of their own: signs in, and lets the program be the agent that has tools. done is what the program
// says when it has the answer.
func (d doorstep) answers(address, calls, done string) {
	d.t.Helper()
	tab := browser.Open(d.t)
	tab.Go(address)
	tab.WaitText("h1", "Sign in")
	tab.Fill("[name=email]", ownerEmail)
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
	tab.WaitText("main", "“"+calls+"” (unverified)")
	tab.Choose("[name=agent]", "research")
	tab.Click("button[value=allow]")
	tab.WaitText("body", done)
	tab.Go(d.base + "/account")
	tab.Forgive("favicon") // of the program's page, and not ours
}

// TestAuthorize_TypeScriptClients: 401, metadata, registration, a real browser, tokens, tools; and where the access token is not
// taken any more, the SDK renews it by itself and goes on.
func TestAuthorize_TypeScriptClients(t *testing.T) {
	t.Parallel()
	d := newDoorstep(t)
	for _, revision := range []string{"2025-11-25", newest} {
		d.signsIn(revision, func(address string) { d.answers(address, "TypeScript", "You can close this window.") })
	}
}

// signsIn has a TypeScript SDK's client come with nothing but the gateway's address, and whatever else it is told. say is what its person does at the
// address that it opens.
func (d doorstep) signsIn(revision string, say func(address string), more ...string) {
	d.t.Helper()
	p := startPeer(d.t, nil, "signs-in.mjs", append([]string{revision, d.base + "/mcp", "mcp_tools__search_issues", `{"query":"login"}`}, more...)...)
	var asks struct{ Open string }
	p.reads(`{"open":`, &asks)
	say(asks.Open)
	var came struct {
		Revision      string
		Tools         []string
		Called, Again called
		Renewed       bool
	}
	p.reads(`{"revision":`, &came)
	if came.Revision != revision || !slices.Contains(came.Tools, "mcp_tools__search_issues") || came.Called.IsError || came.Called.text() == "" {
		d.t.Errorf("%s: %+v", revision, came)
	}
	if came.Again.IsError || came.Again.text() != came.Called.text() || !came.Renewed {
		d.t.Errorf("%s, with a token past its end: %+v", revision, came)
	}
	if code := p.wait(); code != 0 {
		d.t.Errorf("%s: it ended with %d: %s", revision, code, p.stderr.text())
	}
}

// reads waits for a line of JSON that begins so.
func (p *process) reads(begins string, into any) {
	p.t.Helper()
	if err := json.Unmarshal([]byte(p.line(begins)), into); err != nil {
		p.t.Fatal(err)
	}
}
