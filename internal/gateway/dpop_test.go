package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/gateway"
	"patchbay/internal/jws/jwstest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const countCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_one__count","arguments":{},` + modernMeta + `}}`

// boundEnv is an agent with a token that is bound to a client's key, and a server that counts its calls.
type boundEnv struct {
	*testEnv
	client *jwstest.Prover
	agent  connectors.Agent
	member connectors.UserID
	token  string
	calls  atomic.Int64
}

func newBoundEnv(t *testing.T) *boundEnv {
	t.Helper()
	b := &boundEnv{testEnv: newTestEnv(t), client: jwstest.NewProver(t)}
	b.agent, b.member = b.newAutoAgent(t), b.Member(t, connectors.RoleAdmin).UserID
	u := newUpstream(t, sdk.StreamableHTTPOptions{})
	u.AddTool(&sdk.Tool{Name: "count", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		b.calls.Add(1)
		return &sdk.CallToolResult{}, nil
	})
	b.Grant(t, b.agent.ID, b.newConnector(t, "one", u.url).ID)
	b.token = b.newToken(t, b.client.Thumbprint(t))
	return b
}

func (b *boundEnv) newToken(t *testing.T, key string) string {
	t.Helper()
	return b.BoundAccessToken(t, b.Tenant, b.ProgramIn(t, b.Tenant, b.agent.ID, b.member), "/mcp", key).Reveal()
}

func (b *boundEnv) proof(t *testing.T, changes map[string]any) string {
	t.Helper()
	return b.client.Proof(t, http.MethodPost, b.url+"/mcp", b.token, changes)
}

// wantRefused checks that a call is refused with a challenge and reaches no server.
func (b *boundEnv) wantRefused(t *testing.T, what, scheme, code string, got answer) {
	t.Helper()
	challenge := got.header.Get("Www-Authenticate")
	if got.status != http.StatusUnauthorized || !strings.HasPrefix(challenge, scheme+" ") || !strings.Contains(challenge, `error="`+code+`"`) ||
		strings.Contains(challenge, "algs=") != (scheme == "DPoP") {
		t.Errorf("%s: %d %s %s", what, got.status, challenge, got.body)
	}
	if n := b.calls.Load(); n != 0 {
		t.Errorf("%s: %d calls reached the server", what, n)
		b.calls.Store(0)
	}
}

func TestDPoP_CallWithProofReachesServer(t *testing.T) {
	t.Parallel()
	b := newBoundEnv(t)
	for n := range int64(3) {
		got := post(t, b.url+"/mcp", countCall, "Authorization", "DPoP "+b.token, "DPoP", b.proof(t, nil))
		if got.status != http.StatusOK || b.calls.Load() != n+1 {
			t.Fatalf("%d %s, %d calls", got.status, got.body, b.calls.Load())
		}
	}
	if n := b.Count(t, "used_proofs"); n != 3 {
		t.Errorf("%d proofs count as used", n)
	}
}

func TestDPoP_StolenTokenOpensNothing(t *testing.T) {
	t.Parallel()
	b := newBoundEnv(t)
	thief := jwstest.NewProver(t)
	plain := b.newToken(t, "")
	send := func(authorization, proof string) answer {
		headers := []string{"Authorization", authorization}
		if proof != "" {
			headers = append(headers, "DPoP", proof)
		}
		return post(t, b.url+"/mcp", countCall, headers...)
	}
	theirs := func(changes map[string]any) string {
		return thief.Proof(t, http.MethodPost, b.url+"/mcp", b.token, changes)
	}
	b.wantRefused(t, "as Bearer", "DPoP", "invalid_token", send("Bearer "+b.token, ""))
	b.wantRefused(t, "as Bearer with a proof", "DPoP", "invalid_token", send("Bearer "+b.token, b.proof(t, nil)))
	b.wantRefused(t, "without proof", "DPoP", "invalid_dpop_proof", send("DPoP "+b.token, ""))
	b.wantRefused(t, "with another key", "DPoP", "invalid_token", send("DPoP "+b.token, theirs(nil)))
	b.wantRefused(t, "a plain token as DPoP", "DPoP", "invalid_token", send("DPoP "+plain, thief.Proof(t, http.MethodPost, b.url+"/mcp", plain, nil)))
	b.wantRefused(t, "an agent's own token as DPoP", "DPoP", "invalid_token", send("DPoP "+b.Token(t, b.agent.ID).Reveal(), theirs(nil)))
	b.wantRefused(t, "an unknown token as DPoP", "DPoP", "invalid_token", send("DPoP "+b.token[:40], b.proof(t, nil)))
	for what, changes := range map[string]map[string]any{
		"for another token":          {"ath": jwstest.Hash(plain)},
		"without token":              {"ath": nil},
		"for another method":         {"htm": http.MethodGet},
		"for another path":           {"htu": b.url + "/mcp/one"},
		"for another host":           {"htu": "https://elsewhere.example.com/mcp"},
		"of an hour ago":             {"iat": time.Now().Add(-time.Hour).Unix()},
		"without identifier":         {"jti": nil},
		"for the token endpoint":     {"htu": b.url + "/oauth/token"},
		"for a path with the prefix": {"htu": b.url + "/mcp/"},
	} {
		b.wantRefused(t, what, "DPoP", "invalid_dpop_proof", send("DPoP "+b.token, b.proof(t, changes)))
	}
	if n := b.Count(t, "used_proofs"); n != 0 {
		t.Errorf("%d refused proofs count as used", n)
	}
}

func TestDPoP_ProofIsUsedOnceAtAllReplicas(t *testing.T) {
	t.Parallel()
	b := newBoundEnv(t)
	st, err := store.Open(t.Context(), b.Pool, b.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	base, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	other := startProcess(t, st)
	other.handler = gateway.New(gateway.Options{Store: st, Access: other.access, Caller: other.caller, BaseURL: base, Version: "test"})
	send := func(at, proof string) answer {
		return post(t, at+"/mcp", countCall, "Authorization", "DPoP "+b.token, "DPoP", proof)
	}
	proof := b.proof(t, nil)
	if got := send(b.url, proof); got.status != http.StatusOK || b.calls.Swap(0) != 1 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	b.wantRefused(t, "at the same replica", "DPoP", "invalid_dpop_proof", send(b.url, proof))
	b.wantRefused(t, "at another replica", "DPoP", "invalid_dpop_proof", send(other.url, proof))
	if got := send(other.url, b.proof(t, nil)); got.status != http.StatusOK {
		t.Errorf("a new proof for the public URL at another replica: %d %s", got.status, got.body)
	}
	b.calls.Store(0)
	own := b.client.Proof(t, http.MethodPost, other.url+"/mcp", b.token, nil)
	b.wantRefused(t, "for the replica's own URL, which is not the public one", "DPoP", "invalid_dpop_proof", send(other.url, own))
}

// TestDPoP_UnrecordedProofOpensNothing: where the use of a proof can't be recorded, no call is made. Plain tokens work on.
func TestDPoP_UnrecordedProofOpensNothing(t *testing.T) {
	t.Parallel()
	b := newBoundEnv(t)
	plain := b.newToken(t, "")
	b.AsOwner(t, "revoke insert on used_proofs from patchbay_app")
	got := post(t, b.url+"/mcp", countCall, "Authorization", "DPoP "+b.token, "DPoP", b.proof(t, nil))
	if got.status < http.StatusInternalServerError || b.calls.Load() != 0 {
		t.Errorf("%d %s, %d calls", got.status, got.body, b.calls.Load())
	}
	if got := post(t, b.url+"/mcp", countCall, "Authorization", "Bearer "+plain); got.status != http.StatusOK || b.calls.Load() != 1 {
		t.Errorf("a plain token: %d %s", got.status, got.body)
	}
}

func TestDPoP_PlainTokensCostNoStatement(t *testing.T) {
	t.Parallel()
	b := newBoundEnv(t)
	plain := secret.Text(b.newToken(t, ""))
	for range 2 {
		if got := post(t, b.url+"/mcp", countCall, "Authorization", bearerHeader(plain), "DPoP", b.proof(t, nil)); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if n := b.Count(t, "used_proofs"); n != 0 {
		t.Errorf("%d proofs were recorded for plain tokens", n)
	}
}

func TestDPoP_ResourceMetadata(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	var doc struct {
		Algorithms []string `json:"dpop_signing_alg_values_supported"`
		Required   *bool    `json:"dpop_bound_access_tokens_required"`
	}
	got := request(t, http.MethodGet, b.url+"/.well-known/oauth-protected-resource/mcp", "")
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || len(doc.Algorithms) == 0 || doc.Required == nil || *doc.Required {
		t.Errorf("%s: %v", got.body, err)
	}
}
