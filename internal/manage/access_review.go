package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// AccessReview is what a decision on a request rests on. Only Request is set for those that do not manage access.
type AccessReview struct {
	Request   store.RequestedAccess
	Agent     connectors.Agent
	Connector connectors.Connector
	Before    *connectors.Grant // the agent's current grant; nil: none
	After     connectors.Grant  // the grant if the request is accepted now
	Tools     []store.RequestedTool
	Others    []store.OtherGrant
	MayEnd    bool // the actor may withdraw the request
}

// ReviewRequest reads a request with what a decision rests on, in one snapshot.
func (r *Registry) ReviewRequest(ctx context.Context, a auth.Actor, id connectors.AccessRequestID) (review AccessReview, err error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return review, err
	}
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		if review.Request, err = tx.AccessRequests().Get(ctx, id); err != nil {
			return err
		}
		isOpen := review.Request.State == connectors.RequestOpen
		review.MayEnd = isOpen && review.Request.Asker == askerID(a) && a.Role.May(connectors.PermOperate)
		if !a.Role.May(connectors.PermManage) {
			return nil
		}
		return review.readFacts(ctx, tx)
	})
	return review, err
}

func (v *AccessReview) readFacts(ctx context.Context, tx *store.Tenant) error {
	asked := v.Request.AccessRequest
	owner, target, err := findGrant(ctx, tx, connectors.Ref(asked.AgentID.String()), connectors.Ref(asked.ConnectorID.String()))
	if err != nil {
		return err
	}
	v.Agent, v.Connector = owner, target
	granted, err := tx.Agents().Grant(ctx, owner.ID, target.ID)
	switch {
	case err == nil:
		v.Before = &granted.Grant
	case !fault.Is(err, fault.NotFound):
		return err
	}
	if v.After, err = widenGrant(ctx, tx, owner, target, asked, asked.Until); err != nil {
		return err
	}
	if v.Tools, err = tx.AccessRequests().ReviewTools(ctx, asked); err != nil {
		return err
	}
	v.Others, err = tx.AccessRequests().OtherGrants(ctx, asked)
	return err
}
