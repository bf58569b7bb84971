package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
)

// workloadKeys is a public key as a JWK Set (RFC 7517 appendix A.1).
const workloadKeys = `{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1"}]}`

// createWorkload creates a workload of an agent.
func (w *world) createWorkload(t *testing.T, tenant connectors.TenantID, agent connectors.AgentID) connectors.AgentWorkloadID {
	t.Helper()
	made, err := w.St.Tenant(tenant).Workloads().Create(t.Context(), connectors.Workload{AgentID: agent, Name: "deploy", Issuer: "https://issuer.example.com", Subject: "job"})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// replayAssertion sends a JWT of a workload a second time, after the seconds in which that is allowed.
func replayAssertion(t *testing.T, w *world) func() error {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := w.St.Tenant(w.Tenant).Workloads().Create(t.Context(), connectors.Workload{
		AgentID: w.Agent(t).ID, Name: "deploy", Issuer: "https://issuer.example.com", Subject: "job", Keys: keys,
	})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	assertion, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: made.Issuer, Subject: made.Subject, Audience: jwt.Audience{baseURL}, ID: "1", Expiry: jwt.NewNumericDate(time.Now().Add(time.Minute)),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	router := chi.NewRouter()
	newAuthServer(w, safehttp.New(safehttp.Options{Mode: safehttp.Local})).Mount(router)
	exchange := func() int {
		form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "client_id": {made.ID.String()}, "assertion": {assertion}}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+"/oauth/token", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		router.ServeHTTP(rec, r)
		return rec.Code
	}
	if status := exchange(); status != http.StatusOK {
		t.Fatalf("the first exchange: %d", status)
	}
	w.AsSystem(t, "update used_assertions set used_at = used_at - interval '1 minute'", nil)
	return func() error {
		if status := exchange(); status != http.StatusBadRequest {
			return fmt.Errorf("the second exchange: %d", status)
		}
		return nil
	}
}

func TestWorkloads_AreAddedListedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	path := "/api/v1/agents/" + agent.Slug + "/workloads"
	doc := map[string]any{"name": " Deploy ", "issuer": "https://kubernetes.default.svc.cluster.local", "subject": "system:serviceaccount:prod:bot", "keys": json.RawMessage(workloadKeys)}
	made := w.call(t, admin, http.MethodPost, path, doc).want(http.StatusCreated)
	if made["name"] != "Deploy" || made["has_keys"] != true || made["last_used_at"] != nil || made["agent_id"] != agent.ID.String() {
		t.Errorf("created: %v", made)
	}
	w.call(t, admin, http.MethodPost, path, doc).problem(http.StatusConflict, "conflict")
	delete(doc, "keys")
	w.call(t, admin, http.MethodPost, path, doc).problem(http.StatusUnprocessableEntity, "invalid")
	if all := listItems(w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)); len(all) != 1 || all[0]["id"] != made["id"] {
		t.Errorf("listed: %v", all)
	}
	other := "/api/v1/agents/" + w.Agent(t).Slug + "/workloads/" + fmt.Sprint(made["id"])
	w.call(t, admin, http.MethodDelete, other, nil).problem(http.StatusNotFound, "not-found")
	if got := w.call(t, admin, http.MethodDelete, path+"/"+fmt.Sprint(made["id"]), nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if all := listItems(w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)); len(all) != 0 {
		t.Errorf("after that: %v", all)
	}
}
