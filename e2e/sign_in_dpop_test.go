//go:build e2e

package e2e_test

import (
	"slices"
	"strings"
	"testing"
)

// TestAuthorize_DPoPClient: a client that we did not write binds its tokens to a key, and calls a tool with proofs. Stolen, its token and a used
// proof open nothing.
func TestAuthorize_DPoPClient(t *testing.T) {
	t.Parallel()
	d := newDoorstep(t)
	p := startPeer(t, nil, "dpop.mjs", d.base+"/mcp", "mcp_tools__search_issues", `{"query":"login"}`)
	var asks struct{ Open string }
	p.reads(`{"open":`, &asks)
	d.answers(asks.Open, "oauth4webapi", "You can close this window.")
	var came struct {
		Type, Refreshed string
		Called, Again   called
		Thief           struct {
			Replay, Bearer, Other string
			Statuses              []int
		}
	}
	p.reads(`{"type":`, &came)
	if !strings.EqualFold(came.Type, "DPoP") || !strings.EqualFold(came.Refreshed, "DPoP") || came.Called.text() == "" || came.Called.IsError || came.Again.text() != came.Called.text() {
		t.Errorf("%+v", came)
	}
	if th := came.Thief; !slices.Equal(th.Statuses, []int{401, 401, 400}) || !strings.Contains(th.Replay, `error="invalid_dpop_proof"`) ||
		!strings.HasPrefix(th.Bearer, "DPoP ") || th.Other != "invalid_grant" {
		t.Errorf("a thief is answered %+v", th)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with %d: %s", code, p.stderr.text())
	}
}
