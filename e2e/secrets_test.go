//go:build e2e

package e2e_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/mcp/mcptest"
)

// TestNoSecretComesOutAgain gives the real program one secret of each kind, uses them (rightly and wrongly), and looks for them
// in every answer, page and line of the log at debug level.
func TestNoSecretComesOutAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.empty = true // the log of the first start is searched, too
	_, s, owner, c := installIn(t, h)
	upstream := h.devMCP()
	secrets := map[string]string{
		"bearer token": "dev-token", "wrong token": "sekret-wrong-2", "API key of a connector": "sekret-key-3", "password of a connector": "sekret-basic-4",
		"agent's token": "sekret-agent-5", "own API key": strings.Split(c.key, "_")[3], "password": ownerPassword, "wrong password": "sekret-guess-6",
		"repeated token": "sekret-echo-7",
	}
	if keyset, err := os.ReadFile(filepath.Join(h.data(), "keyset")); err != nil {
		t.Error(err)
	} else {
		secrets["keyset"] = strings.TrimSpace(string(keyset))
	}
	seen := map[string]string{} // where → what was answered
	keep := func(where string, a page) { seen[where] = a.body }

	auths := map[string]object{
		"right": {"type": "bearer", "token": "dev-token"}, "wrong": {"type": "bearer", "token": "sekret-wrong-2"},
		"key": {"type": "api_key", "key": "sekret-key-3"}, "basic": {"type": "basic", "username": "dev", "password": "sekret-basic-4"},
	}
	echoes := map[string]string{}
	for part, echo := range mcptest.Echoes() {
		echoes["echo-"+part] = mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echo}}).URL
		auths["echo-"+part] = object{"type": "bearer", "token": "sekret-echo-7"}
	}
	for slug, auth := range auths {
		at := cmp.Or(echoes[slug], upstream+"/bearer")
		seen["create "+slug] = c.text(http.MethodPost, "/api/v1/connectors", object{"name": slug, "slug": slug, "url": at, "auth": auth, "retry_attempts": 0})
		seen["test "+slug] = c.text(http.MethodPost, "/api/v1/connectors/test", object{"name": slug, "url": at, "auth": auth, "retry_attempts": 0})
		seen["change "+slug] = c.text(http.MethodPatch, "/api/v1/connectors/"+slug, object{"auth": auth, "description": "again"})
		seen["bad change "+slug] = c.text(http.MethodPatch, "/api/v1/connectors/"+slug, object{"auth": auth, "timeout_ms": 5})
		seen["sync "+slug] = c.text(http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
		seen["ping "+slug] = c.text(http.MethodPost, "/api/v1/connectors/"+slug+"/ping", nil)
	}
	for slug := range echoes {
		runs := "/connectors/" + slug + "/runs"
		run, _, _ := strings.Cut(after(owner.get(s.base+runs).body, `"`+runs+`/`), `"`)
		keep("page of a run of "+slug, owner.get(s.base+runs+"/"+run))
		owner.post(s.base+"/connectors/"+slug+"/ping", nil)
		keep("page after a ping of "+slug, owner.get(s.base+"/connectors/"+slug))
	}
	seen["agent"] = c.text(http.MethodPost, "/api/v1/agents", object{"name": "Agent", "slug": "agent"})
	seen["per agent"] = c.text(http.MethodPost, "/api/v1/connectors", object{"name": "own", "slug": "own", "url": upstream + "/bearer", "auth": object{"type": "bearer"}, "credential_mode": "per_agent"})
	seen["agent's token"] = c.text(http.MethodPut, "/api/v1/connectors/own/agents/agent/credential", object{"token": "sekret-agent-5"})
	seen["agent's sync"] = c.text(http.MethodPost, "/connectors/own/sync_tools", object{"agent": "agent"})
	keep("wrong sign-in", newPerson(t).post(s.base+"/login", url.Values{"email": {ownerEmail}, "password": {"sekret-guess-6"}}))
	keep("form with a mistake", owner.post(s.base+"/connectors", url.Values{
		"name": {"x"}, "url": {"no url"}, "auth.type": {"bearer"}, "auth.token": {"sekret-wrong-2"}, "credential_mode": {"shared"}, "transport": {"streamable_http"},
	}))
	for _, slug := range append(slices.Sorted(maps.Keys(auths)), "own") {
		for _, of := range []string{"", "/tools", "/credentials", "/sync_runs"} {
			seen["API "+slug+of] = c.text(http.MethodGet, "/api/v1/connectors/"+slug+of, nil)
		}
		for _, of := range []string{"", "/tools", "/credentials", "/runs", "/settings"} {
			keep("page "+slug+of, owner.get(s.base+"/connectors/"+slug+of))
		}
	}
	for _, path := range []string{"/api/v1/connectors", "/api/v1/agents", "/api/v1/api_keys", "/api/v1/members", "/api/v1/tenant", "/openapi.json"} {
		seen["API "+path] = c.text(http.MethodGet, path, nil)
	}
	for _, path := range []string{"/connectors", "/agents", "/agents/agent", "/api-keys", "/members", "/settings", "/account"} {
		keep("page "+path, owner.get(s.base+path))
	}
	seen["doctor"] = h.run("doctor")
	seen["standard output"], seen["log"] = s.stdout.text(), s.stderr.text()

	for where, text := range seen {
		text = html.UnescapeString(text)
		joined := strings.Join(strings.Fields(text), "")
		for what, secret := range secrets {
			encoded := strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")
			if strings.Contains(text, secret) || strings.Contains(joined, secret) || strings.Contains(joined, encoded) || strings.Contains(joined, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s holds the %s", where, what)
			}
		}
	}
	for _, part := range []string{"body", "refusal", "challenge", "message", "data"} {
		slug := "echo-" + part
		for _, where := range []string{"test " + slug, "sync " + slug, "ping " + slug, "API " + slug + "/sync_runs", "page of a run of " + slug, "page after a ping of " + slug} {
			if !strings.Contains(seen[where], mcptest.EchoMark) {
				t.Errorf("%s does not quote the server: %s", where, seen[where])
			}
		}
	}
	if strings.Contains(seen["log"], mcptest.EchoMark) {
		t.Error("the log quotes the server")
	}
	if !strings.Contains(seen["log"], `"level":"DEBUG"`) {
		t.Error("the log is not at debug level: the sweep shows nothing")
	}
}

// text is an answer's body, whatever the status.
func (c client) text(method, path string, body any) string {
	c.t.Helper()
	_, answer, err := c.try(method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return fmt.Sprint(answer)
}

// after returns the text behind the first mark; empty: there is none.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}
