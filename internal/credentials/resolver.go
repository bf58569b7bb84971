package credentials

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Resolver turns stored credentials into headers.
type Resolver struct {
	store   *store.Store
	oauth   *oauth.Client // nil: grants are used as they are, for as long as they live
	now     func() time.Time
	lease   time.Duration
	flights singleflight.Group
}

// New makes a Resolver that refreshes no grants.
func New(st *store.Store) *Resolver {
	return &Resolver{store: st, now: time.Now, lease: leaseTime}
}

// Options are what a Resolver needs to refresh grants.
type Options struct {
	Store *store.Store
	OAuth *oauth.Client
	Lease time.Duration // of a refresh; 0: 30 seconds
}

// NewRefreshing makes a Resolver that refreshes grants when they are due.
func NewRefreshing(o Options) *Resolver {
	r := New(o.Store)
	r.oauth = o.OAuth
	if o.Lease > 0 {
		r.lease = o.Lease
	}
	return r
}

// Usable is an opened credential.
type Usable struct {
	ID      connectors.CredentialID
	Agent   *connectors.AgentID // whose it is; nil: the shared one
	Version int                 // of a grant, for Forced; 0: not one
	Headers []Header
}

// For returns the headers that agent sends to the connector. Where the credential is missing or dead the error is the fault
// that [Missing] makes.
func (r *Resolver) For(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) ([]Header, error) {
	if c.Auth.Type == connectors.AuthNone {
		return nil, nil
	}
	if c.CredentialMode == connectors.CredentialPerAgent && agent == nil {
		return nil, Missing(c, nil)
	}
	u, err := r.Of(ctx, tenant, c, agent)
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return nil, Missing(c, agent)
	default:
		return u.Headers, nil
	}
}

// Of opens the credential that agent uses for the connector: the shared one in shared mode, whoever asks. It is nil where there
// is none that could be used.
func (r *Resolver) Of(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) (*Usable, error) {
	owner := agent
	if c.CredentialMode == connectors.CredentialShared {
		owner = nil
	}
	if c.Auth.Type == connectors.AuthOAuth2 {
		return r.grant(ctx, tenant, c, owner)
	}
	cred, sealed, err := r.store.Vault(tenant).Secret(ctx, c.ID, owner)
	return usable(c, cred, sealed, err)
}

// LastUsed opens the credential of a per-agent connector that was used last, whoever's it is. It is nil where there is none.
func (r *Resolver) LastUsed(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (*Usable, error) {
	cred, sealed, err := r.store.Vault(tenant).LastUsed(ctx, c.ID)
	if err == nil && c.Auth.Type == connectors.AuthOAuth2 {
		return r.grant(ctx, tenant, c, cred.AgentID)
	}
	return usable(c, cred, sealed, err)
}

// MarkUsed notes that the server took the credential.
func (r *Resolver) MarkUsed(ctx context.Context, tenant connectors.TenantID, u *Usable) error {
	return r.store.Vault(tenant).MarkUsed(ctx, u.ID)
}

func usable(c connectors.Connector, cred connectors.Credential, opened secret.Text, err error) (*Usable, error) {
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the credential of connector %s: %w", c.ID, err)
	}
	// The connector was read before its secret, and may have moved in between: a secret goes to the origin that it was given for.
	if cred.Origin == "" || cred.Origin != connectors.Origin(c.URL) {
		return nil, nil
	}
	// A secret that was entered for another auth type would go out in the wrong header.
	if cred.Type != c.Auth.Type || cred.Status == connectors.CredentialRevoked || cred.Status == connectors.CredentialExpired {
		return nil, nil
	}
	s, err := connectors.DecodeSecret(opened)
	if err != nil {
		return nil, fmt.Errorf("open the credential of connector %s: %w", c.ID, err)
	}
	headers, err := Headers(c.Auth, s)
	if err != nil {
		return nil, fmt.Errorf("open the credential of connector %s: %w", c.ID, err)
	}
	return &Usable{ID: cred.ID, Agent: cred.AgentID, Headers: headers}, nil
}

// Missing is the Conflict that tells a caller to set the credential of the connector; agent nil is the shared one, or, per
// agent, that of any agent.
func Missing(c connectors.Connector, agent *connectors.AgentID) error {
	message := "The connector %q has no usable credential. Set it on the connector's credentials page."
	switch {
	case c.CredentialMode != connectors.CredentialPerAgent:
	case agent != nil:
		message = "This agent has no usable credential for the connector %q. Set it on the connector's credentials page."
	default:
		message = "The connector %q asks for a credential, and no agent has one yet. Set one on the connector's credentials page."
	}
	return fault.Errorf(fault.Conflict, message, c.Name).WithType("credential-required")
}
