package api_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// TestSecrets_NoEchoComesOutAgain lets servers fail with the credentials of their requests, in each part of a response and
// in every usual encoding, and looks for them in the answers, in the log and in the whole database.
func TestSecrets_NoEchoComesOutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	secrets := []string{"sekret1bearer", "sekret2apikey", "sekret3password"}
	auths := []map[string]any{
		{"type": "bearer", "token": secrets[0]}, {"type": "api_key", "key": secrets[1]}, {"type": "basic", "username": "ann", "password": secrets[2]},
	}
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(there.Close)
	hook := w.call(t, owner, http.MethodPost, "/api/v1/webhooks", map[string]any{"name": "All", "url": there.URL}).want(http.StatusCreated)
	if err := w.Door().SetDownAfter(t.Context(), connectors.DownAfter{Failures: 1, Minutes: 10}); err != nil {
		t.Fatal(err)
	}
	var answers strings.Builder
	quoted := 0
	ask := func(method, path string, body any) {
		t.Helper()
		text := string(w.call(t, owner, method, path, body).body)
		answers.WriteString(text + "\n")
		quoted += strings.Count(text, mcptest.EchoMark)
	}
	for part, echo := range mcptest.Echoes() {
		up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echo}})
		for i, auth := range auths {
			name := fmt.Sprintf("%s-%d", part, i)
			path := "/api/v1/connectors/" + name
			doc := map[string]any{"name": name, "url": up.URL, "auth": auth, "retry_attempts": 0}
			ask(http.MethodPost, "/api/v1/connectors/test", doc)
			ask(http.MethodPost, "/api/v1/connectors", doc)
			ask(http.MethodPost, path+"/sync_tools", nil)
			ask(http.MethodPost, path+"/ping", nil)
			ask(http.MethodGet, path+"/sync_runs", nil)
			ask(http.MethodGet, path+"/credentials", nil)
			ask(http.MethodGet, path, nil)
		}
	}
	if n, err := w.St.System().NoticeConditions(t.Context(), 200); err != nil || n == 0 {
		t.Fatalf("%d notices, %v", n, err)
	}
	ask(http.MethodGet, "/api/v1/notices?limit=200", nil)
	ask(http.MethodGet, fmt.Sprintf("/api/v1/webhooks/%s/deliveries?limit=200", hook["id"]), nil)
	deliveries := fmt.Sprint(listItems(w.call(t, owner, http.MethodGet, fmt.Sprintf("/api/v1/webhooks/%s/deliveries?limit=200", hook["id"]), nil).want(http.StatusOK)))

	stored := w.RowTexts(t)
	for where, text := range map[string]string{"an answer": answers.String(), "the log": w.log.String(), "the database": stored} {
		text = strings.NewReplacer(`\n`, "", `\\`, `\`, " ", "", "\n", "").Replace(text)
		for _, secret := range append(secrets, "ann:"+secrets[2]) {
			encoded := base64.StdEncoding.EncodeToString([]byte(secret))
			for _, form := range []string{secret, secret[:6], hex.EncodeToString([]byte(secret[:6])), encoded[:8], fmt.Sprintf("%%%02X%%%02X", secret[0], secret[1]), fmt.Sprintf(`\u%04x\u%04x`, secret[0], secret[1])} {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s has %s: …%s", where, form, text[max(0, i-200):min(len(text), i+40)])
				}
			}
		}
	}
	if quoted < 5*len(auths)*4 || strings.Count(stored, mcptest.EchoMark) < 12 {
		t.Errorf("the sweep saw no server that repeats secrets: %d", quoted)
	}
	if strings.Contains(w.log.String(), mcptest.EchoMark) || strings.Contains(deliveries, mcptest.EchoMark) || !strings.Contains(deliveries, "connector.down") {
		t.Errorf("the log or a webhook has the server's words: %s", deliveries)
	}
}
