package mcpadmin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/jws/jwstest"
	"patchbay/internal/mcpadmin"
)

// newBoundProgram returns the token of a program that acts for a member, bound to a client's key.
func (w *testEnv) newBoundProgram(t *testing.T, client *jwstest.Prover) string {
	t.Helper()
	m := w.Member(t, connectors.RoleAdmin)
	return w.BoundMemberToken(t, w.Tenant, w.ProgramAsIn(t, w.Tenant, m.UserID, connectors.ScopeAdmin), client.Thumbprint(t)).Reveal()
}

// TestDPoP_ConfirmedActUsesOneProof checks that the second identification, after the question, needs no second proof.
func TestDPoP_ConfirmedActUsesOneProof(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w, client := newWorld(t), jwstest.NewProver(t)
			w.seedTool(t)
			token := w.newBoundProgram(t, client)
			w.prove = func(r *http.Request) {
				r.Header.Set("Authorization", "DPoP "+token)
				r.Header.Set("DPoP", client.Proof(t, r.Method, w.url+mcpadmin.Path, token, nil))
			}
			a := w.connect(t, token, revision, "accept")
			a.callTool(t, "grant_tools", exampleArguments["grant_tools"], nil)
			if len(a.questions) != 1 {
				t.Errorf("a person was asked %q", a.questions)
			}
		})
	}
}

func TestDPoP_StolenTokenOpensNothing(t *testing.T) {
	t.Parallel()
	w, client, thief := newWorld(t), jwstest.NewProver(t), jwstest.NewProver(t)
	token := w.newBoundProgram(t, client)
	_, plain := w.newMemberProgram(t, connectors.RoleAdmin, connectors.ScopeAdmin)
	proof := func(p *jwstest.Prover, changes map[string]any) string {
		return p.Proof(t, http.MethodPost, w.url+mcpadmin.Path, token, changes)
	}
	used := proof(client, nil)
	if got := w.sendProof(t, "DPoP "+token, used); got.StatusCode == http.StatusUnauthorized {
		t.Fatalf("a good proof is refused: %s", got.Header.Get("WWW-Authenticate"))
	}
	for name, c := range map[string]struct{ authorization, proof, code string }{
		"as Bearer":             {"Bearer " + token, "", "invalid_token"},
		"as Bearer with proof":  {"Bearer " + token, proof(client, nil), "invalid_token"},
		"without proof":         {"DPoP " + token, "", "invalid_dpop_proof"},
		"with another key":      {"DPoP " + token, proof(thief, nil), "invalid_token"},
		"with a used proof":     {"DPoP " + token, used, "invalid_dpop_proof"},
		"for another URL":       {"DPoP " + token, proof(client, map[string]any{"htu": w.url + "/mcp"}), "invalid_dpop_proof"},
		"for another token":     {"DPoP " + token, proof(client, map[string]any{"ath": jwstest.Hash(plain)}), "invalid_dpop_proof"},
		"a plain token as DPoP": {"DPoP " + plain, thief.Proof(t, http.MethodPost, w.url+mcpadmin.Path, plain, nil), "invalid_token"},
		"an API key as DPoP":    {"DPoP " + w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), "", "invalid_token"},
	} {
		got := w.sendProof(t, c.authorization, c.proof)
		if challenge := got.Header.Get("WWW-Authenticate"); got.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(challenge, "DPoP ") ||
			!strings.Contains(challenge, `error="`+c.code+`"`) {
			t.Errorf("%s: %d %s", name, got.StatusCode, challenge)
		}
	}
}

func (w *testEnv) sendProof(t *testing.T, authorization, proof string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+mcpadmin.Path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", authorization)
	if proof != "" {
		r.Header.Set("DPoP", proof)
	}
	res, err := w.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}
