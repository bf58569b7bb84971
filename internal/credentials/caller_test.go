package credentials_test

import (
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
)

// sentFor is sent for another caller.
func (w *enterprise) sentFor(t *testing.T, r *credentials.Resolver, caller connectors.Caller) (string, error) {
	t.Helper()
	u, err := r.ResolveFor(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}, caller)
	if err == nil && u == nil {
		err = r.ExplainMissing(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID})
	}
	if err != nil {
		return "", err
	}
	return authorizationHeader(t, u.Headers, nil), nil
}

func TestManaged_ServesMemberAndAgentAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		caller func(*testing.T, *enterprise) connectors.Caller
		serves bool
	}{
		"the agent's own token": {func(_ *testing.T, w *enterprise) connectors.Caller { return connectors.CallerAgent(w.agent.ID) }, true},
		"the member":            {func(_ *testing.T, w *enterprise) connectors.Caller { return connectors.CallerPerson(&w.member.UserID) }, true},
		"an API key":            {func(*testing.T, *enterprise) connectors.Caller { return connectors.Caller{} }, false},
		"an owner": {func(t *testing.T, w *enterprise) connectors.Caller {
			return connectors.CallerPerson(new(w.Member(t, connectors.RoleOwner).UserID))
		}, false},
		"another agent": {func(t *testing.T, w *enterprise) connectors.Caller { return connectors.CallerAgent(w.Agent(t).ID) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnterprise(t)
			r, caller := w.resolver(), tc.caller(t, w)
			got, err := w.sentFor(t, r, caller)
			if tc.serves {
				if err != nil || got != "Bearer token-1" {
					t.Fatalf("%q, %v", got, err)
				}
				return
			}
			wantMissing(t, err)
			if len(w.exchanges)+w.tokens+w.Count(t, "credentials") != 0 {
				t.Errorf("without an account: %d exchanges, %d tokens", len(w.exchanges), w.tokens)
			}
			if _, err := w.sent(t, r); err != nil {
				t.Fatal(err)
			}
			for _, state := range []string{"valid", "due"} {
				if state == "due" {
					w.expire(t)
				}
				got, err = w.sentFor(t, r, caller)
				if f := fault.As(err); got != "" || f == nil || f.Type != credentials.TypeManagedAccount || !strings.Contains(f.Message, "Ask the member") {
					t.Errorf("%s: %q, %v", state, got, err)
				}
				if _, err = r.Headers(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}); !fault.Is(err, fault.Denied) {
					t.Errorf("%s, exported: %v", state, err)
				}
			}
			if len(w.exchanges) != 1 || w.tokens != 1 {
				t.Errorf("%d exchanges, %d tokens", len(w.exchanges), w.tokens)
			}
		})
	}
}

func TestManaged_ConfidentialClientSendsItsSecret(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	if _, err := w.sent(t, w.resolver()); err != nil {
		t.Fatal(err)
	}
	if w.clientSecret != url.QueryEscape("secret of the client") || w.redemptions[0].Has("client_secret") || w.redemptions[0].Has("client_id") {
		t.Errorf("the secret %q in the header, and the form %v", w.clientSecret, w.redemptions[0])
	}
}
