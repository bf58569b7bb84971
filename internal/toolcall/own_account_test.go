package toolcall_test

import (
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// newOwnBench is a connector with the accounts work and home of an agent, or shared ones. The agent's grant binds work.
func newOwnBench(t *testing.T, perAgentMode bool) (b *bench, c connectors.Connector, a connectors.Agent, owner *connectors.AgentID) {
	t.Helper()
	b = newBench(t)
	c = b.connector(t, b.remote, func(d *connectors.Draft) {
		if d.Auth.Type = connectors.AuthBearer; perAgentMode {
			perAgent(d)
		}
		d.Methods = []string{"x/y"}
	})
	if a = b.newBoundAgent(t, c, "work"); perAgentMode {
		owner = &a.ID
	}
	b.saveAccount(t, c, owner, "work", "of-work")
	b.saveAccount(t, c, owner, "home", "of-home")
	return b, c, a, owner
}

// A person's own request keeps the account that it began with.
func TestOwnAccount_AnotherOfItsNameIsNotUsed(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*testing.T, *bench, connectors.Connector, *connectors.AgentID){
		"the names are swapped": func(t *testing.T, b *bench, c connectors.Connector, owner *connectors.AgentID) {
			must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
				if err := tx.Accounts().Rename(t.Context(), c.ID, owner, "work", "was-work"); err != nil {
					return err
				}
				return tx.Accounts().Rename(t.Context(), c.ID, owner, "home", "work")
			}))
		},
		"another takes its name": func(t *testing.T, b *bench, c connectors.Connector, owner *connectors.AgentID) {
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, owner, "work"))
			b.saveAccount(t, c, owner, "work", "of-home")
		},
	}
	for name, change := range changes {
		for owned, perAgentMode := range map[string]bool{"shared": false, "of the agent": true} {
			t.Run(name+", "+owned, func(t *testing.T) {
				t.Parallel()
				b, c, a, owner := newOwnBench(t, perAgentMode)
				if perAgentMode {
					own := b.ownCall(c, "read", `{}`)
					own.Account = connectors.Ref(a.Slug)
					b.wantAccountKept(t, "SealedCredentials", func() { change(t, b, c, owner) }, func() string {
						call, err := b.runOwn(t, own)
						must(t, err)
						return call.ErrorCode
					})
					return
				}
				method := toolcall.MethodRequest{Method: "x/y", Params: json.RawMessage(`{}`), Agent: connectors.Ref(a.Slug)}
				b.wantAccountKept(t, "SealedCredentials", func() { change(t, b, c, owner) }, func() string {
					_, call, err := b.SendMethod(t.Context(), b.actor(connectors.RoleAdmin), c, method)
					wantRefused(t, err, toolcall.CodeUnavailable)
					return call.ErrorCode
				})
			})
		}
	}
}

// An own call without an agent uses the account of syncs, and keeps it when another one is chosen.
func TestOwnAccount_OfSyncsIsKept(t *testing.T) {
	t.Parallel()
	b, c, _, _ := newOwnBench(t, false)
	must(t, b.Door().Syncs().ChooseForSyncs(t.Context(), c.ID, nil, "work"))
	choose := func() { must(t, b.Door().Syncs().ChooseForSyncs(t.Context(), c.ID, nil, "home")) }
	b.wantAccountKept(t, "RecordEvent", choose, func() string {
		call, err := b.runOwn(t, b.ownCall(c, "read", `{}`))
		must(t, err)
		return call.ErrorCode
	})
}

// wantAccountKept runs a request with a change before a query, which is between the check and the use of its account.
func (b *bench) wantAccountKept(t *testing.T, query string, change func(), run func() (code string)) {
	t.Helper()
	wait := b.BeforeQuery(t, query, change)
	code := run()
	wait()
	if code != string(toolcall.CodeUnavailable) {
		t.Errorf("code %q", code)
	}
	if n := b.remote.callsWith("Bearer of-home"); n != 0 {
		t.Errorf("%d requests with another account", n)
	}
}
