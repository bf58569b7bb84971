package api_test

import (
	"net/http"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
)

// moveConnector changes the connector's URL to another origin with the same authorization server.
func (a *oauthAccount) moveConnector(t *testing.T) {
	t.Helper()
	other := oauthtest.Start(t, oauthtest.Behaviour{})
	server := other.Protect(t, oauthtest.ResourceBehaviour{Servers: []string{a.as.Issuer}, Next: mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})})
	a.call(t, a.createKey(t, connectors.RoleAdmin), http.MethodPatch, a.path, map[string]any{"url": server.URL, "confirm": true}).want(http.StatusOK)
}

// runRevocation runs the job that revokes deleted grants, and returns the revoked tokens.
func (a *oauthAccount) runRevocation(t *testing.T) (tokens []string) {
	t.Helper()
	a.AsOwner(t, "update account_revocations set due_at = now()")
	if _, err := a.connect.RevokeDeleted(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.as.Requests(oauthtest.Revoke) {
		tokens = append(tokens, r.Form.Get("token"))
	}
	if n := a.Count(t, "account_revocations"); n != 0 {
		t.Errorf("%d revocations are left", n)
	}
	return tokens
}

func TestMovedConnector_RevokesItsAccount(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.connectAccount(t, nil)
	g, err := a.St.Vault(a.Tenant).Grant(t.Context(), a.connector.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.moveConnector(t)
	if tokens := a.runRevocation(t); len(tokens) != 1 || tokens[0] != g.Tokens.RefreshToken.Reveal() {
		t.Errorf("revoked %v", tokens)
	}
}

func TestMovedConnector_SparesTheAccountOfItsNewOrigin(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.connectAccount(t, nil)
	a.moveConnector(t)
	a.connectAccount(t, nil)
	if tokens := a.runRevocation(t); len(tokens) != 0 {
		t.Errorf("revoked %v", tokens)
	}
	g, err := a.St.Vault(a.Tenant).Grant(t.Context(), a.connector.ID, nil)
	if err != nil || g.Status != connectors.CredentialActive {
		t.Errorf("%s, %v", g.Status, err)
	}
}
