package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// clientOf is a program of the victim's, with an access token.
type clientOf struct {
	client      store.LockedAgentClient
	clientToken connectors.AgentTokenID
	asked       connectors.AccountRequestID
	acting      connectors.AgentClientID // as the victim's member, after a sign-in at the tenant's provider
	memberToken connectors.MemberTokenID
	spent       uuid.UUID
}

// ownClients are the methods that an outsider calls with success: on what is its own.
var ownClients = map[string]bool{"Agents.Clients": true, "Agents.PersonalAgents": true, "Agents.IsPersonalAgent": true, "Agents.IsAgentOfPrograms": true, "Agents.CreateClientToken": true, "People.EndSSOPrograms": true, "People.ConsumeConfirmation": true}

func newClient(agent connectors.AgentID, user connectors.UserID) store.NewAgentClient {
	return store.NewAgentClient{
		ID: store.NewAgentClientID(), AgentID: &agent, UserID: user, ClientID: "https://app.example.com/client.json", Name: "App", Resource: "/mcp",
		RedirectURI: "http://127.0.0.1/cb", CodeMAC: []byte("theirs"), Challenge: make([]byte, 32), CodeTTL: time.Minute, Salt: make([]byte, 32),
	}
}

// clientAttempts are the outsider's at programs that may be agents.
var clientAttempts = map[string]attempt{
	"Agents.CreateClient": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().CreateClient(ctx, newClient(o.agent.ID, o.member.UserID))
	},
	"Agents.Clients": func(ctx context.Context, o outsider) (bool, error) {
		for _, of := range []store.AgentClientFilter{{}, {Agent: &o.agent.ID}, {Person: &o.member.UserID}} {
			if found, err := some(o.door.Agents().Clients(ctx, of, store.Page{})); found || err != nil {
				return found, err
			}
		}
		return false, nil
	},
	"Agents.LockClient": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Agents().LockClient(ctx, o.client.ID))
	},
	"Agents.ConsumeCode": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().ConsumeCode(ctx, o.client.ID, time.Now())
	},
	"Agents.RotateClient": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().RotateClient(ctx, o.client, time.Now(), time.Now().Add(time.Hour))
	},
	"Agents.CreateClientToken": func(ctx context.Context, o outsider) (bool, error) {
		id := store.NewAgentTokenID()
		if err := o.door.Agents().CreateClientToken(ctx, o.client.ID, store.ClientToken{ID: id, SecretMAC: []byte("mine"), ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
			return true, err
		}
		if _, err := o.St.System().Sessions().AgentToken(ctx, id); err == nil {
			return true, nil // a token of the victim's program
		}
		_, err := o.St.System().Sessions().AgentToken(ctx, o.clientToken)
		return err != nil, err
	},
	"Agents.DropClientToken": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().DropClientToken(ctx, o.clientToken)
	},
	"People.CreateMemberToken": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.People().CreateMemberToken(ctx, o.acting, store.MemberToken{ID: store.NewMemberTokenID(), SecretMAC: []byte("mine"), ExpiresAt: time.Now().Add(time.Hour)})
	},
	"People.DropMemberToken": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.People().DropMemberToken(ctx, o.memberToken)
	},
	"People.ProgramOwner": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.People().ProgramOwner(ctx, o.member.UserID))
	},
	"People.EndSSOPrograms": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.People().EndSSOPrograms(ctx, o.member.UserID); err != nil {
			return true, err
		}
		_, err := o.St.System().People().MemberToken(ctx, o.memberToken)
		return err != nil, err
	},
	"People.ConsumeConfirmation": func(ctx context.Context, o outsider) (bool, error) {
		first, err := o.door.People().ConsumeConfirmation(ctx, o.spent, time.Now())
		return !first, err
	},
	"Agents.DeleteClient": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().DeleteClient(ctx, o.client.ID)
	},
	"Agents.PersonalAgents": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Agents().PersonalAgents(ctx, o.member.UserID)
		return len(list) > 0, err
	},
	"Agents.IsPersonalAgent": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Agents().IsPersonalAgent(ctx, o.member.UserID, o.agent.ID)
	},
	"Agents.IsAgentOfPrograms": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Agents().IsAgentOfPrograms(ctx, o.member.UserID, o.agent.ID)
	},
	"Agents.MakePersonal": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().MakePersonal(ctx, o.member.UserID, o.agent.ID)
	},
}

func (o *outsider) fillClients(t *testing.T) {
	t.Helper()
	ctx, door, n := t.Context(), o.Door(), newClient(o.agent.ID, o.member.UserID)
	for _, err := range []error{
		door.Agents().CreateClient(ctx, n),
		door.Agents().ConsumeCode(ctx, n.ID, time.Now()),
		door.Agents().MakePersonal(ctx, o.member.UserID, o.agent.ID),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	err := door.Tx(ctx, func(tx *store.Tenant) (err error) {
		o.client, err = tx.Agents().LockClient(ctx, n.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	o.clientToken = store.NewAgentTokenID()
	if err := door.Agents().RotateClient(ctx, o.client, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := door.Agents().CreateClientToken(ctx, n.ID, store.ClientToken{ID: o.clientToken, SecretMAC: []byte("theirs"), ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	acting := newClient(connectors.AgentID{}, o.member.UserID)
	acting.AgentID, acting.Scope, acting.Resource, acting.BySSO = nil, connectors.ScopeAdmin, "/mcp/admin", true
	o.acting, o.memberToken, o.spent = acting.ID, store.NewMemberTokenID(), uuid.New()
	first, err := door.People().ConsumeConfirmation(ctx, o.spent, time.Now().Add(time.Hour))
	if err != nil || !first {
		t.Fatal(first, err)
	}
	for _, err := range []error{
		door.Agents().CreateClient(ctx, acting),
		door.People().CreateMemberToken(ctx, o.acting, store.MemberToken{ID: o.memberToken, SecretMAC: []byte("theirs"), ExpiresAt: time.Now().Add(time.Hour)}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if list, err := door.Agents().Clients(ctx, store.AgentClientFilter{Agent: &o.agent.ID}, store.Page{}); err != nil || len(list.Items) != 1 {
		t.Fatalf("%+v, %v", list.Items, err)
	}
}
