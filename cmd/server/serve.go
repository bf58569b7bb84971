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
	"patchbay/internal/installation"
	"patchbay/internal/mail"
	"patchbay/internal/operator"
	"patchbay/internal/postgres"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/telemetry"
	"patchbay/internal/tracing/otlp"
)

const (
	// drainTimeout bounds running requests after a signal.
	drainTimeout = 20 * time.Second
	// stopTimeout bounds each of the steps after that.
	stopTimeout = 20 * time.Second
	// idleTimeout closes idle connections. It is longer than the 60 s of usual load balancers, which must close
	// first.
	idleTimeout = 75 * time.Second
)

type serveCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
}

// Run serves until ctx ends.
func (c serveCommand) Run(ctx context.Context, p operator.IO) error {
	server, serverErr := c.ServerFlags.Check()
	database, databaseErr := c.DatabaseFlags.Check()
	log, logErr := p.NewLogger(c.LogFlags)
	if err := fault.MergeFields(serverErr, databaseErr, logErr); err != nil {
		return err
	}
	allow, err := safehttp.ParseAllow(server.EgressAllow)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "PATCHBAY_EGRESS_ALLOW "+fault.As(err).Message)
	}
	way, err := installation.EgressProxy(server)
	if err != nil {
		return err
	}
	smtp, err := installation.MailOptions(server)
	if err != nil {
		return err
	}
	offered, err := installation.LoadCatalog(server.Catalog)
	if err != nil {
		return err
	}
	collector, err := otlp.Read(p.Environ)
	if err != nil {
		return err
	}
	instance, err := uuid.NewV7()
	if err != nil {
		return err
	}
	setGCPercent()
	safe.SetLogger(log)
	s := &serverRun{
		server: server, database: database, allow: allow, proxy: way, smtp: smtp, catalog: offered, collector: collector, instance: instance, log: log, stdout: p.Stdout,
	}
	return s.runServer(ctx)
}

// serverRun is one run of the server.
type serverRun struct {
	server    config.Server
	database  config.Database
	allow     []safehttp.Exception
	proxy     *safehttp.Proxy // nil: none
	smtp      *mail.Options   // nil: no e-mail
	catalog   *catalog.Catalog
	collector otlp.Settings // of traces
	instance  uuid.UUID     // this process
	log       *slog.Logger
	stdout    io.Writer

	traces  tracingSetup
	cluster *postgres.Cluster // nil with DATABASE_URL
}

// runServer starts everything in order, serves until ctx ends, and stops in reverse order:
//
//  1. the address, so that a port in use is reported at once
//  2. the traces, if there is a collector, so that they include all that follows
//  3. the keyset, before the database that it opens is created
//  4. the embedded PostgreSQL, if it is used; its lock keeps a second server away
//  5. the schema, the pool, the store
//  6. the services
//  7. the heartbeat, which closes the runs of servers that died, then the workers
//  8. the agents' services
//  9. the private listener, then the public one
//
// ctx ends only the serving: the final writes still need the database.
func (s *serverRun) runServer(ctx context.Context) (err error) {
	listener, err := listenOn(ctx, "PATCHBAY_ADDR", s.server.Addr)
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

	keys, err := installation.NewKeySource(s.database, version())
	if err != nil {
		return err
	}
	route, stopPostgres, err := s.startPostgres(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopPostgres()) }()

	d, err := installation.Open(ctx, installation.Options{Route: route, Keys: keys, Log: s.log, Tracer: s.traces.queryTracer})
	if err != nil {
		return err
	}
	defer d.Close()

	app, err := s.buildApp(d, listener.Addr(), metrics)
	if err != nil {
		return err
	}
	defer app.waitForTokenRefreshes(ctx)
	stopWork, err := s.startJobs(ctx, d, app)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopWork()) }()

	defer app.stopSyncer(ctx)
	defer app.agents.start(ctx, d.Store)()

	stopPrivate, err := s.startPrivate(ctx, app.metrics)
	if err != nil {
		return err
	}
	defer stopPrivate()

	if err := s.printAddress(ctx, d, app); err != nil {
		return err
	}
	return s.serveRequests(ctx, listener, app)
}

// startPostgres starts the embedded PostgreSQL. With DATABASE_URL it only returns the route.
func (s *serverRun) startPostgres(ctx context.Context) (route db.Route, stop func() error, err error) {
	if !s.database.Embedded() {
		return installation.ExternalRoute(s.database), func() error { return nil }, nil
	}
	cluster, err := postgres.Start(ctx, installation.PostgresOptions(s.database, s.log))
	if err != nil {
		return route, nil, err
	}
	s.cluster = cluster
	return installation.EmbeddedRoute(cluster.URL()), func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopTimeout)
		defer cancel()
		return cluster.Stop(stopping)
	}, nil
}

// startPrivate serves metrics and profiles if an address is set for them.
func (s *serverRun) startPrivate(ctx context.Context, metrics *telemetry.Metrics) (stop func(), err error) {
	if s.server.PrivateAddr == "" {
		return func() {}, nil
	}
	listener, err := listenOn(ctx, "PATCHBAY_PRIVATE_ADDR", s.server.PrivateAddr)
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

// printAddress prints the server's address, and the setup link while the first tenant has no owner.
func (s *serverRun) printAddress(ctx context.Context, d *installation.Database, app *app) error {
	if _, err := fmt.Fprintf(s.stdout, "Patchbay %s is at %s\n", version(), app.baseURL); err != nil {
		return err
	}
	tenant, err := d.Store.System().TenantByRef(ctx, installation.FirstTenant)
	if fault.Is(err, fault.NotFound) {
		return nil // the operator deleted it
	}
	if err != nil {
		return err
	}
	return s.printSetupLink(ctx, d, app, tenant)
}

func (s *serverRun) printSetupLink(ctx context.Context, d *installation.Database, app *app, tenant connectors.Tenant) error {
	owned, err := d.Store.System().HasOwner(ctx, tenant.ID)
	if err != nil || owned {
		return err
	}
	token, err := app.auth.SetupLink(ctx, tenant.ID)
	if fault.Is(err, fault.Conflict) {
		return nil // another replica's setup was faster
	}
	if err != nil {
		return err
	}
	link := app.baseURL.JoinPath("setup")
	link.RawQuery = "token=" + token.Reveal() // its alphabet is URL-safe
	_, err = fmt.Fprintf(s.stdout, "Create the first owner at %s\n", link)
	return err
}

// serveRequests serves until ctx ends, then finishes running requests.
func (s *serverRun) serveRequests(ctx context.Context, listener net.Listener, app *app) error {
	handler := closeConnsOnShutdown(app.rootHandler(), app.shuttingDown)
	public := newPublicServer(publicOptions{mode: s.server.HTTP, handler: handler, isAgentsPath: app.isAgentsPath, log: s.log})
	failed := make(chan error, 1)
	safe.Go(safe.Connection, func() {
		failed <- safe.Try(safe.Connection, func() error { return public.Serve(listener) })()
	})
	s.log.InfoContext(ctx, "server started", "addr", listener.Addr().String(), "base_url", app.baseURL.String(), "egress", s.server.Egress, "http", s.server.HTTP, "version", version())
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-s.clusterDone():
		_ = public.Close()
		<-failed
		return fault.Wrap(fault.Unavailable, s.cluster.Err(), "The embedded PostgreSQL stopped and can't restart. Its messages are in the data directory.")
	case <-ctx.Done():
	}
	s.log.InfoContext(ctx, "server stopping")
	s.waitForLoadBalancer(app)
	s.drainRequests(ctx, public, app)
	<-failed
	return nil
}

// waitForLoadBalancer makes /readyz fail and gives load balancers time to notice. Requests are still served, each
// with Connection: close, so that none reaches a closed listener.
func (s *serverRun) waitForLoadBalancer(app *app) {
	close(app.shuttingDown)
	if s.server.DrainTime > 0 {
		<-time.After(s.server.DrainTime) // a second signal ends the program
	}
}

// drainRequests stops accepting, ends the event streams, which never end by themselves, and gives requests,
// agents' calls and syncs the same time to finish. A sync or a call that is cut off is stored as such.
func (s *serverRun) drainRequests(ctx context.Context, public httpServer, app *app) {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	close(app.draining)
	var syncs sync.WaitGroup
	safe.GoIn(&syncs, safe.Task, func() { app.syncer.Drain(stopping) })
	safe.GoIn(&syncs, safe.Task, func() { app.agents.drain(stopping, s.log) })
	safe.GoIn(&syncs, safe.Task, func() { app.agents.listeners.Stop(stopping) })
	safe.GoIn(&syncs, safe.Task, func() { app.mcpAdmin.Stop(stopping) })
	defer syncs.Wait()
	if err := public.Shutdown(stopping); err != nil {
		s.log.WarnContext(ctx, "requests cut off", "reason", err)
		_ = public.Close()
	}
}

// waitForTokenRefreshes waits for token refreshes in flight: some authorization servers return the only valid refresh
// token in that response.
func (h *app) waitForTokenRefreshes(ctx context.Context) {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	h.credentials.Stop(stopping)
}

// stopSyncer stores that this process has ended, after all its other writes: open runs of it are lost from
// then on.
func (h *app) stopSyncer(ctx context.Context) {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	h.syncer.Stop(stopping)
}

// clusterDone is closed when the embedded PostgreSQL has ended for good. Before that it restarts what it can.
func (s *serverRun) clusterDone() <-chan struct{} {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Done()
}
