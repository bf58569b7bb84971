package manage

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// AccessAsk is what a person asks for.
type AccessAsk struct {
	Agent     connectors.Ref
	Connector connectors.Ref
	AllTools  bool
	Tools     []string // unless AllTools: the upstream's names
	Reason    string
	Until     *time.Time // nil: no end
}

// AskAccess stores a request for access and announces it. A member may ask, for a personal agent its owner. What the agent has
// already is a Conflict.
func (r *Registry) AskAccess(ctx context.Context, a auth.Actor, ask AccessAsk) (asked store.RequestedAccess, err error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return asked, err
	}
	request := connectors.AccessRequest{
		AllTools: ask.AllTools, Tools: ask.Tools, Reason: ask.Reason, Until: ask.Until, Asker: askerID(a), AskedBy: a.Decider(),
	}.Normalized()
	if err := fault.InvalidFields(request.Validate(time.Now())...); err != nil {
		return asked, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		asked, err = createRequest(ctx, tx, a, ask, request)
		return err
	})
	return asked, err
}

// askerID identifies the actor among those that ask; zero for the command line.
func askerID(a auth.Actor) uuid.UUID {
	if id := a.ID(); id != nil {
		return *id
	}
	return uuid.UUID{}
}

func createRequest(ctx context.Context, tx *store.Tenant, a auth.Actor, ask AccessAsk, request connectors.AccessRequest) (asked store.RequestedAccess, err error) {
	owner, target, err := findGrant(ctx, tx, ask.Agent, ask.Connector)
	if err != nil {
		return asked, err
	}
	if err := a.RequireUse(ctx, tx.Accounts(), owner.ID); err != nil {
		return asked, err
	}
	request.AgentID, request.ConnectorID = owner.ID, target.ID
	if _, err := tx.LockAndReadState(ctx, store.OfGrant(owner.ID, target.ID)); err != nil { // requests are counted one after the other
		return asked, err
	}
	if err := checkAdds(ctx, tx, request); err != nil {
		return asked, err
	}
	if err := checkOpenRequests(ctx, tx, request.Asker); err != nil {
		return asked, err
	}
	id, err := tx.AccessRequests().Create(ctx, request)
	if err != nil {
		return asked, err
	}
	if asked, err = tx.AccessRequests().Get(ctx, id); err != nil {
		return asked, err
	}
	if err := tx.RecordChange(ctx, requestEvent(a, "access_request.ask", asked), nil, store.OfAccessRequest(id)); err != nil {
		return asked, err
	}
	return asked, tx.People().AddNotice(ctx, connectors.AccessRequestNotice(asked.AccessRequest, asked.Connector, asked.Agent))
}

func checkAdds(ctx context.Context, tx *store.Tenant, request connectors.AccessRequest) error {
	granted, err := tx.Agents().Grant(ctx, request.AgentID, request.ConnectorID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err == nil && !request.Adds(granted.Grant, time.Now()) {
		return fault.Errorf(fault.Conflict, "The agent has this access already.")
	}
	return err
}

func checkOpenRequests(ctx context.Context, tx *store.Tenant, asker uuid.UUID) error {
	open, own, err := tx.AccessRequests().CountOpen(ctx, asker)
	switch {
	case err != nil:
		return err
	case own >= connectors.MaxOpenRequests:
		return fault.Errorf(fault.Conflict, "You have %d open requests. Wait until some are decided, or withdraw some.", own)
	case open >= connectors.MaxOpenRequestsTenant:
		return fault.Errorf(fault.Conflict, "This organisation has %d open requests. Wait until some are decided.", open)
	}
	return nil
}

// AccessRequests lists requests.
func (r *Registry) AccessRequests(ctx context.Context, a auth.Actor, f store.AccessRequestFilter) (store.List[store.RequestedAccess], error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return store.List[store.RequestedAccess]{}, err
	}
	return r.store.Tenant(a.Tenant.ID).AccessRequests().List(ctx, f)
}

// AccessRequest returns a request.
func (r *Registry) AccessRequest(ctx context.Context, a auth.Actor, id connectors.AccessRequestID) (store.RequestedAccess, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return store.RequestedAccess{}, err
	}
	return r.store.Tenant(a.Tenant.ID).AccessRequests().Get(ctx, id)
}

// WithdrawRequest ends an open request of the actor.
func (r *Registry) WithdrawRequest(ctx context.Context, a auth.Actor, id connectors.AccessRequestID) error {
	if err := a.Require(connectors.PermOperate); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfAccessRequest(id))
		if err != nil {
			return err
		}
		found, err := tx.AccessRequests().Get(ctx, id)
		if err != nil {
			return err
		}
		if found.Asker != askerID(a) {
			return fault.Errorf(fault.Conflict, "Only %s can withdraw this request. Refuse it instead.", found.AskedBy)
		}
		if err := tx.AccessRequests().Decide(ctx, id, store.AccessDecision{State: connectors.RequestWithdrawn, By: a.Decider()}); err != nil {
			return err
		}
		return tx.RecordChange(ctx, requestEvent(a, "access_request.withdraw", found), before, store.OfAccessRequest(id))
	})
}

// RequestDecision is an admin's answer.
type RequestDecision struct {
	Accept bool
	Until  **time.Time // with Accept: another end, nil within for none; nil: the wanted one
	Note   string
}

// DecideRequest accepts or refuses an open request. An accepted one widens the agent's grant up to the end: what was granted
// before keeps its own end.
func (r *Registry) DecideRequest(ctx context.Context, a auth.Actor, id connectors.AccessRequestID, d RequestDecision) (decided store.RequestedAccess, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return decided, err
	}
	if utf8.RuneCountInString(d.Note) > connectors.MaxRequestReason {
		return decided, fault.InvalidFields(fault.Field{Location: "note", Message: "At most 1000 characters."})
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfAccessRequest(id))
		if err != nil {
			return err
		}
		found, err := tx.AccessRequests().Get(ctx, id)
		if err != nil {
			return err
		}
		action, decision := "access_request.refuse", store.AccessDecision{State: connectors.RequestRefused, By: a.Decider(), Note: d.Note}
		if d.Accept {
			action, decision.State = "access_request.accept", connectors.RequestAccepted
		}
		if err := tx.AccessRequests().Decide(ctx, id, decision); err != nil {
			return err
		}
		if d.Accept {
			if err := grantRequested(ctx, tx, a, found, d); err != nil {
				return err
			}
		}
		if decided, err = tx.AccessRequests().Get(ctx, id); err != nil {
			return err
		}
		if err := tx.RecordChange(ctx, requestEvent(a, action, found), before, store.OfAccessRequest(id)); err != nil {
			return err
		}
		return tx.People().AddNotice(ctx, connectors.AccessDecisionNotice(decided.AccessRequest, decided.Connector, decided.Agent))
	})
	return decided, err
}

// grantRequested widens the grant by what was asked for.
func grantRequested(ctx context.Context, tx *store.Tenant, a auth.Actor, asked store.RequestedAccess, d RequestDecision) error {
	owner, target, err := findGrant(ctx, tx, connectors.Ref(asked.AgentID.String()), connectors.Ref(asked.ConnectorID.String()))
	if err != nil {
		return err
	}
	until := asked.Until
	if d.Until != nil {
		until = *d.Until
	}
	if until != nil && !until.After(time.Now()) {
		return fault.InvalidFields(fault.Field{Location: "until", Message: "This end has passed. Choose another."})
	}
	next, err := widenGrant(ctx, tx, owner, target, asked.AccessRequest, until)
	if err != nil {
		return err
	}
	return setGrant(ctx, tx, a, owner, target, next)
}

// widenGrant returns the grant as it would be after the request was accepted.
func widenGrant(
	ctx context.Context, tx *store.Tenant, owner connectors.Agent, target connectors.Connector, asked connectors.AccessRequest, until *time.Time,
) (connectors.Grant, error) {
	granted, err := tx.Agents().Grant(ctx, owner.ID, target.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return connectors.Grant{}, err
	}
	next := granted.Widened(asked.AllTools, asked.Tools, target.DiscoveredTools, until, time.Now())
	if next.Ends == nil {
		next.Ends = &connectors.GrantEnds{} // otherwise those of the existing grant would stay
	}
	return next, nil
}

func requestEvent(a auth.Actor, action string, r store.RequestedAccess) store.Event {
	e := a.Event(action, r.Agent.Slug+"/"+r.Connector.Slug)
	e.Detail = map[string]any{
		"request_id": r.ID.String(), "agent_id": r.AgentID.String(), "connector_id": r.ConnectorID.String(), "asked_by": r.AskedBy,
	}
	return e
}
