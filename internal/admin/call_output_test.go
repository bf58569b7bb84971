package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/htmlcheck"
)

func TestCallPage_SaysWhetherItsResultFits(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c, b := d.Agent(t), d.Connector(t), d.signInAsRole(connectors.RoleViewer)
	page := func(change func(*connectors.ToolCall)) page {
		call := newCall(a, c, connectors.CallSuccess)
		call.Outcome, call.Content, call.Structured = connectors.OutcomeOK, []byte(`[]`), []byte(`{"n":"1"}`)
		change(&call)
		p := b.get("/calls/" + d.createEndedCall(d.Tenant, call).String())
		htmlcheck.Parse(t, p.Body).Sound(t)
		return p
	}
	const fits, misfit = "Matches the output schema.", "Doesn't match the output schema"
	if p := page(func(*connectors.ToolCall) {}); p.says(fits) || p.says(misfit) {
		t.Error("a verdict about a result that was not checked")
	}
	page(func(call *connectors.ToolCall) { call.StructuredValid = new(true) }).want(t, http.StatusOK, fits)
	page(func(call *connectors.ToolCall) {
		call.StructuredValid, call.StructuredError = new(false), "The declared structured content is missing."
	}).want(t, http.StatusOK, misfit, "The declared structured content is missing.")
	page(func(call *connectors.ToolCall) {
		call.StructuredValid, call.StructuredError = new(false), "The declared structured content is missing."
		call.Status, call.ErrorCode, call.ErrorMessage = connectors.CallError, "invalid_result", "Its result is withheld."
	}).want(t, http.StatusOK, misfit, "Its result is withheld.", "Structured content")
	file := b.get("/exports/calls?format=csv").Body
	if header, _, _ := strings.Cut(file, "\r\n"); !strings.Contains(header, "structured_valid") || !strings.Contains(file, ",true,") || !strings.Contains(file, ",false,") {
		t.Errorf("%.600s", file)
	}
}
