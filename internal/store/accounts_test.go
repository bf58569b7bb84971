package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func perAgentBearer(d *connectors.Draft) {
	d.Auth.Type, d.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
}

func TestAccountRequest_IsUsedOnceAfterConnect(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, other, c := w.Agent(t), w.Agent(t), w.Connector(t, perAgentBearer)
	n := store.NewAccountRequest{Agent: agent.ID, Connector: c.ID, Now: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	id, err := w.Door().Accounts().RequestAccount(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.Door().Accounts().UseAccountRequest(t.Context(), agent.ID, id, time.Now()), fault.NotFound)
	w.Credential(t, c.ID, &other.ID, `{"token":"another agent's"}`)
	if r, err := w.Door().Accounts().AccountRequest(t.Context(), agent.ID, id); err != nil || r.Connected {
		t.Fatalf("another agent's account is taken for its own: %+v, %v", r, err)
	}
	w.Credential(t, c.ID, &agent.ID, `{"token":"its own"}`)
	if r, err := w.Door().Accounts().AccountRequest(t.Context(), agent.ID, id); err != nil || !r.Connected || r.Used {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := w.Door().Accounts().UseAccountRequest(t.Context(), agent.ID, id, time.Now()); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.Door().Accounts().UseAccountRequest(t.Context(), agent.ID, id, time.Now()), fault.NotFound)
}

func TestAccountRequest_IsSharedWithinSession(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t, perAgentBearer)
	ask := func(session string) connectors.AccountRequestID {
		t.Helper()
		id, err := w.Door().Accounts().RequestAccount(t.Context(), store.NewAccountRequest{
			Agent: agent.ID, Connector: c.ID, Session: session, Now: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := ask("one")
	alone := ask("")
	if ask("one") != first || ask("two") == first || ask("") == alone {
		t.Error("requests of one session, of another or of none are mixed up")
	}
	w.Credential(t, c.ID, &agent.ID, `{"token":"x"}`)
	done, err := w.Door().Accounts().ConnectedRequests(t.Context(), agent.ID, "one")
	if diff := cmp.Diff([]connectors.AccountRequestID{first}, done); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if ask("one") == first {
		t.Error("what was told already is told again")
	}
}

func TestRequestAccount_RefusesAboveMax(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t, perAgentBearer)
	n := store.NewAccountRequest{Agent: agent.ID, Connector: c.ID, Now: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	for range store.MaxAccountRequests {
		if _, err := w.Door().Accounts().RequestAccount(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.Door().Accounts().RequestAccount(t.Context(), n)
	wantKind(t, err, fault.RateLimited)
	n.Now = n.ExpiresAt
	n.ExpiresAt = n.Now.Add(time.Hour)
	if _, err := w.Door().Accounts().RequestAccount(t.Context(), n); err != nil {
		t.Errorf("those that are over still count: %v", err)
	}
}

func TestRemoveMember_DisablesPersonalAgents(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	m, agent, other, c := w.Member(t, connectors.RoleMember), w.Agent(t), w.Agent(t), w.Connector(t, perAgentBearer)
	if err := w.Door().Agents().MakePersonal(t.Context(), m.UserID, agent.ID); err != nil {
		t.Fatal(err)
	}
	if whose, err := w.Door().Accounts().AgentMember(t.Context(), agent.ID); err != nil || whose.UserID != m.UserID {
		t.Fatalf("%+v, %v", whose, err)
	}
	w.Credential(t, c.ID, &agent.ID, `{"token":"the member's"}`)
	w.Credential(t, c.ID, &other.ID, `{"token":"somebody's"}`)
	ended, err := w.Door().People().RemoveMember(t.Context(), m.UserID)
	if diff := cmp.Diff([]string{agent.Slug}, ended); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	for _, tt := range []struct {
		agent   connectors.Agent
		enabled bool
		left    int
	}{{agent, false, 0}, {other, true, 1}} {
		now, err := w.Door().Agents().Get(t.Context(), connectors.Ref(tt.agent.Slug))
		if err != nil || now.Enabled != tt.enabled {
			t.Errorf("%s: enabled %t, %v", tt.agent.Slug, now.Enabled, err)
		}
		list, err := w.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
		left := 0
		for _, held := range list.Items {
			if *held.AgentID == tt.agent.ID {
				left++
			}
		}
		if err != nil || left != tt.left {
			t.Errorf("%s: %d accounts, %v", tt.agent.Slug, left, err)
		}
	}
}

func TestOldRequestsForAccountsAreSwept(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t, perAgentBearer)
	for _, over := range []time.Duration{25 * time.Hour, time.Hour, -time.Hour} {
		n := store.NewAccountRequest{Agent: agent.ID, Connector: c.ID, Now: time.Now().Add(-48 * time.Hour), ExpiresAt: time.Now().Add(-over)}
		if _, err := w.Door().Accounts().RequestAccount(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := w.St.System().SweepExpired(t.Context()); n != 1 || err != nil {
		t.Errorf("%d went, %v", n, err)
	}
	if n := w.Count(t, "account_requests"); n != 2 {
		t.Errorf("%d are left", n)
	}
}

func TestRequestAccount_StoresARepeatedRequestOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t, perAgentBearer)
	n := store.NewAccountRequest{Agent: agent.ID, Connector: c.ID, Now: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	for range store.MaxAccountRequests - 1 {
		if _, err := w.Door().Accounts().RequestAccount(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	n.ID = store.NewAccountRequestID()
	for range 2 {
		if id, err := w.Door().Accounts().RequestAccount(t.Context(), n); err != nil || id != n.ID {
			t.Errorf("id = %v, %v", id, err)
		}
	}
}
