package connect_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// connecting is a member's account at their own agent that is about to be connected.
type connecting struct {
	*bundle
	member    auth.Actor
	agent     connectors.Agent
	connector connectors.Connector
	goOn      func()     // the authorization server answers
	ended     chan error // the callback's
}

func newConnecting(t *testing.T, role connectors.Role) *connecting {
	t.Helper()
	hold := make(chan struct{})
	c := &connecting{
		bundle: newBundle(t, oauthtest.Behaviour{Hold: hold}, oauthtest.ResourceBehaviour{}),
		goOn:   sync.OnceFunc(func() { close(hold) }), ended: make(chan error, 1),
	}
	t.Cleanup(c.goOn)
	c.member, c.agent, c.connector = c.person(t, c.Tenant, role), c.Agent(t), c.protected(t, perAgent)
	c.MemberIn(t, c.Tenant, connectors.RoleOwner) // a tenant keeps one
	must(t, c.Door().Agents().MakePersonal(t.Context(), *c.member.UserID, c.agent.ID))
	return c
}

// returns has the member's browser come back, up to the answer of the token endpoint.
func (c *connecting) returns(t *testing.T) {
	t.Helper()
	s, err := c.broker.Start(t.Context(), c.member, order(c.connector, agentRef(c.agent)))
	must(t, err)
	back := c.agree(t, s)
	go func() {
		_, err := c.broker.Finish(t.Context(), back, connect.BrowserBindings{Session: session, Person: &c.member})
		c.ended <- err
	}()
	<-c.as.Arrived(oauthtest.Exchange)
}

// waiting returns when as many wait for a lock of another, none of which may end before.
func (c *connecting) waiting(t *testing.T, watch *pgx.Conn, want int, ends ...chan error) {
	t.Helper()
	for have := 0; have < want; {
		for _, ended := range ends {
			select {
			case err := <-ended:
				t.Fatalf("it did not wait: %v", err)
			case <-time.After(5 * time.Millisecond):
			}
		}
		must(t, watch.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&have))
	}
}

// nothing checks that no account is left, and that the grant was given back as often.
func (c *connecting) nothing(t *testing.T, givenBack int) {
	t.Helper()
	if n := c.count(t, "credentials"); n != 0 {
		t.Errorf("%d accounts are left", n)
	}
	if n := c.as.Count(oauthtest.Revoke); n != givenBack {
		t.Errorf("given back %d times, want %d", n, givenBack)
	}
}

func TestFinish_MemberLeavesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		role connectors.Role
		ends func(context.Context, *connecting, *store.Tenant) error
	}{
		"a member who leaves": {connectors.RoleMember, func(ctx context.Context, c *connecting, tx *store.Tenant) error {
			_, err := tx.People().RemoveMember(ctx, *c.member.UserID)
			return err
		}},
		"an admin who leaves": {connectors.RoleAdmin, func(ctx context.Context, c *connecting, tx *store.Tenant) error {
			_, err := tx.People().RemoveMember(ctx, *c.member.UserID)
			return err
		}},
		"whose role falls": {connectors.RoleMember, func(ctx context.Context, c *connecting, tx *store.Tenant) error {
			return tx.People().SetRole(ctx, *c.member.UserID, connectors.RoleViewer)
		}},
		"whose agent is deleted": {connectors.RoleMember, func(ctx context.Context, c *connecting, tx *store.Tenant) error {
			return tx.Agents().Delete(ctx, c.agent.ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnecting(t, test.role)
			c.returns(t)
			begun, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			release := sync.OnceFunc(func() { close(goOn) })
			t.Cleanup(release)
			go func() {
				done <- c.Door().Tx(t.Context(), func(tx *store.Tenant) error {
					err := test.ends(t.Context(), c, tx)
					close(begun)
					<-goOn
					return err
				})
			}()
			<-begun
			c.goOn()
			c.waiting(t, c.owner(t), 1, c.ended)
			release()
			must(t, <-done)
			wantFault(t, <-c.ended, fault.Malformed, "")
			c.nothing(t, 1)
		})
	}
}

func TestRemoveMember_DeletesNewAccount(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *connecting) error{
		"the member leaves": func(ctx context.Context, c *connecting) error {
			_, err := c.Door().People().RemoveMember(ctx, *c.member.UserID)
			return err
		},
		"the agent is deleted": func(ctx context.Context, c *connecting) error { return c.Door().Agents().Delete(ctx, c.agent.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnecting(t, connectors.RoleMember)
			c.returns(t)
			held, err := c.owner(t).Begin(t.Context())
			must(t, err)
			_, err = held.Exec(t.Context(), "lock table account_requests in exclusive mode") // which storing a grant writes to in the end
			must(t, err)
			c.goOn()
			watch := c.owner(t)
			c.waiting(t, watch, 1, c.ended)
			gone := make(chan error, 1)
			go func() { gone <- end(t.Context(), c) }()
			c.waiting(t, watch, 2, c.ended, gone)
			must(t, held.Rollback(t.Context()))
			must(t, errors.Join(<-c.ended, <-gone))
			c.nothing(t, 0)
		})
	}
}
