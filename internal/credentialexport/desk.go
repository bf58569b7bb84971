package credentialexport

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	maxConcurrent  = 8 // credentials read concurrently: some wait for an authorization server
	defaultTimeout = 20 * time.Second
)

// Options configure a [Desk]. Log and Within are optional.
type Options struct {
	Store       *store.Store
	Credentials *credentials.Resolver
	Log         *slog.Logger
	Within      time.Duration // timeout of all reads together; 0: 20 seconds
}

// Desk returns the credentials of agents.
type Desk struct {
	store       *store.Store
	credentials *credentials.Resolver
	log         *slog.Logger
	timeout     time.Duration
}

// New returns a Desk.
func New(o Options) *Desk {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Within == 0 {
		o.Within = defaultTimeout
	}
	return &Desk{store: o.Store, credentials: o.Credentials, log: o.Log, timeout: o.Within}
}

// Bundle holds an agent's credentials.
type Bundle struct {
	Agent   connectors.Agent
	Servers []Server // of its granted and enabled connectors, ordered by slug
}

// Server is one connector's server with its credential.
type Server struct {
	Slug      string // the connector's; with several accounts its [connectors.ViewSlug]
	Account   string // that the grant binds; empty: the owner's only one
	Connector connectors.Connector
	Headers   []credentials.Header // credential; empty for a server without authentication
	Fault     *fault.Error         // why there are no headers; nil: none failed

	credential connectors.CredentialID // zero: none is needed, or there are no headers
}

// Open decrypts an agent's credentials for an admin.
func (d *Desk) Open(ctx context.Context, a auth.Actor, agent connectors.Ref) (Bundle, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return Bundle{}, err
	}
	tenant := d.store.Tenant(a.Tenant.ID)
	agentRow, err := tenant.Agents().Get(ctx, agent)
	if err != nil {
		return Bundle{}, err
	}
	if !agentRow.Enabled {
		return Bundle{}, disabledError(agentRow)
	}
	list, err := listGranted(ctx, tenant.Agents(), agentRow.ID)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Agent: agentRow, Servers: d.resolveAll(ctx, a.Tenant.ID, agentRow.ID, list)}
	if err := d.recordRead(ctx, a, b); err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// recordRead audits the read if the agent still has its grants. Without the audit entry nothing is returned.
func (d *Desk) recordRead(ctx context.Context, a auth.Actor, b Bundle) error {
	return d.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		current, err := tx.Agents().Get(ctx, connectors.Ref(b.Agent.ID.String()))
		if err != nil {
			return err
		}
		if !current.Enabled {
			return disabledError(current)
		}
		list, err := listGranted(ctx, tx.Agents(), current.ID)
		if err != nil {
			return err
		}
		for _, s := range b.Servers {
			switch granted, err := isGranted(ctx, tx, current.ID, list, s); {
			case err != nil:
				return err
			case !granted:
				return fault.Errorf(fault.Conflict, "Access for the agent %q just changed. Try again.", current.Name)
			}
		}
		return tx.Audit().Record(ctx, b.newEvent(a))
	})
}

// isGranted reports whether the agent still has a server's connector, and for headers their account.
func isGranted(ctx context.Context, tx *store.Tenant, agent connectors.AgentID, list []store.AccessConnector, s Server) (bool, error) {
	i := slices.IndexFunc(list, func(r store.AccessConnector) bool { return r.Connector.ID == s.Connector.ID && r.Slug == s.Slug })
	switch {
	case i < 0, len(s.Headers) > 0 && list[i].Grant.Ends != nil:
		return false, nil
	case len(s.Headers) == 0:
		return true, nil
	case list[i].Grant.Account() != "":
		return list[i].Account == s.credential, nil
	}
	_, account, err := credentials.FindAccount(ctx, tx, s.Connector, &agent)
	return account == s.credential, err
}

func disabledError(a connectors.Agent) error {
	return fault.Errorf(fault.Conflict, "The agent %q is disabled. Enable it first.", a.Name)
}

// listGranted returns the grants of an agent for enabled connectors, without those that have ended.
func listGranted(ctx context.Context, tenant store.Agents, agent connectors.AgentID) ([]store.AccessConnector, error) {
	grants, err := tenant.GrantedConnectors(ctx, agent)
	if err != nil {
		return nil, err
	}
	var enabled []store.AccessConnector
	for _, r := range grants {
		if r.Connector.Enabled && !r.Ended {
			enabled = append(enabled, r)
		}
	}
	return enabled, nil
}

func (d *Desk) resolveAll(ctx context.Context, tenant connectors.TenantID, agent connectors.AgentID, list []store.AccessConnector) []Server {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	servers := make([]Server, len(list))
	var group errgroup.Group
	group.SetLimit(maxConcurrent)
	for i, granted := range list {
		c := granted.Connector
		if granted.Grant.Ends != nil { // the credential would work after the end
			f := fault.Errorf(fault.Conflict, "The access to %q ends, so its credential only works through the gateway.", c.Name)
			f.Code = "temporary_grant"
			servers[i] = Server{Connector: c, Fault: f}
			continue
		}
		servers[i] = Server{Connector: c, Fault: fault.Errorf(fault.Internal, "Something went wrong on our side.")} // if resolveServer panics
		group.Go(safe.Try(safe.Task, func() error {
			servers[i] = d.resolveServer(ctx, tenant, credentials.Account{Agent: &agent, Name: granted.Grant.Account()}, c)
			return nil
		}))
	}
	_ = group.Wait() // each fault is in its server
	for i, granted := range list {
		servers[i].Slug, servers[i].Account = granted.Slug, granted.Grant.Account()
	}
	return servers
}

func (d *Desk) resolveServer(ctx context.Context, tenant connectors.TenantID, of credentials.Account, c connectors.Connector) Server {
	if c.Transport == connectors.TransportStdio {
		f := fault.Errorf(fault.Conflict, "%q runs on Patchbay's machine and is only reachable through the gateway.", c.Name)
		f.Code = "program"
		return Server{Connector: c, Fault: f}
	}
	if c.Transport == connectors.TransportAPI { // a client would send the credential to the document's URL
		f := fault.Errorf(fault.Conflict, "%q is an HTTP API and is only reachable through the gateway.", c.Name)
		f.Code = "http_api"
		return Server{Connector: c, Fault: f}
	}
	opened, err := d.credentials.Open(ctx, tenant, c, of)
	if err == nil && slices.ContainsFunc(opened.Headers, func(h credentials.Header) bool { return h.Proof != nil }) {
		f := fault.Errorf(fault.Conflict, "The token of %q is bound to a key of Patchbay and only works through the gateway.", c.Name)
		f.Code = "bound_token"
		return Server{Connector: c, Fault: f}
	}
	if err == nil {
		return Server{Connector: c, Headers: opened.Headers, credential: opened.ID}
	}
	if ctx.Err() != nil {
		late := fault.Wrap(fault.Unavailable, err, "The credential isn't ready. Try again in a moment.")
		late.Code = "timeout"
		return Server{Connector: c, Fault: late}
	}
	f := fault.As(err)
	if f.Kind == fault.Internal {
		d.log.ErrorContext(ctx, "credential not handed out", "tenant_id", tenant, "connector_id", c.ID, "agent_id", of.Agent, "error", err)
	}
	return Server{Connector: c, Fault: f}
}

func (b Bundle) newEvent(a auth.Actor) store.Event {
	slugs := []string{}
	for _, s := range b.Servers {
		if len(s.Headers) > 0 {
			slugs = append(slugs, s.Slug)
		}
	}
	e := a.Event("credential.read", b.Agent.Slug)
	e.Detail = map[string]any{"agent_id": b.Agent.ID.String(), "agent": b.Agent.Slug, "connectors": slugs}
	return e
}
