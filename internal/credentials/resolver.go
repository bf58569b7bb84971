package credentials

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Resolver turns stored credentials into headers.
type Resolver struct {
	store    *store.Store
	oauth    *oauth.Client // nil: tokens are used as they are, for as long as they live
	dialer   *mcp.Dialer   // nil: no server is asked for its challenge
	log      *slog.Logger
	now      func() time.Time
	lease    time.Duration
	patience time.Duration
	flights  singleflight.Group
	crew     crew
}

// New makes a Resolver that gets no tokens: it uses the ones that are there.
func New(st *store.Store) *Resolver {
	return &Resolver{store: st, log: slog.New(slog.DiscardHandler), now: time.Now, lease: leaseTime, patience: patience}
}

// Options are what a Resolver needs to get tokens and to renew them. Store and OAuth are required.
type Options struct {
	Store *store.Store
	OAuth *oauth.Client
	// Dialer asks a machine's server where its tokens come from, where no well-known document says so; nil: nobody is asked.
	Dialer *mcp.Dialer
	Log    *slog.Logger     // nil: nowhere
	Now    func() time.Time // nil: time.Now
	Lease  time.Duration    // of one renewal; 0: 30 seconds
	// Patience is how long a caller whose token still lives waits for the next one; 0: 2 seconds. The renewal goes on.
	Patience time.Duration
}

// NewRefreshing makes a Resolver that renews tokens when they are due, and gets those of machines.
func NewRefreshing(o Options) *Resolver {
	r := New(o.Store)
	r.oauth, r.dialer = o.OAuth, o.Dialer
	if o.Log != nil {
		r.log = o.Log
	}
	if o.Now != nil {
		r.now = o.Now
	}
	if o.Lease > 0 {
		r.lease = o.Lease
	}
	if o.Patience > 0 {
		r.patience = o.Patience
	}
	return r
}

// Usable is an opened credential.
type Usable struct {
	ID      connectors.CredentialID
	Agent   *connectors.AgentID // whose it is; nil: the shared one
	Version int                 // of one with a token that can be renewed or refused; 0: a secret that goes out as it is
	Headers []Header

	Revision int  // moves with every new secret and every new token
	Renewed  bool // the token follows another one of the same grant, which lives on for a while

	Due time.Time // when to ask for it again, if nothing is heard of it before; zero: never

	connector connectors.Connector
	meta      store.GrantMeta // as it was with this version
	scopes    []string
}

// For returns the headers that agent sends to the connector. Where the credential is missing or dead the error is the fault
// that [Missing] makes, with the cause.
func (r *Resolver) For(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) ([]Header, error) {
	if c.Auth.Type == connectors.AuthNone {
		return nil, nil
	}
	u, err := r.Of(ctx, tenant, c, agent)
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return nil, r.WhyMissing(ctx, tenant, c, agent)
	default:
		return u.Headers, nil
	}
}

// Of opens the credential that agent uses for the connector: the shared one in shared mode, whoever asks, and an agent's own, never
// another's and never the shared one, in per-agent mode. It is nil where there is none that could be used.
func (r *Resolver) Of(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) (*Usable, error) {
	owner, ok := ownerOf(c, agent)
	switch {
	case !ok:
		return nil, nil
	case hasToken(c.Auth.Type):
		return r.grant(ctx, tenant, c, owner)
	}
	cred, sealed, err := r.store.Vault(tenant).Secret(ctx, c.ID, owner)
	return usable(c, cred, sealed, err)
}

// LastUsed opens the credential of a per-agent connector that was used last, whoever's it is. It is nil where there is none.
func (r *Resolver) LastUsed(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (*Usable, error) {
	cred, sealed, err := r.store.Vault(tenant).LastUsed(ctx, c.ID)
	if err == nil && hasToken(c.Auth.Type) {
		return r.grant(ctx, tenant, c, cred.AgentID)
	}
	return usable(c, cred, sealed, err)
}

// MarkUsed notes that the server took the credential.
func (r *Resolver) MarkUsed(ctx context.Context, tenant connectors.TenantID, u *Usable) error {
	return r.store.Vault(tenant).MarkUsed(ctx, u.ID)
}

// ownerOf tells whose credential serves an agent; ok is false where it can be nobody's.
func ownerOf(c connectors.Connector, agent *connectors.AgentID) (owner *connectors.AgentID, ok bool) {
	if c.CredentialMode == connectors.CredentialPerAgent {
		return agent, agent != nil
	}
	return nil, true
}

// hasToken tells whether what goes out is a token that an authorization server gave.
func hasToken(t connectors.AuthType) bool { return t == connectors.AuthOAuth2 || isMachine(t) }

// isMachine tells whether the client signs in for itself, and no person does.
func isMachine(t connectors.AuthType) bool {
	return t == connectors.AuthClientCredentials || t == connectors.AuthPrivateKeyJWT
}

// usable opens a secret that goes out as it is.
func usable(c connectors.Connector, cred connectors.Credential, opened secret.Text, err error) (*Usable, error) {
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the credential of connector %s: %w", c.ID, err)
	}
	if !alive(c, cred) {
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
	return &Usable{ID: cred.ID, Agent: cred.AgentID, Headers: headers, Revision: cred.Version}, nil
}

// alive tells whether a credential may be used at all. The connector was read before it, and may have moved in between: a secret
// goes to the origin that it was given for. One that was entered for another auth type would go out in the wrong header.
func alive(c connectors.Connector, cred connectors.Credential) bool {
	return cred.Origin != "" && cred.Origin == connectors.Origin(c.URL) && cred.Type == c.Auth.Type &&
		cred.Status != connectors.CredentialRevoked && cred.Status != connectors.CredentialExpired
}
