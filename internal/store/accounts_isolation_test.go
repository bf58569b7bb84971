package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/store"
)

// ownAccounts are the methods that find nothing where nothing of the outsider's own is.
var ownAccounts = map[string]bool{"Accounts.AgentAccounts": true, "Accounts.ConnectorAccounts": true, "Accounts.CountMissing": true, "Accounts.AgentsOfMembers": true, "Accounts.ConnectedRequests": true, "Accounts.HoldsGrantOf": true, "Accounts.FullName": true, "Accounts.CheckNamed": true, "Accounts.Names": true, "Accounts.BoundAgents": true, "Accounts.OfOwner": true}

// accountAttempts are the outsider's at members' accounts.
var accountAttempts = map[string]attempt{
	"Accounts.AgentAccounts": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Accounts().AgentAccounts(ctx, o.agent.ID)
		return len(list) > 0, err
	},
	"Accounts.ConnectorAccounts": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Accounts().ConnectorAccounts(ctx, store.ConnectorAccountFilter{Connector: o.connector.ID}))
	},
	"Accounts.CountMissing": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Accounts().CountMissing(ctx, o.connector.ID)
		return n > 0, err
	},
	"Accounts.AgentMember": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Accounts().AgentMember(ctx, o.agent.ID))
	},
	"Accounts.AgentsOfMembers": func(ctx context.Context, o outsider) (bool, error) {
		whose, err := o.door.Accounts().AgentsOfMembers(ctx, o.agent.ID)
		return len(whose) > 0, err
	},
	"Accounts.RequestAccount": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Accounts().RequestAccount(ctx, missedAccount(o, "mine")))
	},
	"Accounts.AccountRequest": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Accounts().AccountRequest(ctx, o.agent.ID, o.asked))
	},
	"Accounts.UseAccountRequest": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Accounts().UseAccountRequest(ctx, o.agent.ID, o.asked, time.Now())
	},
	"Accounts.ConnectedRequests": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Accounts().ConnectedRequests(ctx, o.agent.ID, "theirs")
		return len(list) > 0, err
	},
}

func missedAccount(o outsider, session string) store.NewAccountRequest {
	return store.NewAccountRequest{Agent: o.agent.ID, Connector: o.connector.ID, Session: session, Now: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
}

// fillAccounts has a call of the victim's miss an account, which is there by now.
func (o *outsider) fillAccounts(t *testing.T) {
	t.Helper()
	var err error
	if o.asked, err = o.Door().Accounts().RequestAccount(t.Context(), missedAccount(*o, "theirs")); err != nil {
		t.Fatal(err)
	}
	o.Credential(t, o.connector.ID, &o.agent.ID, "the victim's token")
	if done, err := o.Door().Accounts().ConnectedRequests(t.Context(), o.agent.ID, "theirs"); err != nil || len(done) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
}
