package credentials

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Resolver turns stored credentials into headers.
type Resolver struct {
	store        *store.Store
	oauth        *oauth.Client // nil: tokens are not refreshed
	dialer       *mcp.Dialer   // nil: challenges are not read
	log          *slog.Logger
	now          func() time.Time
	lease        time.Duration
	refreshWait  time.Duration
	refreshes    singleflight.Group
	secretLoads  singleflight.Group
	refreshGroup taskGroup

	workloads      map[string]config.WorkloadToken
	issuers        string                                    // URL above those of the tenants' issuers; empty: none
	clientDocument string                                    // URL of our client metadata; empty: none
	unmanaged      *limit.Recent[managedServerID, time.Time] // until when a server counts as one without managed accounts
}

// New makes a Resolver that uses stored tokens and requests none.
func New(st *store.Store) *Resolver {
	return &Resolver{
		store: st, log: slog.New(slog.DiscardHandler), now: time.Now, lease: leaseDuration, refreshWait: maxRefreshWait,
		unmanaged: limit.NewRecent[managedServerID, time.Time](maxManagedServers),
	}
}

// Options configure a Resolver that requests tokens. Store and OAuth are required.
type Options struct {
	Store *store.Store
	OAuth *oauth.Client
	// Dialer reads the challenge of a machine's server without metadata; nil: it is not read.
	Dialer *mcp.Dialer
	Log    *slog.Logger     // nil: discarded
	Now    func() time.Time // nil: time.Now
	Lease  time.Duration    // of one refresh; 0: 30 seconds
	// RefreshWait is the wait for a refresh while the old token is valid; 0: 2 seconds. The refresh goes on.
	RefreshWait time.Duration
	// ClientDocument is the URL of our client metadata, our client id where a server supports them; empty: none.
	ClientDocument string
	// BaseURL is that of the program, below which the tenants' issuers are; empty: there is no token exchange.
	BaseURL string
	// WorkloadTokens are the operator's, by name.
	WorkloadTokens map[string]config.WorkloadToken
}

// NewRefreshing makes a Resolver that refreshes due tokens, and requests those of machines.
func NewRefreshing(o Options) *Resolver {
	r := New(o.Store)
	r.oauth, r.dialer, r.clientDocument, r.workloads = o.OAuth, o.Dialer, o.ClientDocument, o.WorkloadTokens
	if o.BaseURL != "" {
		r.issuers = o.BaseURL + IssuersPath
	}
	if o.Log != nil {
		r.log = o.Log
	}
	if o.Now != nil {
		r.now = o.Now
	}
	if o.Lease > 0 {
		r.lease = o.Lease
	}
	if o.RefreshWait > 0 {
		r.refreshWait = o.RefreshWait
	}
	return r
}

// Credential is an opened credential.
type Credential struct {
	ID      connectors.CredentialID
	Agent   *connectors.AgentID // owner; nil: the shared credential
	Version int                 // of an access token; 0: a static secret
	Headers []Header

	Revision  int  // changes with every secret and token
	Refreshed bool // refreshed: the grant's last token is still valid for a while

	Due time.Time // when to resolve again without a notification; zero: never

	connector connectors.Connector
	meta      store.GrantMeta // of this version
	scopes    []string
	member    *connectors.UserID // of a managed account: its tokens come from that member's sign-in at the provider
	workload  bool               // its tokens come from the operator's workload token
	forSync   bool               // no call resolved it
}

// Account names an account at a connector.
type Account struct {
	Agent *connectors.AgentID // that uses it; nil: shared credentials only
	Name  string              // among those of its owner; empty: the only one, and for no agent the one that syncs use
}

// Open opens the account for a person, to send its headers to the connector, unless it is managed or the operator's. It has no headers if the
// connector needs none. A missing or dead credential is a fault as by [NewMissingError], with the reason.
func (r *Resolver) Open(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account) (*Credential, error) {
	if c.Auth.Type == connectors.AuthNone {
		return &Credential{}, nil
	}
	if exchanged, err := r.wouldExchange(ctx, tenant, c, of); err != nil {
		return nil, err
	} else if exchanged { // as the agent, which the gateway governs
		return nil, fault.Errorf(fault.Conflict, "%q signs in by token exchange, which only works through the gateway.", c.Name)
	}
	u, err := r.ResolveFor(ctx, tenant, c, of, connectors.Caller{})
	switch {
	case err != nil:
		return nil, err
	case u == nil:
		return nil, r.ExplainMissing(ctx, tenant, c, of)
	case u.workload: // for the servers that the operator lists alone
		return nil, fault.Errorf(fault.Conflict, "%q signs in with the operator's workload token, which only works through the gateway.", c.Name)
	default:
		return u, nil
	}
}

// Resolve opens the account that the agent uses for the connector: a shared one in shared mode, and only one of
// the agent's own in per-agent mode. nil: it is not usable. Several without a name are an error. It is for syncs; calls use ResolveFor.
func (r *Resolver) Resolve(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account) (*Credential, error) {
	return r.resolveAccount(ctx, tenant, c, of, nil)
}

func (r *Resolver) resolveAccount(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account, caller *connectors.Caller,
) (*Credential, error) {
	owner, ok := credentialOwner(c, of.Agent)
	switch {
	case !ok:
		return nil, nil
	case of == Account{}: // of no agent, and shared
		return r.ResolveForSync(ctx, tenant, c)
	case hasToken(c.Auth.Type):
		return r.resolveGrant(ctx, tenant, c, Account{Agent: owner, Name: of.Name}, caller)
	}
	cred, sealed, err := r.store.Vault(tenant).NamedSecret(ctx, c.ID, owner, of.Name)
	return openSecret(c, cred, sealed, explainSeveral(c, owner, err))
}

// ResolveForSync opens the credential that syncs of the connector use: the one chosen for them, else the only shared one,
// or that of an agent that was used last. nil: it is not usable, or there is none. Several shared ones without a choice are an error.
func (r *Resolver) ResolveForSync(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (*Credential, error) {
	vault, isShared := r.store.Vault(tenant), c.CredentialMode == connectors.CredentialShared
	if hasToken(c.Auth.Type) {
		return r.refreshIfDue(ctx, tenant, c, nil, func() (store.Grant, error) {
			g, err := vault.SyncGrant(ctx, c.ID, isShared)
			return g, explainSeveralForSync(c, err)
		})
	}
	cred, sealed, err := vault.SyncSecret(ctx, c.ID, isShared)
	return openSecret(c, cred, sealed, explainSeveralForSync(c, err))
}

// MarkUsed records that the server accepted the credential.
func (r *Resolver) MarkUsed(ctx context.Context, tenant connectors.TenantID, u *Credential) error {
	return r.store.Vault(tenant).MarkUsed(ctx, u.ID)
}

// credentialOwner is the owner of the agent's credential; nil: shared. ok is false if there can be none.
func credentialOwner(c connectors.Connector, agent *connectors.AgentID) (owner *connectors.AgentID, ok bool) {
	if c.CredentialMode == connectors.CredentialPerAgent {
		return agent, agent != nil
	}
	return nil, true
}

// hasToken reports whether the type uses access tokens.
func hasToken(t connectors.AuthType) bool { return t == connectors.AuthOAuth2 || isMachine(t) }

// isMachine reports whether the client authenticates as itself, without a person.
func isMachine(t connectors.AuthType) bool {
	return t == connectors.AuthClientCredentials || t == connectors.AuthPrivateKeyJWT
}

func openSecret(c connectors.Connector, cred connectors.Credential, opened secret.Text, err error) (*Credential, error) {
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the credential of connector %s: %w", c.ID, err)
	}
	if !isUsable(c, cred) {
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
	return &Credential{ID: cred.ID, Agent: cred.AgentID, Headers: headers, Revision: cred.Version}, nil
}

// isUsable reports whether a credential may be sent: it was entered for the connector's origin and auth type,
// and is not dead. The connector was read first and may have changed.
func isUsable(c connectors.Connector, cred connectors.Credential) bool {
	return cred.Origin != "" && cred.Origin == c.CredentialOrigin() && cred.Type == c.Auth.Type &&
		cred.Status != connectors.CredentialRevoked && cred.Status != connectors.CredentialExpired
}
