//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package api_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// The test reads every GET, and mcp_config without direct: with it the response has an agent's credentials by
// design.
func TestSecrets_AreInNoResponseAndNoLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search")}})
	refusing := mcptest.Start(t, mcptest.Script{Bearer: "another"})
	secrets := []string{
		"sekret-token", "sekret-key", "sekret-password", "sekret-agent", "sekret-member-password", "sekret-client", "sekret-machine",
		"sekret-variable",
	}
	echo := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echoSecrets(secrets)}})
	key := privateKey(t)
	program := map[string]any{
		"name": "program", "transport": "stdio", "command": mcptest.Shell, "args": mcptest.Program,
		"env": map[string]string{"GREETING": secrets[7]}, // the program prints it
	}
	secrets = append(secrets, strings.Split(key, "\n")[1]) // PEM's first line of base64
	auths := map[string]map[string]any{
		"bearer": {"type": "bearer", "token": secrets[0]},
		"key":    {"type": "api_key", "key": secrets[1]},
		"basic":  {"type": "basic", "username": "ann", "password": secrets[2]},
		"oauth":  {"type": "oauth2", "client_id": "client-1", "client_secret": secrets[5]},
		// The issuer is unreachable, so that the secret is used and the failure is reported.
		"machine": {"type": "client_credentials", "client_id": "client-1", "client_secret": secrets[6], "issuer": "http://127.0.0.1:9"},
		"keyed":   {"type": "private_key_jwt", "client_id": "client-1", "private_key": key, "issuer": "http://127.0.0.1:9"},
	}
	var bodies []string
	keep := func(r reply) reply { bodies = append(bodies, string(r.body)); return r }
	for name, auth := range auths {
		url := upstream.URL
		if name == "bearer" {
			url = refusing.URL
		}
		doc := map[string]any{"name": name, "url": url, "auth": auth, "retry_attempts": 0}
		keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/test", doc)).want(http.StatusOK)
		keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors", doc)).want(http.StatusCreated)
		keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors", doc)).want(http.StatusConflict)
		keep(w.call(t, owner, http.MethodPatch, "/api/v1/connectors/"+name, map[string]any{"auth": auth})).want(http.StatusOK)
		keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/"+name+"/sync_tools", nil))
		if auth["issuer"] == nil {
			doc["name"], doc["url"] = "echo "+name, echo.URL
			keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/test", doc)).want(http.StatusOK)
			keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors", doc)).want(http.StatusCreated)
			keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/echo-"+name+"/sync_tools", nil)).problem(http.StatusBadGateway, "upstream")
			keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/echo-"+name+"/ping", nil)).want(http.StatusOK)
			keep(w.call(t, owner, http.MethodGet, "/api/v1/connectors/echo-"+name+"/sync_runs", nil)).want(http.StatusOK)
		}
	}
	keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/test", program)).want(http.StatusOK)
	keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors", program)).want(http.StatusCreated)
	keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors", program)).want(http.StatusConflict)
	keep(w.call(t, owner, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"env": program["env"]})).want(http.StatusOK)
	keep(w.call(t, owner, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"env": map[string]string{"A B": secrets[7]}})).want(http.StatusUnprocessableEntity)
	keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors/program/sync_tools", nil)).want(http.StatusOK)
	agent := w.Agent(t)
	keep(w.call(t, owner, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "each", "url": upstream.URL, "credential_mode": "per_agent", "auth": map[string]any{"type": "bearer"},
	})).want(http.StatusCreated)
	keep(w.call(t, owner, http.MethodPut, "/api/v1/connectors/each/agents/"+agent.Slug+"/credential", map[string]any{"token": secrets[3]}))
	keep(w.call(t, owner, http.MethodPost, "/api/v1/members",
		map[string]any{"email": "a@example.com", "role": "viewer", "password": secrets[4]})).want(http.StatusCreated)

	for _, name := range []string{"bearer", "key", "basic", "oauth", "machine", "keyed", "program", "each"} {
		ids := targets{connector: name, agent: agent.Slug, run: "none", key: "none", member: "none"}
		for _, route := range slices.Sorted(maps.Keys(routes)) {
			method, pattern, _ := strings.Cut(route, " ")
			if method == http.MethodGet {
				keep(w.call(t, owner, method, ids.fillPattern(pattern), nil))
			}
		}
	}
	everything := strings.Join(bodies, "\n") + w.log.String() + w.Rows(t)
	for _, secret := range append(secrets, base64.StdEncoding.EncodeToString([]byte("ann:"+secrets[2])), owner) {
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")} {
			if i := strings.Index(everything, form); i >= 0 {
				t.Errorf("%s stands in …%s", form, everything[max(0, i-200):i+len(form)])
			}
		}
	}
	if !strings.Contains(everything, `"discovered_tools":["search"]`) {
		t.Error("the sweep saw no synced connector")
	}
	if strings.Count(everything, "the server repeats: ") < 12 || strings.Contains(w.log.String(), "the server repeats") {
		t.Error("the sweep saw no server that repeats secrets, or the log has its words")
	}
}

// echoSecrets fails with the secrets that the request has, as they are and in encodings.
func echoSecrets(secrets []string) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "the server repeats: ")
		for _, values := range r.Header {
			for _, value := range values {
				pair, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(value, "Basic "))
				for _, s := range append([]string{"ann:" + secrets[2]}, secrets...) {
					if strings.Contains(value, s) || strings.Contains(string(pair), s) {
						fmt.Fprintf(w, "%s %s\n%s %x %s %s ", s, s[:4], s[4:], s, base64.StdEncoding.EncodeToString([]byte(s)), value)
					}
				}
			}
		}
	}
}
