package handover

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
	atOnce  = 8 // credentials that are read at the same time: some of them wait for an authorization server
	longest = 20 * time.Second
)

// Options are what a Desk needs. Log and Within may be left out.
type Options struct {
	Store       *store.Store
	Credentials *credentials.Resolver
	Log         *slog.Logger
	Within      time.Duration // of everything that is asked for; 0: 20 seconds
}

// Desk is where credentials are handed out.
type Desk struct {
	store       *store.Store
	credentials *credentials.Resolver
	log         *slog.Logger
	within      time.Duration
}

// New makes a Desk.
func New(o Options) *Desk {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Within == 0 {
		o.Within = longest
	}
	return &Desk{store: o.Store, credentials: o.Credentials, log: o.Log, within: o.Within}
}

// Bundle is what an agent needs to go to the servers itself.
type Bundle struct {
	Agent   connectors.Agent
	Servers []Server // of the enabled connectors that it was granted, by their slugs
}

// Server is one connector's server, as the agent would ask it.
type Server struct {
	Connector connectors.Connector
	Headers   []credentials.Header // that authenticate; none where the server is open
	Fault     *fault.Error         // why there are none; nil: there are
}

// Open opens an agent's credentials for an admin.
func (d *Desk) Open(ctx context.Context, a auth.Actor, agent connectors.Ref) (Bundle, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return Bundle{}, err
	}
	tenant := d.store.Tenant(a.Tenant.ID)
	found, err := tenant.Agent(ctx, agent)
	if err != nil {
		return Bundle{}, err
	}
	if !found.Enabled {
		return Bundle{}, disabled(found)
	}
	list, err := granted(ctx, tenant, found.ID)
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{Agent: found, Servers: d.resolve(ctx, a.Tenant.ID, found.ID, list)}
	if err := d.record(ctx, a, b); err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// record puts the hand-over on record, where the agent may still have what was read for it meanwhile. What is not on record is not handed out.
func (d *Desk) record(ctx context.Context, a auth.Actor, b Bundle) error {
	return d.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		now, err := tx.Agent(ctx, connectors.Ref(b.Agent.ID.String()))
		if err != nil {
			return err
		}
		if !now.Enabled {
			return disabled(now)
		}
		list, err := granted(ctx, tx, now.ID)
		if err != nil {
			return err
		}
		still := func(s Server) bool {
			return slices.ContainsFunc(list, func(c connectors.Connector) bool { return c.ID == s.Connector.ID })
		}
		if !every(b.Servers, still) {
			return fault.Errorf(fault.Conflict, "What the agent %q may use was changed at this moment. Ask again.", now.Name)
		}
		return tx.Record(ctx, b.event(a))
	})
}

func every[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(x T) bool { return !is(x) })
}

func disabled(a connectors.Agent) error {
	return fault.Errorf(fault.Conflict, "The agent %q is disabled, and gets no credentials. Enable it first.", a.Name)
}

// granted are the connectors that an agent may use now.
func granted(ctx context.Context, tenant *store.Tenant, agent connectors.AgentID) ([]connectors.Connector, error) {
	reaches, err := tenant.GrantedConnectors(ctx, agent)
	if err != nil {
		return nil, err
	}
	var all []connectors.Connector
	for _, r := range reaches {
		if r.Connector.Enabled {
			all = append(all, r.Connector)
		}
	}
	return all, nil
}

func (d *Desk) resolve(ctx context.Context, tenant connectors.TenantID, agent connectors.AgentID, list []connectors.Connector) []Server {
	ctx, cancel := context.WithTimeout(ctx, d.within)
	defer cancel()
	servers := make([]Server, len(list))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, c := range list {
		servers[i] = Server{Connector: c, Fault: fault.Errorf(fault.Internal, "Something went wrong on our side.")} // where server panics
		group.Go(safe.Try(safe.Task, func() error {
			servers[i] = d.server(ctx, tenant, agent, c)
			return nil
		}))
	}
	_ = group.Wait() // what went wrong stands with its server
	return servers
}

func (d *Desk) server(ctx context.Context, tenant connectors.TenantID, agent connectors.AgentID, c connectors.Connector) Server {
	if c.Transport == connectors.TransportStdio {
		f := fault.Errorf(fault.Conflict, "%q is a program on Patchbay's own machine: it can be reached through the gateway only.", c.Name)
		f.Code = "program"
		return Server{Connector: c, Fault: f}
	}
	headers, err := d.credentials.For(ctx, tenant, c, &agent)
	if err == nil {
		return Server{Connector: c, Headers: headers}
	}
	if ctx.Err() != nil {
		late := fault.Wrap(fault.Unavailable, err, "The credential was not ready in time. Ask again in a moment.")
		late.Code = "timeout"
		return Server{Connector: c, Fault: late}
	}
	f := fault.As(err)
	if f.Kind == fault.Internal {
		d.log.ErrorContext(ctx, "credential not handed out", "tenant_id", tenant, "connector_id", c.ID, "agent_id", agent, "error", err)
	}
	return Server{Connector: c, Fault: f}
}

func (b Bundle) event(a auth.Actor) store.Event {
	read := []string{}
	for _, s := range b.Servers {
		if len(s.Headers) > 0 {
			read = append(read, s.Connector.Slug)
		}
	}
	e := a.Event("credential.read", b.Agent.Slug)
	e.Detail = map[string]any{"agent_id": b.Agent.ID.String(), "agent": b.Agent.Slug, "connectors": read}
	return e
}
