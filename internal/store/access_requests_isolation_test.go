package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// accessRequestOf is an open request of the victim's.
type accessRequestOf struct{ accessRequest connectors.AccessRequestID }

func askedFor(agent connectors.AgentID, connector connectors.ConnectorID, asker uuid.UUID) connectors.AccessRequest {
	return connectors.AccessRequest{AgentID: agent, ConnectorID: connector, AllTools: true, Reason: "For a report.", Asker: asker, AskedBy: "Ada"}
}

// accessRequestAttempts are the outsider's attempts at requests for access.
var accessRequestAttempts = map[string]attempt{
	"AccessRequests.Create": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.AccessRequests().Create(ctx, askedFor(o.agent.ID, o.connector.ID, uuid.New()))
		return !fault.Is(err, fault.NotFound), err
	},
	"AccessRequests.CountOpen": func(ctx context.Context, o outsider) (bool, error) {
		open, own, err := o.door.AccessRequests().CountOpen(ctx, o.member.UserID.UUID)
		return open+own > 0, err
	},
	"AccessRequests.Get": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.AccessRequests().Get(ctx, o.accessRequest))
	},
	"AccessRequests.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.AccessRequests().List(ctx, store.AccessRequestFilter{}))
	},
	"AccessRequests.ReviewTools": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.AccessRequests().ReviewTools(ctx, askedFor(o.agent.ID, o.connector.ID, uuid.New()))
		return len(all) > 0, err
	},
	"AccessRequests.OtherGrants": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.AccessRequests().OtherGrants(ctx, askedFor(connectors.AgentID{}, o.connector.ID, uuid.New()))
		return len(all) > 0, err
	},
	"AccessRequests.Decide": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.AccessRequests().Decide(ctx, o.accessRequest, store.AccessDecision{State: connectors.RequestAccepted, By: "Eve"})
	},
}

func (o *outsider) fillAccessRequests(t *testing.T) {
	t.Helper()
	id, err := o.Door().AccessRequests().Create(t.Context(), askedFor(o.agent.ID, o.connector.ID, o.member.UserID.UUID))
	if err != nil {
		t.Fatal(err)
	}
	o.accessRequest = id
}
