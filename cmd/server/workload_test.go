package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/installation"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
)

// podIssuer is a cluster with the key of its pods' tokens.
type podIssuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newPodIssuer(t *testing.T) *podIssuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &podIssuer{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/openid/v1/jwks"})
	})
	mux.HandleFunc("GET /openid/v1/jwks", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "pods", Use: "sig", Algorithm: "ES256"}}})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// podToken is a service account's token for an audience.
func (i *podIssuer) podToken(t *testing.T, subject, audience, id string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.key}, (&jose.SignerOptions{}).WithHeader("kid", "pods"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	text, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.URL, Subject: subject, Audience: jwt.Audience{audience}, ID: id,
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(10 * time.Minute)),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// exchangeToken is the answer of the token endpoint to a workload.
func (u *loadedApp) exchangeToken(t *testing.T, w connectors.Workload, assertion string) (status int, token secret.Text) {
	t.Helper()
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "client_id": {w.ID.String()}, "assertion": {assertion}}
	res, err := u.client.PostForm(u.base+"/oauth/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var given struct {
		Token string `json:"access_token"`
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(body, &given) != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return res.StatusCode, secret.Text(given.Token)
}

// A pod holds no secret: it sends the JWT that its cluster gives it, and calls a tool with the token that it gets.
func TestWorkload_PodCallsAToolWithoutASecret(t *testing.T) {
	t.Parallel()
	u, pods := serveHandlers(t), newPodIssuer(t)
	upstream := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/call": callAnswer("it is well")}})
	connector, agent := u.at(t, upstream, "quick", 0), u.world.Agent(t, auto)
	u.world.SyncedIn(t, u.world.Tenant, connector.ID, "a")
	u.world.GrantIn(t, u.world.Tenant, agent.ID, connector.ID)
	tenant, err := u.database.Store.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	const subject = "system:serviceaccount:prod:bot"
	w, err := u.authServer.AddWorkload(t.Context(), auth.Operator(tenant), connectors.Ref(agent.Slug), connectors.Workload{Name: "bot", Issuer: pods.URL, Subject: subject})
	if err != nil {
		t.Fatal(err)
	}
	audience := strings.TrimRight(u.baseURL.String(), "/")
	status, token := u.exchangeToken(t, w, pods.podToken(t, subject, audience, "1"))
	if status != http.StatusOK {
		t.Fatalf("the pod's JWT: %d", status)
	}
	if status, body := u.answer(u.call(t, token, "mcp_quick__a")); status != http.StatusOK || !strings.Contains(body, "it is well") {
		t.Fatalf("the call: %d %s", status, body)
	}
	var stored int
	u.world.AsSystem(t, `select ((select count(*) from agent_tokens where agent_workload_id is null) + (select count(*) from credentials)
		+ (select count(*) from agent_workloads where keys is not null))::int`, nil, &stored)
	if stored != 0 {
		t.Errorf("%d secrets are stored", stored)
	}
	if status, token := u.exchangeToken(t, w, pods.podToken(t, "system:serviceaccount:prod:other", audience, "2")); status != http.StatusBadRequest || token != "" {
		t.Errorf("another pod: %d", status)
	}
	if err := u.authServer.RemoveWorkload(t.Context(), auth.Operator(tenant), connectors.Ref(agent.Slug), w.ID); err != nil {
		t.Fatal(err)
	}
	if status, body := u.answer(u.call(t, token, "mcp_quick__a")); status != http.StatusUnauthorized {
		t.Errorf("a call after the workload was removed: %d %s", status, body)
	}
}
