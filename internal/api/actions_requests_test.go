package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// requestActions are actions that change no setting.
var requestActions = map[string]actionCase{
	"connector.test":     {prepare: requestAction("POST", "/api/v1/connectors/test", `{"name": "A", "url": "http://127.0.0.1:9/?token=x"}`)},
	"connector.sync":     {prepare: requestAction("POST", "/api/v1/connectors/{id}/sync_tools?wait=false", nil)},
	"connector.sync_all": {prepare: requestAction("POST", "/api/v1/sync_tools", nil)},

	"connector.sync_cancel": {prepare: requestAction("POST", "/api/v1/sync_runs/{id}/cancel", nil)},

	"tool.undo":         {prepare: undoAction(changeTool, "tools/search/accept", "search")},
	"skill.undo":        {prepare: undoAction(changeSkill, "skills/"+url.PathEscape(fixture.SkillURI)+"/accept", connectors.SkillTool(fixture.SkillURI))},
	"instructions.undo": {prepare: undoAction(changeInstructions, "instructions/reject", connectors.InstructionsTool)},

	"agent_allowance.end": {prepare: requestAction("DELETE", "/api/v1/agents/{id}/connectors/{connector}/allowances/{tool}", nil)},

	"connect_link.make": {thing: "link", account: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		return w.sendRequest(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, w.account.path+"/connect", nil)
	}},
	"credential.begin": {account: true, alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		cookie := w.signIn(t, w.Member(t, connectors.RoleAdmin).UserID)
		return func() error {
			if got := w.callInSession(t, cookie, http.MethodPost, w.account.path+"/connect", nil); got.status != http.StatusOK {
				return fmt.Errorf("%d %s", got.status, got.body)
			}
			return nil
		}
	}},
	"keys.rotate": {prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		self, err := w.Door().Self(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return func() error {
			asked := auth.Operator(self).Event("keys.rotate", self.Slug)
			err := w.St.RotateTenantKeys(t.Context(), w.Tenant, store.RotationOptions{Asked: &asked, Patience: 1})
			if err == nil || !strings.Contains(err.Error(), "haven't loaded the new keys") {
				return fmt.Errorf("the world's server reads no keys, so that there it ends: %w", err)
			}
			return nil
		}
	}},
}

// undoAction undoes a decision, as the dashboard does.
func undoAction(change func(*testing.T, *world, targets, string), decide, tool string) func(t *testing.T, w *world) func() error {
	return func(t *testing.T, w *world) func() error {
		t.Helper()
		key, ids := w.createKey(t, connectors.RoleAdmin), w.createTargets(t, w.Tenant)
		change(t, w, ids, key)
		if err := w.sendRequest(t, key, http.MethodPost, "/api/v1/connectors/"+ids.connector+"/"+decide, nil)(); err != nil {
			t.Fatal(err)
		}
		decided, err := w.Door().Tools().Decided(t.Context(), []connectors.Ref{connectors.Ref(ids.connector)}, []string{tool})
		if err != nil || len(decided) != 1 {
			t.Fatalf("%v, %v", decided, err)
		}
		m := w.Member(t, connectors.RoleAdmin)
		actor := auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: w.Tenant}, Role: connectors.RoleAdmin, UserID: &m.UserID, Name: m.DisplayName()}
		return func() error {
			_, err := manage.New(w.St, nil).UndoDecisions(t.Context(), actor, []store.Decision{decided[0].Decision})
			return err
		}
	}
}
