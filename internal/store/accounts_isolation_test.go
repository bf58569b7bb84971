package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/store"
)

// ownAccounts are the methods that find nothing where nothing of the outsider's own is.
var ownAccounts = map[string]bool{"AgentAccounts": true, "AgentsOfMembers": true, "ConnectedRequests": true}

// accountAttempts are the outsider's at members' accounts.
var accountAttempts = map[string]attempt{
	"AgentAccounts": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.AgentAccounts(ctx, o.agent.ID)
		return len(list) > 0, err
	},
	"AgentMember": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.AgentMember(ctx, o.agent.ID)) },
	"AgentsOfMembers": func(ctx context.Context, o outsider) (bool, error) {
		whose, err := o.door.AgentsOfMembers(ctx, o.agent.ID)
		return len(whose) > 0, err
	},
	"RequestAccount": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.RequestAccount(ctx, missedAccount(o, "mine")))
	},
	"AccountRequest": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.AccountRequest(ctx, o.agent.ID, o.asked))
	},
	"UseAccountRequest": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.UseAccountRequest(ctx, o.agent.ID, o.asked, time.Now())
	},
	"ConnectedRequests": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.ConnectedRequests(ctx, o.agent.ID, "theirs")
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
	if o.asked, err = o.Door().RequestAccount(t.Context(), missedAccount(*o, "theirs")); err != nil {
		t.Fatal(err)
	}
	o.Credential(t, o.connector.ID, &o.agent.ID, "the victim's token")
	if done, err := o.Door().ConnectedRequests(t.Context(), o.agent.ID, "theirs"); err != nil || len(done) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
}
