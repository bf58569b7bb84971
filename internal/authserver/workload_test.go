package authserver_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

func TestWorkload_GetsATokenForItsJWT(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w, key := c.workload(subject), c.key(c.Tenant, connectors.RoleAdmin)
	for name, jwt := range map[string]string{
		"RSA": signed(t, jose.RS256, rsaKey(), "rsa", c.facts(nil)), "RSA-PSS": signed(t, jose.PS256, rsaKey(), "rsa", c.facts(nil)),
		"EC": c.valid(), "no kid": signed(t, jose.ES256, ecKey(), "", c.facts(nil)),
		"token endpoint as audience": signed(t, jose.ES256, ecKey(), "ec", c.facts(map[string]any{"aud": baseURL + "/oauth/token"})),
		"no jti, nbf and iat":        signed(t, jose.ES256, ecKey(), "ec", c.facts(map[string]any{"jti": nil, "nbf": nil, "iat": nil})),
	} {
		r := c.exchange(w, jwt, "resource", baseURL+"/mcp/linear")
		_, refreshes := r.JSON["refresh_token"]
		if r.Status != http.StatusOK || r.text("token_type") != "Bearer" || r.JSON["expires_in"] != 3600.0 || r.text("scope") != "mcp" || refreshes {
			t.Fatalf("%s: %+v", name, r)
		}
		is := c.post("/oauth/introspect", url.Values{"token": {r.text("access_token")}}, "Authorization", "Bearer "+key)
		if is.JSON["active"] != true || is.text("agent_id") != c.agent.ID.String() || is.text("client_id") != w.ID.String() || is.text("workload") != "deploy" || is.text("aud") != baseURL+"/mcp/linear" {
			t.Errorf("%s: introspection says %v", name, is.JSON)
		}
	}
	if n := c.reads.Load(); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	c.wantTokens("six JWTs", 6, 6)
	list, err := c.programs.Workloads(t.Context(), c.ada, connectors.Ref(c.agent.Slug))
	if err != nil || len(list) != 1 || list[0].LastUsedAt == nil {
		t.Errorf("%+v, %v", list, err)
	}
	meta := map[string]any{}
	if err := json.Unmarshal(c.get(t, "/.well-known/oauth-authorization-server"), &meta); err != nil || !strings.Contains(strings.Join(toTexts(meta["grant_types_supported"]), " "), jwtBearer) {
		t.Errorf("metadata: %v, %v", meta["grant_types_supported"], err)
	}
}

func TestWorkload_AttacksGetNoToken(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w, sibling := c.workload(subject), c.workload("repo:acme/other:ref:refs/heads/main")
	c.publish(append(c.keys.Load().Keys, public("weak", weakKey().Public()))...)
	now := c.now()
	es := func(changes map[string]any) string { return signed(t, jose.ES256, ecKey(), "ec", c.facts(changes)) }
	der, err := x509.MarshalPKIXPublicKey(rsaKey().Public())
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(c.facts(nil))
	if err != nil {
		t.Fatal(err)
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(body) + "."
	valid := c.valid()
	for name, attack := range map[string]struct {
		id  connectors.AgentWorkloadID // zero: the workload's
		jwt string
	}{
		"wrong audience":            {jwt: es(map[string]any{"aud": "https://elsewhere.example.com"})},
		"audience of the gateway":   {jwt: es(map[string]any{"aud": baseURL + "/mcp"})},
		"audience with a slash":     {jwt: es(map[string]any{"aud": baseURL + "/"})},
		"no audience":               {jwt: es(map[string]any{"aud": nil})},
		"wrong issuer":              {jwt: es(map[string]any{"iss": "https://elsewhere.example.com"})},
		"issuer with a slash":       {jwt: es(map[string]any{"iss": c.site.URL + "/"})},
		"no issuer":                 {jwt: es(map[string]any{"iss": nil})},
		"wrong subject":             {jwt: es(map[string]any{"sub": "repo:acme/app:pull_request"})},
		"subject in another case":   {jwt: es(map[string]any{"sub": strings.ToUpper(subject)})},
		"expired":                   {jwt: es(map[string]any{"exp": now.Add(-time.Second).Unix()})},
		"no expiry":                 {jwt: es(map[string]any{"exp": nil})},
		"valid for two days":        {jwt: es(map[string]any{"exp": now.Add(48 * time.Hour).Unix()})},
		"valid without end":         {jwt: es(map[string]any{"exp": 1e300})},
		"nbf in the future":         {jwt: es(map[string]any{"nbf": now.Add(2 * time.Minute).Unix()})},
		"iat in the future":         {jwt: es(map[string]any{"iat": now.Add(2 * time.Minute).Unix()})},
		"alg none":                  {jwt: none},
		"HS256 with the public key": {jwt: signed(t, jose.HS256, der, "rsa", c.facts(nil))},
		"unknown kid":               {jwt: signed(t, jose.ES256, otherKey(), "other", c.facts(nil))},
		"another key under its kid": {jwt: signed(t, jose.ES256, otherKey(), "ec", c.facts(nil))},
		"another kind of key":       {jwt: signed(t, jose.ES256, otherKey(), "rsa", c.facts(nil))},
		"a short RSA key":           {jwt: signed(t, jose.RS256, weakKey(), "weak", c.facts(nil))},
		"changed claims":            {jwt: changedClaims(valid, es(nil))},
		"no signature":              {jwt: valid[:strings.LastIndex(valid, ".")+1]},
		"no JWT":                    {jwt: "x"},
		"too long":                  {jwt: es(map[string]any{"pad": strings.Repeat("x", 16<<10)})},
		"of another workload":       {id: sibling.ID, jwt: es(nil)},
		"of no workload":            {id: connectors.AgentWorkloadID{UUID: uuid.New()}, jwt: es(nil)},
		"of no workload, no iss":    {id: connectors.AgentWorkloadID{UUID: uuid.New()}, jwt: es(map[string]any{"iss": nil, "sub": nil})},
	} {
		id := w.ID
		if attack.id != (connectors.AgentWorkloadID{}) {
			id = attack.id
		}
		r := c.exchange(connectors.Workload{ID: id}, attack.jwt)
		if r.Status != http.StatusBadRequest || r.text("error") != "invalid_grant" || r.text("access_token") != "" || !strings.HasPrefix(r.text("error_description"), "this client_id has no workload") {
			t.Errorf("%s: %+v", name, r)
		}
		c.wantTokens(name, 0, 0)
	}
	for name, change := range map[string][]string{
		"no client":        {"client_id", ""},
		"no assertion":     {"assertion", ""},
		"admins' resource": {"resource", baseURL + "/mcp/admin"},
		"another resource": {"resource", "https://elsewhere.example.com/mcp"},
	} {
		if r := c.exchange(w, valid, change...); r.Status != http.StatusBadRequest || r.text("access_token") != "" {
			t.Errorf("%s: %+v", name, r)
		}
		c.wantTokens(name, 0, 0)
	}
	if r := c.exchange(w, valid); r.Status != http.StatusOK {
		t.Errorf("the JWT itself: %+v", r)
	}
}

// changedClaims is a JWT with the claims of another.
func changedClaims(jwt, other string) string {
	parts, others := strings.Split(jwt, "."), strings.Split(other, ".")
	return parts[0] + "." + others[1] + "." + parts[2]
}

func TestWorkload_ReplayGetsNoToken(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w, key := c.workload(subject), c.key(c.Tenant, connectors.RoleAdmin)
	twin := c.workloadOf(c.ada, c.Agent(t), connectors.Workload{Name: "twin", Issuer: c.site.URL, Subject: subject})
	for name, facts := range map[string]map[string]any{"with jti": nil, "without jti": {"jti": nil}} {
		jwt := signed(t, jose.ES256, ecKey(), "ec", c.facts(facts))
		first := c.exchange(w, jwt)
		before, used := c.tokens()
		for other, replay := range map[string]func() reply{
			"as another agent":                 func() reply { return c.exchange(twin, jwt) },
			"signature in its other form":      func() reply { return c.exchange(w, malleated(t, jwt)) },
			"signed again under the same name": func() reply { return c.exchange(w, signed(t, jose.RS256, rsaKey(), "rsa", claimsOf(t, jwt))) },
		} {
			if r := replay(); r.text("error") != "invalid_grant" || r.text("access_token") != "" {
				t.Errorf("%s, %s: %+v", name, other, r)
			}
			c.wantTokens(name+", "+other, before, used)
		}
		again := c.exchange(w, jwt) // a lost response
		if again.Status != http.StatusOK || c.opens(key, first.text("access_token")) || !c.opens(key, again.text("access_token")) {
			t.Errorf("%s: a JWT stands for other than its last token: %+v", name, again)
		}
		c.wantTokens(name+", lost response", before, used)
		c.AsSystem(t, "update used_assertions set used_at = used_at - interval '11 seconds'", nil)
		for range 3 {
			if r := c.exchange(w, jwt); r.text("error") != "invalid_grant" || r.text("access_token") != "" {
				t.Errorf("%s, later: %+v", name, r)
			}
		}
		c.wantTokens(name+", later", before, used)
	}
	list, err := c.Door().Audit().List(t.Context(), store.AuditFilter{Action: "agent_workload.refuse"})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("on record for two JWTs: %+v, %v", list.Items, err)
	}
}

// malleated is a JWT with the other valid form of its ES256 signature.
func malleated(t *testing.T, jwt string) string {
	t.Helper()
	cut := strings.LastIndex(jwt, ".")
	raw, err := base64.RawURLEncoding.DecodeString(jwt[cut+1:])
	if err != nil {
		t.Fatal(err)
	}
	s := new(big.Int).SetBytes(raw[32:])
	s.Sub(ecKey().Params().N, s).FillBytes(raw[32:])
	return jwt[:cut+1] + base64.RawURLEncoding.EncodeToString(raw)
}

func claimsOf(t *testing.T, jwt string) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(jwt, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWorkload_ConcurrentUsesAreOne(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w, key := c.workload(subject), c.key(c.Tenant, connectors.RoleAdmin)
	jwt := c.valid()
	var answers [20]reply
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = c.exchange(w, jwt) })
	}
	all.Wait()
	c.wantTokens("20 at once", 1, 1)
	good := 0
	for _, a := range answers {
		if a.Status != http.StatusOK && a.text("error") != "temporarily_unavailable" {
			t.Errorf("%+v", a)
		}
		if a.text("access_token") != "" && c.opens(key, a.text("access_token")) {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d tokens of one JWT are good", good)
	}
}

func TestWorkload_OfAnotherTenantGainsNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w := c.workload(subject)
	mallory, theirs := c.person(c.Other, connectors.RoleOwner), c.AgentIn(t, c.Other)
	same := c.workloadOf(mallory, theirs, connectors.Workload{Name: "same", Issuer: c.site.URL, Subject: subject})
	r := c.exchange(w, c.valid())
	if c.opens(c.key(c.Other, connectors.RoleOwner), r.text("access_token")) {
		t.Error("the token is of the other tenant")
	}
	var count int
	c.AsSystem(t, "select count(*)::int from agent_tokens where agent_workload_id = $1", []any{same.ID.UUID}, &count)
	if count != 0 {
		t.Errorf("the other tenant's workload has %d tokens", count)
	}
	if err := c.programs.RemoveWorkload(t.Context(), mallory, connectors.Ref(theirs.Slug), w.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the other tenant removes the workload: %v", err)
	}
	if _, err := c.programs.AddWorkload(t.Context(), mallory, connectors.Ref(c.agent.Slug), same); !fault.Is(err, fault.NotFound) {
		t.Errorf("the other tenant adds a workload to the agent: %v", err)
	}
	if _, err := c.programs.AddWorkload(t.Context(), c.person(c.Tenant, connectors.RoleMember), connectors.Ref(c.agent.Slug), same); !fault.Is(err, fault.Denied) {
		t.Errorf("a member adds a workload: %v", err)
	}
}

func TestWorkload_TokensEndWithIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	key := c.key(c.Tenant, connectors.RoleAdmin)
	w, old := c.workload(subject), c.valid()
	token := c.exchange(w, old).text("access_token")
	if !c.opens(key, token) {
		t.Fatal("the token is none")
	}
	if err := c.programs.RemoveWorkload(t.Context(), c.ada, connectors.Ref(c.agent.Slug), w.ID); err != nil {
		t.Fatal(err)
	}
	if c.opens(key, token) {
		t.Error("the token of a removed workload goes on")
	}
	if r := c.exchange(w, c.valid()); r.text("error") != "invalid_grant" {
		t.Errorf("a removed workload: %+v", r)
	}
	next := c.workload(subject)
	if r := c.exchange(next, old); r.text("error") != "invalid_grant" {
		t.Errorf("a JWT that was used counts again for a new workload: %+v", r)
	}
	c.wantTokens("removed", 0, 1)
	token = c.exchange(next, c.valid()).text("access_token")
	if r := c.post("/oauth/revoke", url.Values{"token": {token}, "client_id": {next.ID.String()}}); r.Status != http.StatusOK || c.opens(key, token) {
		t.Errorf("a workload that revokes its token: %+v", r)
	}
	token = c.exchange(next, c.valid()).text("access_token")
	if err := c.Door().Agents().Delete(t.Context(), c.agent.ID); err != nil {
		t.Fatal(err)
	}
	if c.opens(key, token) {
		t.Error("the token of a deleted agent goes on")
	}
	if r := c.exchange(next, c.valid()); r.text("error") != "invalid_grant" {
		t.Errorf("a workload of a deleted agent: %+v", r)
	}
	c.wantTokens("agent deleted", 0, 3)
}

// Neither the text of a JWT nor that of a token is in a row of any table.
func TestWorkload_NoTextIsStored(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w, jwt := c.workload(subject), c.valid()
	token := c.exchange(w, jwt).text("access_token")
	secrets := []string{jwt[strings.LastIndex(jwt, ".")+1:], strings.Split(jwt, ".")[1], token[len(token)-20:]}
	for _, s := range secrets {
		secrets = append(secrets, hex.EncodeToString([]byte(s)))
	}
	var tables []string
	c.AsSystem(t, "select array_agg(c.relname::text order by 1) from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition", nil, &tables)
	if len(tables) < 50 {
		t.Fatalf("%d tables", len(tables))
	}
	for _, table := range tables {
		var found bool
		c.AsSystem(t, "select exists (select from "+table+" x where exists (select from unnest($1::text[]) s where position(s in x::text) > 0))", []any{secrets}, &found)
		if found {
			t.Errorf("a secret is in %s", table)
		}
	}
}

func TestWorkload_SweepKeepsJWTsUntilTheyExpire(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	w := c.workload(subject)
	if r := c.exchange(w, c.valid()); r.Status != http.StatusOK {
		t.Fatalf("%+v", r)
	}
	sweep := func() {
		if _, err := c.St.System().SweepExpired(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	c.wantTokens("now", 1, 1)
	c.AsSystem(t, "update used_assertions set expires_at = now() - interval '11 minutes'", nil)
	c.AsSystem(t, "update agent_tokens set expires_at = now() - interval '11 minutes'", nil)
	sweep()
	c.wantTokens("after the expiry", 0, 0)
}
