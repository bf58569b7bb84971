package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/htmlcheck"
)

func TestCalls_FailuresShowTheServersWords(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.Connector(t)
	fail := func(outcome connectors.CallOutcome, message, said string) string {
		call := newCall(a, c, connectors.CallError)
		call.Outcome, call.ErrorMessage, call.Upstream = outcome, message, &connectors.Upstream{Said: said}
		if call.IsError = outcome == connectors.OutcomeToolError; call.IsError {
			call.Content = []byte(`[{"type":"text","text":"The API answered: 429.\nRetry."}]`)
		}
		return "/calls/" + d.createEndedCall(d.Tenant, call).String()
	}
	ofTool := fail(connectors.OutcomeToolError, "", "The API answered: 429.\nRetry.")
	ofRPC := fail(connectors.OutcomeRPCError, "The server refused the request with JSON-RPC error -32603.", "Internal error: null pointer at line 42")
	ofHTTP := fail(connectors.OutcomeTransport, "It answered with HTTP 500.", "<html><body>Oops</body></html>")

	b := d.signInAsRole(connectors.RoleViewer)
	list := b.get("/calls?range=7d")
	list.want(t, http.StatusOK, ">The API answered: 429.</q>", ">Internal error: null pointer at line 42</q>", "It answered with HTTP 500.")
	if list.says("Retry.") || list.says("<html><body>Oops") {
		t.Error("the list has more than the first line, or markup")
	}
	p := b.get(ofTool)
	p.want(t, http.StatusOK, "<q>The API answered: 429.</q>")
	if n := strings.Count(p.Body, "Tool error"); n != 1 {
		t.Errorf("the page says %d times that the tool failed", n)
	}
	htmlcheck.Parse(t, p.Body).Sound(t)
	p = b.get(ofRPC)
	p.want(t, http.StatusOK, "<q>Internal error: null pointer at line 42</q>", "The server refused the request with JSON-RPC error -32603.")
	if p.says("Server response") {
		t.Error("the same words stand twice")
	}
	b.get(ofHTTP).want(t, http.StatusOK, "Server response", "<html><body>Oops")

	d.restrictBodiesToAuditors()
	for _, path := range []string{"/calls?range=7d", ofTool, ofRPC} {
		if p := b.get(path); p.says("The API answered") || p.says("null pointer") {
			t.Errorf("%s shows words that are for auditors", path)
		}
	}
}

func TestAgent_ShowsTheStatesOfItsConnectors(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addAnsweringServer(`{"content":[]}`)
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/agents/support").want(t, http.StatusOK, "Connected")
	for _, path := range []string{"/agents/support", "/agents/support/connectors/linear"} {
		if b.get(path).says("Never synced") {
			t.Errorf("%s says that a synced connector never was", path)
		}
	}
}
