package authserver_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// subject is the subject of the workload under test.
const subject = "repo:acme/app:ref:refs/heads/main"

// Keys are made once: an RSA key takes long.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return mustKey(rsa.GenerateKey(rand.Reader, 2048)) })
	weakKey  = sync.OnceValue(func() *rsa.PrivateKey { return mustKey(rsa.GenerateKey(rand.Reader, 1024)) })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return mustKey(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	otherKey = sync.OnceValue(func() *ecdsa.PrivateKey { return mustKey(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
)

func mustKey[K any](key K, err error) K {
	if err != nil {
		panic(err)
	}
	return key
}

// cluster is an issuer of workloads' JWTs at the town's site.
type cluster struct {
	*town
	keys   atomic.Pointer[jose.JSONWebKeySet] // what it publishes
	claims atomic.Pointer[string]             // the issuer in its metadata
	down   atomic.Bool
	reads  atomic.Int32 // of the key set
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{town: newTown(t)}
	c.claims.Store(&c.site.URL)
	c.publish(public("rsa", rsaKey().Public()), public("ec", ecKey().Public()))
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case c.down.Load():
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": *c.claims.Load(), "jwks_uri": c.site.URL + "/keys"})
		case r.URL.Path == "/keys":
			c.reads.Add(1)
			_ = json.NewEncoder(w).Encode(c.keys.Load())
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c.page.Store(&page)
	return c
}

func public(kid string, key crypto.PublicKey) jose.JSONWebKey {
	return jose.JSONWebKey{KeyID: kid, Key: key, Use: "sig"}
}

func (c *cluster) publish(keys ...jose.JSONWebKey) { c.keys.Store(&jose.JSONWebKeySet{Keys: keys}) }

// workload is a workload of the agent, with the cluster as its issuer.
func (c *cluster) workload(sub string) connectors.Workload {
	c.t.Helper()
	return c.workloadOf(c.ada, c.agent, connectors.Workload{Name: "deploy", Issuer: c.site.URL, Subject: sub})
}

func (c *cluster) workloadOf(by auth.Actor, agent connectors.Agent, w connectors.Workload) connectors.Workload {
	c.t.Helper()
	made, err := c.programs.AddWorkload(c.t.Context(), by, connectors.Ref(agent.Slug), w)
	if err != nil {
		c.t.Fatalf("add a workload: %v", err)
	}
	return made
}

// facts are the claims of a valid JWT, with changes; nil takes one away.
func (c *cluster) facts(changes map[string]any) map[string]any {
	now := c.now()
	all := map[string]any{
		"iss": c.site.URL, "sub": subject, "aud": []string{"https://elsewhere.example.com", baseURL}, "jti": uuid.NewString(),
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// signed is a JWT with these claims.
func signed(t *testing.T, alg jose.SignatureAlgorithm, key any, kid string, facts map[string]any) string {
	t.Helper()
	body, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	opts := (&jose.SignerOptions{}).WithType("JWT")
	if kid != "" {
		opts = opts.WithHeader("kid", kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// valid is a new valid JWT of the cluster.
func (c *cluster) valid() string {
	c.t.Helper()
	return signed(c.t, jose.ES256, ecKey(), "ec", c.facts(nil))
}

// exchange is the answer to a workload that sends a JWT.
func (c *cluster) exchange(w connectors.Workload, assertion string, changes ...string) reply {
	c.t.Helper()
	return c.token(with(url.Values{"grant_type": {jwtBearer}, "client_id": {w.ID.String()}, "assertion": {assertion}}, changes...))
}

// tokens is how many access tokens of workloads are stored, and how many JWTs count as used.
func (c *cluster) tokens() (tokens, used int) {
	c.t.Helper()
	c.AsSystem(c.t, "select (select count(*) from agent_tokens where agent_workload_id is not null)::int, (select count(*) from used_assertions)::int", nil, &tokens, &used)
	return tokens, used
}

func (c *cluster) wantTokens(what string, tokens, used int) {
	c.t.Helper()
	if haveTokens, haveUsed := c.tokens(); haveTokens != tokens || haveUsed != used {
		c.t.Errorf("%s: %d tokens are stored and %d assertions count as used, want %d and %d", what, haveTokens, haveUsed, tokens, used)
	}
}
