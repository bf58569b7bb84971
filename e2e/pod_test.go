//go:build e2e

package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/testing/pgtest"
)

// podCluster is the issuer of pods' tokens, as Kubernetes is.
type podCluster struct {
	*httptest.Server
	t      *testing.T
	signer jose.Signer
}

func newPodCluster(t *testing.T) *podCluster {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &podCluster{t: t}
	c.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: "pods"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": c.URL, "jwks_uri": c.URL + "/openid/v1/jwks"})
	})
	mux.HandleFunc("GET /openid/v1/jwks", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "pods", Use: "sig", Algorithm: "ES256"}}})
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// serviceToken is a service account's token for an audience.
func (c *podCluster) serviceToken(subject, audience string) string {
	c.t.Helper()
	now := time.Now()
	text, err := jwt.Signed(c.signer).Claims(jwt.Claims{
		Issuer: c.URL, Subject: subject, Audience: jwt.Audience{audience}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(10 * time.Minute)),
	}).Serialize()
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// sealedTables are the tables with a sealed secret.
func sealedTables(database map[string]string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(database)) {
		if strings.Contains(database[name], `"sealed":"`) {
			names = append(names, strings.TrimPrefix(name, "public."))
		}
	}
	return names
}

// TestPod_CallsToolWithoutStoredSecret has a pod that acts as an agent by its cluster's JWT, and a server at which Patchbay signs in with
// the JWT of its own pod. No tenant's secret is stored, and what was issued is neither in the database nor in the keyset nor in a log.
func TestPod_CallsToolWithoutStoredSecret(t *testing.T) {
	t.Parallel()
	const botSubject, ownSubject = "system:serviceaccount:prod:bot", "system:serviceaccount:prod:patchbay"
	cluster, database := newPodCluster(t), pgtest.URL(t)
	guarded := startManagedServers(t, cluster.URL, 1, 3600, "WORKLOAD="+ownSubject)[0]
	h := newHome(t, "DATABASE_URL="+database)
	keyset, file, ownToken := h.run("keys", "new"), filepath.Join(h.dir, "token"), cluster.serviceToken(ownSubject, guarded.Issuer)
	if err := os.WriteFile(file, []byte(ownToken), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := json.Marshal(object{"pod": object{"file": file, "servers": []string{"127.0.0.1"}, "tenants": []string{"default"}}})
	if err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATCHBAY_KEYSET="+keyset, "PATCHBAY_WORKLOAD_TOKENS="+string(tokens))
	upstream := h.devMCP()
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
	c.offersTools(upstream)

	workload := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/research/workloads", object{"name": "bot", "issuer": cluster.URL, "subject": botSubject})
	id, _ := workload["id"].(string)
	jwtOfBot := cluster.serviceToken(botSubject, s.base)
	given := postedForm(t, s.base+"/oauth/token", url.Values{"grant_type": {jwtBearerGrant}, "client_id": {id}, "assertion": {jwtOfBot}}, http.StatusOK)
	bot := agent{t: t, base: s.base}
	bot.token, _ = given["access_token"].(string)
	bot.wantAnswer("mcp_tools__search_issues", `{"query":"login"}`, "issues found")
	rows := dump(t, database)
	if rows["public.credentials"] != "" || !slices.Equal(sealedTables(rows), []string{"tenant_keys"}) {
		t.Errorf("secrets are sealed in %v; accounts: %q", sealedTables(rows), rows["public.credentials"])
	}

	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": "Guarded", "slug": "guarded", "url": guarded.URL, "sync_interval_s": 0,
		"auth": object{"type": "client_credentials", "client_id": "patchbay", "workload_token": "pod"},
	})
	c.must(http.StatusOK, http.MethodPost, "/connectors/guarded/sync_tools", nil)
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/research/connectors/guarded", object{"tools": "all"})
	bot.wantAnswer("mcp_guarded__echo", `{"message":"from a pod"}`, "Echo: from a pod")
	rows = dump(t, database)
	if got := sealedTables(rows); !slices.Equal(got, []string{"credentials", "tenant_keys"}) { // the access token alone
		t.Errorf("secrets are sealed in %v", got)
	}
	if !strings.Contains(rows["public.agent_workloads"], botSubject) || rows["public.used_assertions"] == "" || rows["public.agent_tokens"] == "" {
		t.Error("the dump lacks rows: the sweep shows nothing")
	}
	places := map[string]string{"the keyset": keyset, "the log": s.stderr.text(), "standard output": s.stdout.text()}
	for table, text := range rows {
		places["the table "+table] = text
	}
	issued := guarded.counts(t).Issued
	if len(issued) < 2 || issued[1] != ownToken {
		t.Errorf("the server issued %d tokens and assertions", len(issued))
	}
	for what, value := range map[string]string{
		"the bot's JWT": jwtOfBot, "the bot's token": strings.Split(bot.token, "_")[3], "Patchbay's JWT": ownToken, "the server's token": issued[0],
	} {
		lookFor(t, value, what, places)
		if parts := strings.Split(value, "."); len(parts) == 3 {
			lookFor(t, parts[2], "the signature of "+what, places)
		}
	}
}

// wantAnswer calls a tool of a name as the gateway has it.
func (a agent) wantAnswer(tool, arguments, want string) {
	a.t.Helper()
	name, err := json.Marshal(tool)
	if err != nil {
		a.t.Fatal(err)
	}
	message, header := modern("tools/call", `"name":`+string(name)+`,"arguments":`+arguments)
	if status, _, r := a.send("/mcp", message, header...); !strings.Contains(string(r.Result), want) {
		a.t.Errorf("%s: %d %s %+v", tool, status, r.Result, r.Error)
	}
}
