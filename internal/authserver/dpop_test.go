package authserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/jws/jwstest"
	"patchbay/internal/safehttp"
)

const tokenURL = baseURL + "/oauth/token"

// prover is a client with a key.
func (w *town) prover() *jwstest.Prover {
	w.t.Helper()
	p := jwstest.NewProver(w.t)
	p.Now = w.now
	return p
}

// proved sends a token request with a new proof.
func (w *town) proved(p *jwstest.Prover, form url.Values) reply {
	w.t.Helper()
	return w.post("/oauth/token", form, "DPoP", p.Proof(w.t, http.MethodPost, tokenURL, "", nil))
}

func (w *town) code(client string, changes ...string) string {
	w.t.Helper()
	return w.allowed(w.ada, asks(client, changes...), connectors.Ref(w.agent.Slug)).Get("code")
}

// accessTokens is how many access tokens are stored.
func (w *town) accessTokens() int {
	w.t.Helper()
	return w.Count(w.t, "agent_tokens") + w.Count(w.t, "member_tokens")
}

func (w *town) wantRefused(what string, r reply, code string, tokens int) {
	w.t.Helper()
	if r.Status != http.StatusBadRequest || r.text("error") != code || r.text("access_token") != "" {
		w.t.Errorf("%s: %d %v, want %s", what, r.Status, r.JSON, code)
	}
	if n := w.accessTokens(); n != tokens {
		w.t.Errorf("%s: %d access tokens are stored, want %d", what, n, tokens)
	}
}

// introspected is what an admin's key is told of a token.
func (w *town) introspected(token string) map[string]any {
	w.t.Helper()
	return w.post("/oauth/introspect", url.Values{"token": {token}}, "Authorization", "Bearer "+w.key(w.Tenant, connectors.RoleAdmin)).JSON
}

func TestDPoP_MetadataNamesAlgorithms(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	var meta struct {
		Algorithms []string `json:"dpop_signing_alg_values_supported"`
	}
	if err := json.Unmarshal(w.get(t, "/.well-known/oauth-authorization-server"), &meta); err != nil || len(meta.Algorithms) == 0 || meta.Algorithms[0] != "ES256" {
		t.Errorf("%+v %v", meta, err)
	}
}

func TestDPoP_TokensAreBound(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p, thief := w.registers(callback), w.prover(), w.prover()
	first := w.proved(p, exchanges(client, w.code(client)))
	if first.Status != http.StatusOK || first.text("token_type") != "DPoP" {
		t.Fatalf("%+v", first)
	}
	is := w.introspected(first.text("access_token"))
	if cnf, _ := is["cnf"].(map[string]any); is["active"] != true || is["token_type"] != "DPoP" || cnf["jkt"] != p.Thumbprint(t) {
		t.Errorf("introspection: %v", is)
	}
	refresh := refreshes(client, first.text("refresh_token"))
	w.wantRefused("refresh without proof", w.token(refresh), "invalid_dpop_proof", 1)
	w.wantRefused("refresh with another key", w.proved(thief, refresh), "invalid_grant", 1)
	second := w.proved(p, refresh)
	if second.Status != http.StatusOK || second.text("token_type") != "DPoP" {
		t.Fatalf("refresh: %+v", second)
	}
	if again := w.proved(p, refresh); again.text("refresh_token") != second.text("refresh_token") {
		t.Errorf("a repeated refresh gets another token: %+v", again)
	}
	if ends := w.ends(); len(ends) != 0 {
		t.Errorf("access ended: %v", ends)
	}
}

func TestDPoP_OlderReleaseKnowsNoBoundToken(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p := w.registers(callback), w.prover()
	code := w.code(client, "dpop_jkt", p.Thumbprint(t))
	w.forgetKeys()
	w.wantRefused("bound code", w.token(exchanges(client, code)), "invalid_grant", 0)
	bound := w.proved(p, exchanges(client, w.code(client)))
	w.forgetKeys()
	if w.opens(w.key(w.Tenant, connectors.RoleAdmin), bound.text("access_token")) {
		t.Error("a bound access token is one without a key")
	}
	w.wantRefused("bound refresh token", w.refresh(client, bound.text("refresh_token")), "invalid_grant", 1)
}

// forgetKeys makes stored keys unknown, as to a release without proofs.
func (w *town) forgetKeys() {
	w.t.Helper()
	for _, table := range []string{"agent_clients", "agent_tokens", "member_tokens"} {
		w.AsSystem(w.t, "update "+table+" set key_thumbprint = null", nil)
	}
}

func TestDPoP_RefreshTokenIsBoundByItsFirstProof(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p := w.registers(callback), w.prover()
	plain := w.signedIn(client)
	if plain.text("token_type") != "Bearer" {
		t.Fatalf("%+v", plain)
	}
	bound := w.proved(p, refreshes(client, plain.text("refresh_token")))
	if bound.text("token_type") != "DPoP" {
		t.Fatalf("%+v", bound)
	}
	w.wantRefused("without proof", w.refresh(client, bound.text("refresh_token")), "invalid_dpop_proof", 2)
	w.wantRefused("the one before, without proof", w.refresh(client, plain.text("refresh_token")), "invalid_dpop_proof", 2)
	w.passes(time.Minute)
	w.wantRefused("reuse of the one before", w.refresh(client, plain.text("refresh_token")), "invalid_grant", 0)
	if ends := w.ends(); len(ends) != 1 {
		t.Errorf("reuse is not noticed: %v", ends)
	}
}

// TestDPoP_RepeatedRefreshBindsNothing: a thief that repeats a refresh at once, with a key, must not bind the client's new token.
func TestDPoP_RepeatedRefreshBindsNothing(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, thief := w.registers(callback), w.prover()
	first := w.signedIn(client)
	second := w.refresh(client, first.text("refresh_token"))
	w.wantRefused("a repetition with a key", w.proved(thief, refreshes(client, first.text("refresh_token"))), "invalid_dpop_proof", 2)
	if r := w.refresh(client, second.text("refresh_token")); r.Status != http.StatusOK {
		t.Errorf("the client's token is bound to another key: %+v", r)
	}
}

func TestDPoP_CodeIsBoundToKey(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p, thief := w.registers(callback), w.prover(), w.prover()
	code := w.code(client, "dpop_jkt", p.Thumbprint(t))
	w.wantRefused("without proof", w.token(exchanges(client, code)), "invalid_dpop_proof", 0)
	if r := w.proved(p, exchanges(client, code)); r.text("token_type") != "DPoP" {
		t.Errorf("own key: %+v", r)
	}
	code = w.code(client, "dpop_jkt", p.Thumbprint(t))
	w.wantRefused("another key", w.proved(thief, exchanges(client, code)), "invalid_grant", 1)
	w.wantRefused("the right key after another", w.proved(p, exchanges(client, code)), "invalid_grant", 1)
	if ends := w.ends(); len(ends) != 1 || ends[0] != "its code was used with another key" {
		t.Errorf("ends: %v", ends)
	}
	if _, err := w.programs.Request(t.Context(), asks(client, "dpop_jkt", "abc")); err == nil {
		t.Error("a dpop_jkt that is no thumbprint is accepted")
	}
}

func TestDPoP_ReusedCodeEndsBoundAccess(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p := w.registers(callback), w.prover()
	code := w.code(client)
	if r := w.proved(p, exchanges(client, code)); r.Status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	w.wantRefused("reuse without proof", w.token(exchanges(client, code)), "invalid_grant", 0)
}

func TestDPoP_WrongProofsGetNoToken(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p := w.registers(callback), w.prover()
	code := w.code(client)
	form := exchanges(client, code)
	for name, changes := range map[string]map[string]any{
		"another method":     {"htm": http.MethodGet},
		"another URL":        {"htu": baseURL + "/mcp"},
		"another host":       {"htu": "http://127.0.0.1:8080/oauth/token"},
		"old":                {"iat": w.now().Add(-time.Hour).Unix()},
		"without identifier": {"jti": nil},
	} {
		w.wantRefused(name, w.post("/oauth/token", form, "DPoP", p.Proof(t, http.MethodPost, tokenURL, "", changes)), "invalid_dpop_proof", 0)
	}
	w.wantRefused("two", w.post("/oauth/token", form, "DPoP", p.Proof(t, http.MethodPost, tokenURL, "", nil)+","+p.Proof(t, http.MethodPost, tokenURL, "", nil)), "invalid_dpop_proof", 0)
	w.wantRefused("empty", w.post("/oauth/token", form, "DPoP", ""), "invalid_dpop_proof", 0)
	proof := p.Proof(t, http.MethodPost, tokenURL, "", nil)
	r := w.post("/oauth/token", form, "DPoP", proof)
	if r.text("token_type") != "DPoP" {
		t.Fatalf("the code is not valid any more: %+v", r)
	}
	w.wantRefused("a stolen proof, again", w.post("/oauth/token", refreshes(client, r.text("refresh_token")), "DPoP", proof), "invalid_dpop_proof", 1)
	w.wantRefused("at another replica", w.atReplica(form, proof, w.code(client)), "invalid_dpop_proof", 1)
}

// atReplica redeems a code at another process.
func (w *town) atReplica(form url.Values, proof, code string) reply {
	w.t.Helper()
	own := w.router
	defer func() { w.router = own }()
	w.router = chi.NewRouter()
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local, UserAgent: "Patchbay/test"})
	w.t.Cleanup(egress.Client().CloseIdleConnections)
	w.server(egress).Mount(w.router)
	return w.post("/oauth/token", with(form, "code", code), "DPoP", proof)
}

func TestDPoP_ClientThatNeedsProofsGetsNoBearerToken(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	made := w.send("/oauth/register", "application/json", `{"redirect_uris": ["`+callback+`"], "dpop_bound_access_tokens": true}`)
	if made.JSON["dpop_bound_access_tokens"] != true {
		t.Fatalf("registration: %+v", made)
	}
	client, p := made.text("client_id"), w.prover()
	code := w.code(client)
	w.wantRefused("without proof", w.token(exchanges(client, code)), "invalid_dpop_proof", 0)
	r := w.proved(p, exchanges(client, code))
	if r.text("token_type") != "DPoP" {
		t.Fatalf("%+v", r)
	}
	w.wantRefused("refresh without proof", w.refresh(client, r.text("refresh_token")), "invalid_dpop_proof", 1)
	document, _ := w.serves("dpop_bound_access_tokens", true)
	w.wantRefused("by its metadata document", w.token(exchanges(document, w.code(document))), "invalid_dpop_proof", 1)
}

func TestDPoP_WorkloadsTokenIsBound(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	job, p := c.workload(subject), c.prover()
	form := url.Values{"grant_type": {jwtBearer}, "client_id": {job.ID.String()}, "assertion": {c.valid()}}
	proof := p.Proof(t, http.MethodPost, tokenURL, "", nil)
	r := c.post("/oauth/token", form, "DPoP", proof)
	if cnf, _ := c.introspected(r.text("access_token"))["cnf"].(map[string]any); r.text("token_type") != "DPoP" || cnf["jkt"] != p.Thumbprint(t) {
		t.Errorf("%+v", r)
	}
	c.wantRefused("the same JWT at once, without proof", c.token(form), "invalid_grant", 1)
	c.wantRefused("the same JWT at once, with another key", c.proved(c.prover(), form), "invalid_grant", 1)
	c.wantRefused("a used proof", c.post("/oauth/token", with(form, "assertion", c.valid()), "DPoP", proof), "invalid_dpop_proof", 1)
	c.wantTokens("after a used proof", 1, 1)
}

func TestDPoP_IdentityAssertionsTokenIsBound(t *testing.T) {
	t.Parallel()
	w := newCompany(t)
	p := w.prover()
	form := func() url.Values {
		return url.Values{"grant_type": {jwtBearer}, "client_id": {w.client}, "assertion": {w.asserted(jose.ES256, ecKey(), "ec", "oauth-id-jag+jwt", w.identity(nil))}}
	}
	proof := p.Proof(t, http.MethodPost, tokenURL, "", nil)
	r := w.post("/oauth/token", form(), "DPoP", proof)
	if cnf, _ := w.introspected(r.text("access_token"))["cnf"].(map[string]any); r.text("token_type") != "DPoP" || cnf["jkt"] != p.Thumbprint(t) {
		t.Errorf("%+v", r)
	}
	w.wantRefused("a used proof", w.post("/oauth/token", form(), "DPoP", proof), "invalid_dpop_proof", 1)
	w.AsSystem(t, "update mcp_clients set dpop_required = true", nil)
	w.wantRefused("a client that needs proofs", w.token(form()), "invalid_dpop_proof", 1)
}

func TestDPoP_UsedProofsAreKeptUntilTheyExpire(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, p := w.registers(callback), w.prover()
	if r := w.proved(p, exchanges(client, w.code(client))); r.Status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	for _, want := range []int{1, 0} {
		if _, err := w.St.System().SweepExpired(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.Count(t, "used_proofs"); n != want {
			t.Errorf("%d used proofs are kept, want %d", n, want)
		}
		w.AsSystem(t, "update used_proofs set expires_at = now() - interval '11 minutes'", nil)
	}
}

// TestDPoP_BoundAssertionsNeedTheirKey: an assertion that its issuer bound to a key is worth nothing to a thief without it.
func TestDPoP_BoundAssertionsNeedTheirKey(t *testing.T) {
	t.Parallel()
	c, w := newCluster(t), newCompany(t)
	job, p := c.workload(subject), c.prover()
	tokens := map[string]func(confirmed map[string]any) (*town, url.Values){
		"workload": func(cnf map[string]any) (*town, url.Values) {
			jwt := signed(t, jose.ES256, ecKey(), "ec", c.facts(map[string]any{"cnf": cnf, "jti": uuid.NewString()}))
			return c.town, url.Values{"grant_type": {jwtBearer}, "client_id": {job.ID.String()}, "assertion": {jwt}}
		},
		"identity": func(cnf map[string]any) (*town, url.Values) {
			jag := w.asserted(jose.ES256, ecKey(), "ec", "oauth-id-jag+jwt", w.identity(map[string]any{"cnf": cnf}))
			return w.town, url.Values{"grant_type": {jwtBearer}, "client_id": {w.client}, "assertion": {jag}}
		},
	}
	for name, bound := range tokens {
		mine, certificate := map[string]any{"jkt": p.Thumbprint(t)}, map[string]any{"x5t#S256": p.Thumbprint(t)}
		server, form := bound(mine)
		server.wantRefused(name+" without a proof", server.token(form), "invalid_grant", 0)
		server.wantRefused(name+" with another key", server.proved(server.prover(), form), "invalid_grant", 0)
		_, other := bound(certificate)
		server.wantRefused(name+" bound to a certificate", server.proved(p, other), "invalid_grant", 0)
		if r := server.proved(p, form); r.text("token_type") != "DPoP" {
			t.Errorf("%s with its key: %+v", name, r)
		}
	}
}
