package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/db"
	"patchbay/internal/catalog"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/postgres"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/telemetry"
	"patchbay/internal/tracing/otlp"
)

const (
	// drainTime is how long requests that are under way may take to end after a signal.
	drainTime = 20 * time.Second
	// stopTime bounds each of the steps after that.
	stopTime = 20 * time.Second
	// idleTimeout ends connections that ask for nothing. It is longer than the 60 s of usual load balancers, which must
	// be the first to close.
	idleTimeout = 75 * time.Second
)

type serveCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
}

// Run serves until ctx ends.
func (c serveCommand) Run(ctx context.Context, p program) error {
	server, serverErr := c.ServerFlags.Check()
	database, databaseErr := c.DatabaseFlags.Check()
	log, logErr := p.logger(c.LogFlags)
	if err := mergeFields(serverErr, databaseErr, logErr); err != nil {
		return err
	}
	allow, err := safehttp.ParseAllow(server.EgressAllow)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "PATCHBAY_EGRESS_ALLOW "+fault.As(err).Message)
	}
	way, err := egressProxy(server)
	if err != nil {
		return err
	}
	offered, err := loadCatalog(server.Catalog)
	if err != nil {
		return err
	}
	collector, err := otlp.Read(p.environ)
	if err != nil {
		return err
	}
	instance, err := uuid.NewV7()
	if err != nil {
		return err
	}
	collectSeldom()
	safe.SetLogger(log)
	s := &serving{
		server: server, database: database, allow: allow, proxy: way, catalog: offered, collector: collector, instance: instance, log: log, stdout: p.stdout,
	}
	return s.live(ctx)
}

// mergeFields makes one fault of several checks, so that a person mends all settings at once.
func mergeFields(errs ...error) error {
	var fields []fault.Field
	for _, err := range errs {
		if err != nil {
			fields = append(fields, fault.As(err).Fields...)
		}
	}
	return fault.InvalidFields(fields...)
}

// egressProxy is the operator's proxy; nil: there is none.
func egressProxy(server config.Server) (*safehttp.Proxy, error) {
	p, err := safehttp.ParseProxy(server.EgressProxy)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_EGRESS_PROXY "+fault.As(err).Message)
	}
	return p, nil
}

// serving is one run of the server.
type serving struct {
	server    config.Server
	database  config.Database
	allow     []safehttp.Exception
	proxy     *safehttp.Proxy // nil: there is none
	catalog   *catalog.Catalog
	collector otlp.Settings // of traces
	instance  uuid.UUID     // this process
	log       *slog.Logger
	stdout    io.Writer

	traces  traces
	cluster *postgres.Cluster // nil with DATABASE_URL
}

// live starts everything in order, serves until ctx ends, and stops everything in the opposite order:
//
//  1. the address, so that a port in use is said at once
//  2. the traces, which are told of all that follows, where there is a collector
//  3. the keyset, before the database that it opens is made
//  4. PostgreSQL, where it is our own; its lock keeps a second server away
//  5. the schema, the pool, the store
//  6. the services
//  7. the heartbeat, which closes the runs of servers that died, then the workers
//  8. what serves agents
//  9. the private listener, then the public one
//
// ctx ends the serving alone: what has to be written down at the end still needs the database.
func (s *serving) live(ctx context.Context) (err error) {
	listener, err := listen(ctx, "PATCHBAY_ADDR", s.server.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()

	metrics := telemetry.NewMetrics(version())
	stopTraces, err := s.startTraces(ctx, metrics)
	if err != nil {
		return err
	}
	defer stopTraces()

	keys, err := holderOf(s.database)
	if err != nil {
		return err
	}
	route, stopPostgres, err := s.startPostgres(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopPostgres()) }()

	d, err := openTraced(ctx, route, keys, s.log, s.traces.database)
	if err != nil {
		return err
	}
	defer d.close()

	house, err := s.build(d, listener.Addr(), metrics)
	if err != nil {
		return err
	}
	defer house.endRenewals(ctx)
	stopWork, err := s.startWork(ctx, d, house)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopWork()) }()

	defer house.endInstance(ctx)
	defer house.agents.start(ctx, d.store)()

	stopPrivate, err := s.startPrivate(ctx, house.metrics)
	if err != nil {
		return err
	}
	defer stopPrivate()

	if err := s.announce(ctx, d, house); err != nil {
		return err
	}
	return s.serve(ctx, listener, house)
}

// startPostgres starts the embedded PostgreSQL; with DATABASE_URL there is nothing to start.
func (s *serving) startPostgres(ctx context.Context) (route db.Route, stop func() error, err error) {
	if !s.database.Embedded() {
		return external(s.database), func() error { return nil }, nil
	}
	cluster, err := postgres.Start(ctx, postgresOptions(s.database, s.log))
	if err != nil {
		return route, nil, err
	}
	s.cluster = cluster
	return direct(cluster.URL()), func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopTime)
		defer cancel()
		return cluster.Stop(stopping)
	}, nil
}

// startPrivate serves metrics and profiles where an address is set for them.
func (s *serving) startPrivate(ctx context.Context, metrics *telemetry.Metrics) (stop func(), err error) {
	if s.server.PrivateAddr == "" {
		return func() {}, nil
	}
	listener, err := listen(ctx, "PATCHBAY_PRIVATE_ADDR", s.server.PrivateAddr)
	if err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "private listener started", "addr", listener.Addr().String())
	private := &http.Server{Handler: metrics.Private(), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout}
	done := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(done)
		if err := private.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.ErrorContext(ctx, "private listener failed", "error", err)
		}
	})
	return func() {
		_ = private.Close()
		<-done
	}, nil
}

// announce prints where the server is, and the setup link while nobody owns the first tenant.
func (s *serving) announce(ctx context.Context, d *database, house *house) error {
	if _, err := fmt.Fprintf(s.stdout, "Patchbay %s is at %s\n", version(), house.baseURL); err != nil {
		return err
	}
	tenant, err := d.store.System().TenantByRef(ctx, firstTenant)
	if fault.Is(err, fault.NotFound) {
		return nil // the operator has gone other ways
	}
	if err != nil {
		return err
	}
	return s.announceSetup(ctx, d, house, tenant)
}

func (s *serving) announceSetup(ctx context.Context, d *database, house *house, tenant connectors.Tenant) error {
	owned, err := d.store.System().HasOwner(ctx, tenant.ID)
	if err != nil || owned {
		return err
	}
	token, err := house.auth.SetupLink(ctx, tenant.ID)
	if fault.Is(err, fault.Conflict) {
		return nil // another replica's owner was just made
	}
	if err != nil {
		return err
	}
	link := house.baseURL.JoinPath("setup")
	link.RawQuery = "token=" + token.Reveal() // URL-safe by its alphabet
	_, err = fmt.Fprintf(s.stdout, "Make the first owner at %s\n", link)
	return err
}

// serve answers requests until ctx ends, then lets those under way finish.
func (s *serving) serve(ctx context.Context, listener net.Listener, house *house) error {
	doors := farewell(house.doors(), house.leaving)
	public := newPublicServer(publicOptions{mode: s.server.HTTP, handler: doors, agentsPath: house.agentsPath, log: s.log})
	failed := make(chan error, 1)
	safe.Go(safe.Connection, func() {
		failed <- safe.Try(safe.Connection, func() error { return public.Serve(listener) })()
	})
	s.log.InfoContext(ctx, "server started", "addr", listener.Addr().String(), "base_url", house.baseURL.String(), "egress", s.server.Egress, "http", s.server.HTTP, "version", version())
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-s.clusterEnded():
		_ = public.Close()
		<-failed
		return fault.Wrap(fault.Unavailable, s.cluster.Err(), "The embedded PostgreSQL has ended and does not start again; its messages are in the data directory.")
	case <-ctx.Done():
	}
	s.log.InfoContext(ctx, "server stopping")
	s.leave(house)
	s.drain(ctx, public, house)
	<-failed
	return nil
}

// leave says that this server ends, and gives whoever sends it requests the time to hear that: those are still answered, each with the
// end of its connection, so that none is sent to a listener that has closed.
func (s *serving) leave(house *house) {
	close(house.leaving)
	if s.server.DrainTime > 0 {
		<-time.After(s.server.DrainTime) // a second signal ends the program
	}
}

// drain stops accepting, ends the event streams, which would never end by themselves, and gives requests, agents' calls and syncs
// the same time to finish. A sync or a call that is cut off writes that down.
func (s *serving) drain(ctx context.Context, public httpServer, house *house) {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	close(house.draining)
	var syncs sync.WaitGroup
	safe.GoIn(&syncs, safe.Task, func() { house.syncer.Drain(stopping) })
	safe.GoIn(&syncs, safe.Task, func() { house.agents.drain(stopping, s.log) })
	safe.GoIn(&syncs, safe.Task, func() { house.agents.servers.Stop(stopping) })
	safe.GoIn(&syncs, safe.Task, func() { house.assistants.Stop(stopping) })
	defer syncs.Wait()
	if err := public.Shutdown(stopping); err != nil {
		s.log.WarnContext(ctx, "requests cut off", "reason", err)
		_ = public.Close()
	}
}

// endRenewals waits for tokens that are being renewed: some authorization servers gave the only good one in the answer that is on
// its way.
func (h *house) endRenewals(ctx context.Context) {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	h.tokens.Stop(stopping)
}

// endInstance makes known that this process has ended, when all that it did is written down: what is still open of it then is lost.
func (h *house) endInstance(ctx context.Context) {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	h.syncer.Stop(stopping)
}

// clusterEnded is closed when the embedded PostgreSQL has ended for good; it heals itself from what it can.
func (s *serving) clusterEnded() <-chan struct{} {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Done()
}
