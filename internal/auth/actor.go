package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Kind says what an actor is; it is the actor type of audit events.
type Kind string

// The kinds of actor.
const (
	KindPerson   Kind = "person"
	KindKey      Kind = "key"
	KindOperator Kind = "operator" // the command line, which has the database in its hands
	KindAgent    Kind = "agent"    // one whose call misses an account, towards the page that mends it; it makes no other request
)

// Actor is who makes a request, in one tenant.
type Actor struct {
	Kind   Kind
	Tenant connectors.Tenant
	Role   connectors.Role
	UserID *connectors.UserID   // of a person
	KeyID  *connectors.APIKeyID // of a key
	Name   string               // for people and the audit log; a key's own name
	Email  string               // of a person

	Memberships []store.Membership   // of a person: the tenants to switch between
	Session     connectors.SessionID // of a person: where they are signed in

	RequestID string // of the request that the actor makes; for the audit log and the calls' history
	Address   string // where the request comes from; likewise

	Issued     bool       // of a person: the account was issued by this tenant, and opens it alone
	BySSO      bool       // of a person: signed in at the tenant's own provider, which opens this tenant alone
	Confirmed  *time.Time // of a person: when they last proved in their session who they are; nil: not in it
	Proves     bool       // of a person: by a code besides the password
	EnrolFirst bool       // of a person: the tenant opens once they have set a second factor up

	Program *store.Program // that acts as the person; nil: none does

	Via string // the door that the request came in by, where it is not the one that performs it: "mcp"; for the audit log
}

// CallOrigin is where a call comes from that the actor makes.
func (a Actor) CallOrigin() connectors.CallOrigin {
	return connectors.CallOriginOf(a.Address, a.RequestID)
}

// Operator is the actor of the command line: an owner of any tenant.
func Operator(t connectors.Tenant) Actor {
	return Actor{Kind: KindOperator, Tenant: t, Role: connectors.RoleOwner, Name: "command line"}
}

// In is the same person in another of their tenants. One of which they are no member, or for which they did not sign in, is NotFound; one that
// opens once they have set a second factor up is refused as it is on every page.
func (a Actor) In(slug string) (Actor, error) {
	for _, m := range a.Memberships {
		if m.Tenant.Slug == slug {
			a.Tenant, a.Role = m.Tenant, m.Role
			a.EnrolFirst = m.Tenant.SecondFactorRequired && !m.SecondFactor && !a.BySSO
			return enrolled(a, nil)
		}
	}
	return Actor{}, fault.Errorf(fault.NotFound, "There is no such tenant.")
}

// ID is the person's or the key's id; nil for the command line.
func (a Actor) ID() *uuid.UUID {
	switch {
	case a.UserID != nil:
		return &a.UserID.UUID
	case a.KeyID != nil:
		return &a.KeyID.UUID
	default:
		return nil
	}
}

// Require returns a Denied fault unless the actor's role has the permission.
func (a Actor) Require(p connectors.Permission) error {
	if a.Role.May(p) {
		return nil
	}
	return fault.Errorf(fault.Denied, "This needs the role %s; yours is %s.", connectors.LeastRole(p), a.Role)
}

// Event is an audit event of this actor, to be completed with Detail.
func (a Actor) Event(action, target string) store.Event {
	return store.Event{
		ActorType: string(a.Kind),
		ActorID:   a.ID(),
		ActorName: a.Name,
		Action:    action,
		Target:    target,
		RequestID: a.RequestID,
		IP:        a.Address,
		Via:       a.Via,
		Program:   a.Program,
	}
}

type actorKey struct{}

// WithActor returns a context that carries a.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor of a request that was identified.
func ActorFrom(ctx context.Context) (Actor, bool) {
	a, ok := ctx.Value(actorKey{}).(Actor)
	return a, ok
}
