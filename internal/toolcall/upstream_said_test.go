package toolcall_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/toolcall"
)

// The page of the call has the words of the authorization server. The agent gets the sentence alone.
func TestCall_OfAnEndedAccountQuotesTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, authServer, _ := b.newMachineConnector(t)
	a := b.newTrustedAgent(t, c)
	_, err := b.call(t, a, c, "")
	must(t, err)
	authServer.ExpireAccess()
	authServer.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DeadEcho })
	for range 2 { // the second requests no token
		out, err := b.call(t, a, c, "")
		if r := asRefusal(t, err, toolcall.CodeNeedsAuthorization); strings.Contains(r.Sentence, "withdrawn") || !strings.Contains(r.Sentence, "Enter a new one") {
			t.Errorf("the agent is told %q", r.Sentence)
		}
		said := saidOf(b.row(t, out.CallID))
		if !strings.Contains(said, "consent was withdrawn") || !strings.Contains(said, "[redacted]") {
			t.Errorf("%q", said)
		}
		for _, secret := range append(authServer.Issued(), "its secret", "its+secret") {
			if strings.Contains(said, secret) {
				t.Errorf("%s is shown: %s", secret, said)
			}
		}
	}
}

func TestCall_QuotesTheChallengeOfARefusal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.remote.set(func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=%q, error_description=%q", "invalid_token", mcptest.EchoMark+"words"))
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	out, err := b.call(t, a, c, "")
	if r := asRefusal(t, err, toolcall.CodeUpstream); strings.Contains(r.Sentence, mcptest.EchoMark) {
		t.Errorf("the agent is told %q", r.Sentence)
	}
	if said := saidOf(b.row(t, out.CallID)); said != "invalid_token\n"+mcptest.EchoMark+"words" {
		t.Errorf("%q", said)
	}
}
