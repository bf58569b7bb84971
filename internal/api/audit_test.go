package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestTheAuditLogIsReadByAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "Linear", "url": "https://mcp.example.com/", "auth": {"type": "bearer", "token": "hunter2-hunter2"}}`).want(http.StatusCreated)
	w.call(t, admin, http.MethodPost, "/api/v1/agents", `{"name": "Support"}`).want(http.StatusCreated)
	got := w.call(t, admin, http.MethodGet, "/api/v1/audit_events?action=connector&target=LIN", nil)
	items := got.want(http.StatusOK)["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("%v", items)
	}
	e := items[0].(map[string]any)
	actor := e["actor"].(map[string]any)
	if e["action"] != "connector.create" || e["target"] != "linear" || actor["type"] != "key" || actor["id"] == nil || e["detail"] == nil {
		t.Errorf("%v", e)
	}
	made := map[string]any{}
	for _, c := range e["changes"].([]any) {
		made[c.(map[string]any)["field"].(string)] = c.(map[string]any)["after"]
		if before, there := c.(map[string]any)["before"]; before != nil || !there {
			t.Errorf("what was made had something before: %v", c)
		}
	}
	if mark, _ := made["credential"].(string); made["name"] != "Linear" || made["enabled"] != true || !strings.HasPrefix(mark, "hmac:") {
		t.Errorf("%v", made)
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/linear", `{"description": "Issues"}`).want(http.StatusOK)
	items = w.call(t, admin, http.MethodGet, "/api/v1/audit_events?action=connector.update", nil).want(http.StatusOK)["items"].([]any)
	want := []any{map[string]any{"field": "description", "before": "", "after": "Issues"}}
	if diff := cmp.Diff(want, items[0].(map[string]any)["changes"]); diff != "" {
		t.Error(diff)
	}
	if at, err := time.Parse(time.RFC3339, e["at"].(string)); err != nil || time.Since(at) > time.Minute {
		t.Errorf("at %v: %v", e["at"], err)
	}
	soon := url.QueryEscape(time.Now().Add(2 * time.Hour).Format(time.RFC3339))
	for _, none := range []string{"actor=nobody", "action=connector.delete", "since=" + soon, "until=2001-01-01T00:00:00Z"} {
		if items := w.call(t, admin, http.MethodGet, "/api/v1/audit_events?"+none, nil).want(http.StatusOK)["items"].([]any); len(items) != 0 {
			t.Errorf("%s: %v", none, items)
		}
	}
	w.call(t, admin, http.MethodGet, "/api/v1/audit_events?since=yesterday", nil).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodGet, "/api/v1/audit_events", nil).problem(http.StatusForbidden, "denied")
	if items := w.call(t, w.createKeyIn(t, w.Other, connectors.RoleOwner), http.MethodGet, "/api/v1/audit_events?target=linear", nil).want(http.StatusOK)["items"].([]any); len(items) != 0 {
		t.Errorf("another tenant sees %v", items)
	}
}

func TestTheAuditLogIsVerified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	verify := func() map[string]any {
		t.Helper()
		return w.call(t, admin, http.MethodGet, "/api/v1/audit_events/verify", nil).want(http.StatusOK)
	}
	before := verify()["events"].(float64) // the key's own entry
	w.call(t, admin, http.MethodPost, "/api/v1/agents", `{"name": "Support"}`).want(http.StatusCreated)
	entry := w.call(t, admin, http.MethodGet, "/api/v1/audit_events", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	got := verify()
	if got["ok"] != true || got["events"].(float64) <= before || got["head"] != entry["hash"] || len(got["head"].(string)) != 64 || got["first_bad"] != nil || got["place"] != nil {
		t.Errorf("%v, the last entry is %v", got, entry)
	}
	w.AsOwner(t, `update audit_events set actor_name = 'somebody else' where id = '`+entry["id"].(string)+`'`)
	if got = verify(); got["ok"] != false || got["first_bad"] != entry["id"] || got["place"] != got["events"] || got["reason"] == "" {
		t.Errorf("%v", got)
	}
	if theirs := w.call(t, w.createKeyIn(t, w.Other, connectors.RoleOwner), http.MethodGet, "/api/v1/audit_events/verify", nil).want(http.StatusOK); theirs["ok"] != true {
		t.Errorf("another tenant's log: %v", theirs)
	}
}

func TestAuditKey_DiffersByTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keyOf := func(tenant connectors.TenantID) string {
		t.Helper()
		got := w.call(t, w.createKeyIn(t, tenant, connectors.RoleViewer), http.MethodGet, "/api/v1/audit_events/key", nil).want(http.StatusOK)
		key, _ := got["public_key"].(string)
		return key
	}
	signer, err := w.Door().Audit().Signer()
	if err != nil {
		t.Fatal(err)
	}
	if own := keyOf(w.Tenant); own != signer.PublicKey() || len(own) != 44 || own == keyOf(w.Other) {
		t.Errorf("the key is %q, that of the signer %q", own, signer.PublicKey())
	}
}

func TestHowCallsEndedIsVerifiedWithTheAuditLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	verify := func() map[string]any {
		t.Helper()
		calls, _ := w.call(t, admin, http.MethodGet, "/api/v1/audit_events/verify", nil).want(http.StatusOK)["calls"].(map[string]any)
		return calls
	}
	if got := verify(); got["ok"] != true || got["whole"] != true || got["calls"] != 0.0 || got["places"] != 0.0 {
		t.Errorf("without a call: %v", got)
	}
	w.OldCalls(t, w.Connector(t), "search", 1, 3)
	got := verify()
	if got["ok"] != true || got["calls"] != 3.0 || got["places"] != 1.0 || got["gone"] != 0.0 || len(got["head"].(string)) != 64 || got["first_bad"] != nil || got["reason"] != "" {
		t.Errorf("%v", got)
	}
	var id string
	w.AsSystem(t, `with one as (select id from tool_calls order by id limit 1) update tool_calls set outcome = 'tool_error' from one where tool_calls.id = one.id returning tool_calls.id::text`, nil, &id)
	if got = verify(); got["ok"] != false || got["first_bad"] != id || got["place"] != 1.0 || got["reason"] == "" {
		t.Errorf("call %s: %v", id, got)
	}
}
