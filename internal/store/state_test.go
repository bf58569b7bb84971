package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// stateAttempts are the outsider's at what the audit log tells of things.
var stateAttempts = map[string]attempt{
	"Connectors.MatchesCredential": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Connectors().MatchesCredential(ctx, o.connector.ID, nil, "", "{}")
	},
	"Connectors.HoldsClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Connectors().HoldsClientSecret(ctx, o.withClient.ID, "the admin's secret")
	},
	"State":            func(ctx context.Context, o outsider) (bool, error) { return o.states(ctx, o.door.State) },
	"LockAndReadState": func(ctx context.Context, o outsider) (bool, error) { return o.states(ctx, o.door.LockAndReadState) },
	"RecordChange": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.RecordChange(ctx, store.Event{ActorType: "system", Action: "agent.create"}, nil, store.OfAgent(o.agent.ID))
		if err == nil || auditEvents(ctx, o) < 0 { // there is nothing that it could have made
			return true, err
		}
		return false, missingHere
	},
}

var missingHere = fault.Errorf(fault.NotFound, "No such thing here.")

// states asks for the state of everything that the victim has.
func (o outsider) states(ctx context.Context, ask func(context.Context, store.StateReader) (store.State, error)) (bool, error) {
	for name, of := range map[string]store.StateReader{
		"member": store.OfMember(o.member.UserID), "password": store.OfPassword(o.member.UserID), "invitation": store.OfInvitation(o.invitation.ID),
		"key": store.OfAPIKey(o.key.ID), "agent": store.OfAgent(o.agent.ID), "token": store.OfAgentToken(o.token.ID),
		"grant": store.OfGrant(o.agent.ID, o.connector.ID), "connector": store.ConnectorState(o.connector.ID), "client": store.OfClientSecret(o.withClient.ID),
		"credential": store.OfCredential(o.connector.ID, &o.agent.ID), "account": store.OfCredential(o.grant.ConnectorID, nil),
		"webhook": store.OfWebhook(o.webhook.ID), "program": store.OfAgentClient(o.client.ID), "registry": store.OfRegistry(o.registry.ID),
		"scim": store.OfSCIM(), "scim user": store.OfSCIMUser(o.scimUser.ID), "scim group": store.OfSCIMGroup(o.scimGroup.ID), "workload": store.OfWorkload(o.workload.ID),
		"audit stream": store.OfAuditStream(o.auditStream.ID),
	} {
		if state, err := ask(ctx, of); err != nil || state != nil {
			return true, fmt.Errorf("%s: %v, %w", name, state, err)
		}
	}
	if state, err := ask(ctx, store.OfListening(o.connector.ID)); err != nil || len(state) > 0 {
		return true, err
	}
	if state, err := ask(ctx, store.OfVanished(o.connector.ID)); err != nil || len(state) > 0 {
		return true, err
	}
	if state, err := ask(ctx, store.OfTenant()); err != nil || state["slug"] == nil {
		return true, err
	}
	return false, missingHere
}

func TestRecord_RefusesWrongEffect(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	some := store.State{"name": "A"}
	for action, act := range store.Actions {
		for _, states := range [][2]store.State{{nil, nil}, {nil, some}, {some, nil}, {some, some}} {
			fits := map[store.Effect][4]bool{
				store.EffectNone: {true, false, false, false}, store.EffectCreate: {false, true, false, false}, store.EffectDelete: {false, false, true, false},
				store.EffectUpsert: {false, true, false, true}, store.EffectUpdate: {false, false, false, true},
			}[act.Effect]
			at := 0
			if states[1] != nil {
				at = 1
			}
			if states[0] != nil {
				at += 2
			}
			err := w.Door().Audit().Record(t.Context(), store.Event{ActorType: "system", Action: action, Before: states[0], After: states[1]})
			if (err == nil) != fits[at] {
				t.Errorf("%s (%s) with %v: %v", action, act.Effect, states, err)
			}
		}
	}
	if err := w.Door().Audit().Record(t.Context(), store.Event{ActorType: "system", Action: "connector.paint"}); err == nil || !strings.Contains(err.Error(), "no such act") {
		t.Errorf("an act that nobody knows: %v", err)
	}
}

func TestOnlyWhatDiffersIsRecorded(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	e := store.Event{
		ActorType: "system", Action: "agent.update", Detail: map[string]any{"agent_id": "x"},
		Before: store.State{"name": "A", "tools": []string{"a"}, "gone": 1}, After: store.State{"name": "B", "tools": []any{"a"}, "come": nil},
	}
	if err := w.Door().Audit().Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{})
	if err != nil || string(list.Items[0].Detail) != `{"after": {"come": null, "name": "B"}, "before": {"gone": 1, "name": "A"}, "agent_id": "x"}` {
		t.Errorf("%s, %v", list.Items[0].Detail, err)
	}
}

// Of two acts at the same time, what was before the second is what the first has left.
func TestWhatWasIsWhatTheActBeforeHasLeft(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent := w.Agent(t)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for n := range 5 {
				err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
					was, err := tx.LockAndReadState(t.Context(), store.OfAgent(agent.ID))
					if err != nil {
						return err
					}
					mine := agent
					mine.Description = fmt.Sprintf("%d.%d", i, n)
					if _, err := tx.Agents().Update(t.Context(), mine); err != nil {
						return err
					}
					return tx.RecordChange(t.Context(), store.Event{ActorType: "system", Action: "agent.update"}, was, store.OfAgent(agent.ID))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var broken, links int
	w.AsSystem(t, `
		select count(*) filter (where before <> left_by), count(*) from (
			select detail->'before'->>'description' as before,
			       coalesce(lag(detail->'after'->>'description') over (order by n), '') as left_by
			from audit_events join audit_chain on audit_chain.tenant_id = audit_events.tenant_id and event_id = audit_events.id
			where audit_events.tenant_id = $1) events`, []any{w.Tenant}, &broken, &links)
	if broken > 0 || links != 30 {
		t.Errorf("%d of %d acts began with something else than the one before had left", broken, links)
	}
}

// A waiting caller holds a connection that others need.
func TestBefore_FailsAsBusyAfterTimeout(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent := w.Agent(t)
	begins := func(door *store.Tenant) error {
		return door.Tx(t.Context(), func(tx *store.Tenant) error {
			_, err := tx.LockAndReadState(t.Context(), store.OfAgent(agent.ID))
			return err
		})
	}
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if _, err := tx.LockAndReadState(t.Context(), store.OfAgent(agent.ID)); err != nil {
			return err
		}
		if err := begins(w.OtherDoor()); err != nil {
			t.Errorf("another tenant's: %v", err)
		}
		err := begins(w.Door())
		wantKind(t, err, fault.Unavailable)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := begins(w.Door()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// The same secret of the same thing can be recognised, another one and another thing's cannot.
func TestState_FingerprintIdentifiesSecret(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	one, two := w.Connector(t), w.Connector(t)
	fingerprint := func(c connectors.Connector, text secret.Text) string {
		t.Helper()
		err := w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{ConnectorID: c.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: text})
		if err != nil {
			t.Fatal(err)
		}
		state, err := w.Door().State(t.Context(), store.OfCredential(c.ID, nil))
		if err != nil {
			t.Fatal(err)
		}
		mark, _ := state["secret"].(string)
		if !strings.HasPrefix(mark, "hmac:") || len(mark) != len("hmac:")+32 {
			t.Errorf("%q", mark)
		}
		return mark
	}
	first := fingerprint(one, "hunter-2")
	if again := fingerprint(one, "hunter-2"); again != first {
		t.Error("the same secret again looks like another")
	}
	if other := fingerprint(one, "hunter-3"); other == first {
		t.Error("another secret looks the same")
	}
	if elsewhere := fingerprint(two, "hunter-2"); elsewhere == first {
		t.Error("the secrets of two things can be compared")
	}
}
