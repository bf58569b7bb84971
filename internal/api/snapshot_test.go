package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// A connector that fails while the overview is read is in both counts, or in neither.
func TestOverview_ConnectorFailsBetweenStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	get := func() (failing, counted float64) {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/overview", nil).want(http.StatusOK)
		counted, _ = got["connectors"].(map[string]any)["error"].(float64)
		return got["needs"].(map[string]any)["server"].(float64), counted
	}
	get()
	var failing, counted float64
	w.BetweenStatements(t, "approvals", func() { failing, counted = get() }, func() {
		w.AsSystem(t, "update connectors set last_error_code = 'unreachable', last_error_message = 'It is down.', last_error_at = now() where id = $1", []any{c.ID})
	})
	if failing != 0 || counted != 0 {
		t.Errorf("%v connectors need a person because their server fails, and %v of all fail; want 0 and 0", failing, counted)
	}
	if failing, counted = get(); failing != 1 || counted != 1 {
		t.Errorf("afterwards %v and %v, want 1 and 1", failing, counted)
	}
}

func TestApprovals_ApprovalDeletedBetweenStatementsIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createTargets(t, w.Tenant)
	member := w.createKey(t, connectors.RoleMember)
	var left any
	w.BetweenStatements(t, "tool_allowances", func() {
		left = w.call(t, member, http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"]
	}, func() {
		w.AsSystem(t, "delete from approvals", nil)
	})
	if diff := cmp.Diff([]any{}, left); diff != "" {
		t.Error(diff)
	}
}
