package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// ActorKind is the kind of an actor and the actor type of its audit events.
type ActorKind string

// The kinds of actor.
const (
	KindPerson   ActorKind = "person"
	KindKey      ActorKind = "key"
	KindOperator ActorKind = "operator" // the command line, with access to the database
	KindAgent    ActorKind = "agent"    // an agent, on the page to connect its missing account only
	KindSCIM     ActorKind = "scim"     // the tenant's identity provider
)

// Actor is the caller of a request, in one tenant.
type Actor struct {
	Kind   ActorKind
	Tenant connectors.Tenant
	Role   connectors.Role
	UserID *connectors.UserID   // of a person
	KeyID  *connectors.APIKeyID // of a key
	Name   string               // display name, also for the audit log; of a key its own
	Email  string               // of a person

	Memberships []store.Membership   // of a person: tenants to switch between
	Session     connectors.SessionID // of a person: the current session

	RequestID string // of the request; for the audit log and the call history
	Address   string // remote address of the request, likewise

	Issued                bool       // of a person: this tenant issued the account, which opens it alone
	BySSO                 bool       // of a person: signed in at the tenant's provider, which opens this tenant alone
	ReauthenticatedAt     *time.Time // of a person: last re-authentication in the session; nil: none
	HasSecondFactor       bool       // of a person: has a second factor
	MustEnrolSecondFactor bool       // of a person: the tenant requires a second factor that is not set up

	Program *store.ActingClient // OAuth client that acts as the person; nil: none

	provenKey string // thumbprint of the key of the request's proof; empty: it had none

	EntryPoint string // entry point of the request, if another one performs it: "mcp"; for the audit log
}

// CallOrigin returns the origin of the actor's calls.
func (a Actor) CallOrigin() connectors.CallOrigin {
	return connectors.CallOriginOf(a.Address, a.RequestID)
}

// Caller returns the actor as the caller of calls.
func (a Actor) Caller() connectors.Caller { return connectors.CallerPerson(a.UserID) }

// Operator returns the actor of the command line: an owner of any tenant.
func Operator(t connectors.Tenant) Actor {
	return Actor{Kind: KindOperator, Tenant: t, Role: connectors.RoleOwner, Name: "command line"}
}

// ForTenant returns the person as an actor of another of their tenants. It fails with NotFound without a membership
// that this sign-in opens, and refuses a tenant that first requires a second factor.
func (a Actor) ForTenant(slug string) (Actor, error) {
	for _, m := range a.Memberships {
		if m.Tenant.Slug == slug {
			a.Tenant, a.Role = m.Tenant, m.Role
			a.MustEnrolSecondFactor = m.Tenant.SecondFactorRequired && !m.SecondFactor && !a.BySSO
			return requireEnrolled(a, nil)
		}
	}
	return Actor{}, fault.Errorf(fault.NotFound, "No such organisation.")
}

// ID returns the person's or the key's id; nil for the command line.
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
	return fault.Errorf(fault.Denied, "Requires the %s role; yours is %s.", connectors.LowestRole(p), a.Role)
}

// Event returns an audit event of this actor, without Detail.
func (a Actor) Event(action, target string) store.Event {
	return store.Event{
		ActorType: string(a.Kind),
		ActorID:   a.ID(),
		ActorName: a.Name,
		Action:    action,
		Target:    target,
		RequestID: a.RequestID,
		IP:        a.Address,
		Via:       a.EntryPoint,
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
