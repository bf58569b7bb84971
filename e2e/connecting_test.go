//go:build e2e

package e2e_test

import (
	"cmp"
	"fmt"
	"net/http"
	"testing"
	"time"

	"patchbay/internal/testing/pgtest"
)

// connecting is an installation on a database of its own, and an authorization server with protected MCP servers.
type connecting struct {
	*home
	as       *authorizationServer
	s        *server
	c        client
	database string
	via      http.RoundTripper // of visitors; nil: localTransport
}

func newConnecting(t *testing.T, env ...string) *connecting {
	t.Helper()
	w := &connecting{as: startAuthorizationServer(t), database: pgtest.URL(t)}
	w.home = newHome(t, append(env, "DATABASE_URL="+w.database)...)
	w.env = append(w.env, "PATCHBAY_KEYSET="+w.run("keys", "new"))
	w.s = w.serve()
	w.c = client{t: t, base: w.s.base, key: w.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	return w
}

func (w *connecting) visitor() *visitor {
	w.t.Helper()
	v := newVisitor(w.t)
	if w.via != nil {
		v.client.Transport = w.via
	}
	return v
}

// connector creates the connector "Notes" of the MCP server at path. Each given agent gets a grant and a
// credential of its own. Listening is off, because a stream refreshes its token too, and then the tested call
// or sync would find nothing to refresh.
func (w *connecting) connector(path string, agents ...string) {
	w.t.Helper()
	mode := "shared"
	for _, agent := range agents {
		mode = "per_agent"
		w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": agent, "slug": agent})
	}
	w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": "Notes", "url": w.as.Origin + path, "auth": object{"type": "oauth2"}, "credential_mode": mode, "sync_interval_s": 0, "listen": "off",
	})
	for _, agent := range agents {
		w.c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/"+agent+"/connectors/notes", object{"tools": "all"})
	}
}

// link asks for a page to be sent to the owner of an account; no agent: it is for all of them.
func (w *connecting) link(agent string) string {
	w.t.Helper()
	body := object{}
	if agent != "" {
		body["agent"] = agent
	}
	answer := w.c.must(http.StatusOK, http.MethodPost, "/api/v1/connectors/notes/connect", body)
	link, _ := answer["connect_url"].(string)
	if answer["authorize_url"] != nil || link == "" {
		w.t.Fatalf("a program that connects is answered %v", answer)
	}
	return link
}

// connect goes the whole way by a link.
func (w *connecting) connect(agent, account string) {
	w.t.Helper()
	v := w.visitor()
	if v.follow(w.link(agent)).agree(account); v.shown.status != http.StatusOK || v.at.Path != "/connect/done" {
		w.t.Fatalf("the connection ends at %s: %d %s", v.at.Path, v.shown.status, v.shown.body)
	}
}

// credential is what the API tells of an agent's credential, or the shared one.
func (w *connecting) credential(agent string) object {
	w.t.Helper()
	var id any
	if agent != "" {
		id = w.c.must(http.StatusOK, http.MethodGet, "/api/v1/agents/"+agent, nil)["id"]
	}
	items, _ := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/notes/credentials", nil)["items"].([]any)
	for _, item := range items {
		if c, _ := item.(object); c["agent_id"] == id {
			return c
		}
	}
	w.t.Fatalf("no credential of %s: %v", cmp.Or(agent, "all"), items)
	return nil
}

// expired waits until the access token has expired.
func (w *connecting) expired(agent string) {
	w.t.Helper()
	text, _ := w.credential(agent)["expires_at"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		w.t.Fatalf("the credential expires at %q", text)
	}
	eventually(w.t, func() error {
		if left := time.Until(at); left >= 0 {
			return fmt.Errorf("%s are left", left)
		}
		return nil
	})
}

func (w *connecting) sync() object {
	w.t.Helper()
	return w.c.must(http.StatusOK, http.MethodPost, "/connectors/notes/sync_tools", nil)
}
