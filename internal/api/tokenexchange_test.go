package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestTokenExchange_IsSetAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	owner := w.createKey(t, connectors.RoleOwner)
	w.call(t, admin, http.MethodPatch, "/api/v1/tenant", map[string]any{"token_exchange": true}).want(http.StatusForbidden)
	if on := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", map[string]any{"token_exchange": true}).want(http.StatusOK); on["token_exchange"] != true {
		t.Errorf("%v", on)
	}
	if detail := w.readLatestDetail(t, "tenant.configure"); !strings.Contains(fmt.Sprint(detail), "token_exchange") {
		t.Errorf("audit: %v", detail)
	}
	draft := map[string]any{
		"name": "Billing", "url": "https://mcp.example.com/mcp", "credential_mode": "per_agent",
		"auth": map[string]any{"type": "oauth2", "client_id": "patchbay", "issuer": "https://auth.example.com", "token_exchange": "act_claim"},
	}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", draft).want(http.StatusForbidden)
	made := w.call(t, owner, http.MethodPost, "/api/v1/connectors", draft).want(http.StatusCreated)
	if got := made["auth"].(map[string]any)["token_exchange"]; got != "act_claim" {
		t.Errorf("token_exchange %v", got)
	}
	path := "/api/v1/connectors/" + made["id"].(string)
	w.call(t, owner, http.MethodPatch, path, map[string]any{"auth": map[string]any{"issuer": ""}}).want(http.StatusUnprocessableEntity)
	w.call(t, admin, http.MethodPatch, path, map[string]any{"url": "https://mcp.example.com/other"}).want(http.StatusForbidden)
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPatch, path, map[string]any{"auth": map[string]any{"token_exchange": ""}}).want(http.StatusForbidden)
	got := w.call(t, admin, http.MethodPatch, path, map[string]any{"auth": map[string]any{"token_exchange": ""}}).want(http.StatusOK)
	if left, is := got["auth"].(map[string]any)["token_exchange"]; is || w.Count(t, "signing_keys") != 0 {
		t.Errorf("left: %v", left)
	}
	issuer, _ := w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodGet, "/api/v1/installation", nil).want(http.StatusOK)["token_issuer"].(string)
	if !strings.HasSuffix(issuer, "/oauth/issuers/"+w.Tenant.String()) {
		t.Errorf("issuer %q", issuer)
	}
}
