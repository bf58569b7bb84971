package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

func TestToolCall_ManagedAccountServesItsMemberAlone(t *testing.T) {
	t.Parallel()
	w := &callWorld{world: newWorld(t), waiting: make(chan struct{}, 10)}
	w.watchDatabase(t)
	w.agent = w.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto })
	w.connector = w.Connector(t, withURL(w.startUpstream(t)), fixture.Managed, func(d *connectors.Draft) { d.Name, d.Slug = "Box", "box" })
	w.Synced(t, w.connector.ID, "echo")
	w.grant(t, connectors.Grant{AllTools: true})
	ada := w.Member(t, connectors.RoleMember)
	w.ManagedAccount(t, w.connector, w.agent.ID, ada.UserID, "managed")
	path, body := "/api/v1/agents/"+w.agent.Slug+"/tool_calls", fmt.Sprintf(`{"tool": %q, "arguments": {"text": "x"}}`, connectors.ExposedName("box", "echo"))
	owner := w.signIn(t, w.Member(t, connectors.RoleOwner).UserID)
	for name, got := range map[string]reply{
		"a key":    w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPost, path, body),
		"an owner": w.callInSession(t, owner, http.MethodPost, path, body),
	} {
		call := got.want(http.StatusCreated)
		if call["outcome"] != "refused" || !strings.Contains(string(got.body), "Ask the member") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := w.callInSession(t, w.signIn(t, ada.UserID), http.MethodPost, path, body); got.want(http.StatusCreated)["status"] != "success" {
		t.Errorf("the member: %s", got.body)
	}
}
