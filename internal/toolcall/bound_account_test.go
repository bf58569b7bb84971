package toolcall_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// newBoundAgent is a trusted agent with a grant that binds an account; empty: the owner's only one.
func (b *bench) newBoundAgent(t testing.TB, c connectors.Connector, account string) connectors.Agent {
	t.Helper()
	a := b.newTrustedAgent(t, c)
	g := connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Accounts: []string{}}
	if account != "" {
		g.Accounts = []string{account}
	}
	must(t, b.Door().Agents().SetGrant(t.Context(), g))
	return a
}

func (b *bench) saveAccount(t testing.TB, c connectors.Connector, agent *connectors.AgentID, name, token string) {
	t.Helper()
	text, err := connectors.Secret{Token: secret.Text(token)}.Encode()
	must(t, err)
	must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Name: name, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
	}))
}

// The server counts calls by the token that it saw.
func TestBoundAccount_IsTheOnlyOneUsed(t *testing.T) {
	t.Parallel()
	for name, draft := range map[string]func(*connectors.Draft){
		"shared": func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }, "of the agent": perAgent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.connector(t, b.remote, draft)
			isShared := c.CredentialMode == connectors.CredentialShared
			if isShared {
				b.saveAccount(t, c, nil, "work", "of-work")
				b.saveAccount(t, c, nil, "home", "of-home")
			}
			newAgent := func(account string) (a connectors.Agent, owner *connectors.AgentID) {
				if a = b.newBoundAgent(t, c, account); isShared {
					return a, nil
				}
				b.saveAccount(t, c, &a.ID, "work", "of-work")
				b.saveAccount(t, c, &a.ID, "home", "of-home")
				return a, &a.ID
			}
			unbound, _ := newAgent("")
			_, err := b.call(t, unbound, c, `{"q":"1"}`)
			if r := asRefusal(t, err, toolcall.CodeNeedsAuthorization); !strings.Contains(r.Sentence, "home, work") {
				t.Errorf("the refusal names no accounts: %s", r.Sentence)
			}
			gone, _ := newAgent("gone")
			_, err = b.call(t, gone, c, `{"q":"2"}`)
			if r := asRefusal(t, err, toolcall.CodeNeedsAuthorization); !strings.Contains(r.Sentence, `"gone"`) {
				t.Errorf("the refusal does not name the account: %s", r.Sentence)
			}
			atHome, _ := newAgent("home")
			_, err = b.call(t, atHome, c, `{"q":"3"}`)
			must(t, err)

			atWork, owner := newAgent("work")
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, owner, "work"))
			_, err = b.call(t, atWork, c, `{"q":"4"}`) // the only account that is left is not the bound one
			wantRefused(t, err, toolcall.CodeNeedsAuthorization)
			if work, home := b.remote.callsWith("Bearer of-work"), b.remote.callsWith("Bearer of-home"); work != 0 || home != 1 {
				t.Errorf("%d calls as work and %d as home, want 0 and 1", work, home)
			}
		})
	}
}

func TestBoundAccount_AgentsDoNotMixAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	const accounts, calls = 4, 25
	agents := make([]connectors.Agent, accounts)
	for i := range agents {
		b.saveAccount(t, c, nil, fmt.Sprint("account-", i), fmt.Sprint("token-", i))
		agents[i] = b.newBoundAgent(t, c, fmt.Sprint("account-", i))
	}
	var all sync.WaitGroup
	for i, a := range agents {
		for n := range calls + i {
			request := b.order(t, b.process, a, c, "search", fmt.Sprintf(`{"q":"%d"}`, n))
			all.Go(func() {
				if _, err := b.Call(t.Context(), request); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for i := range agents {
		if got := b.remote.callsWith(fmt.Sprint("Bearer token-", i)); got != calls+i {
			t.Errorf("account-%d served %d calls, want %d", i, got, calls+i)
		}
	}
}
