package main

import (
	"context"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/admin"
	"patchbay/internal/api"
	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/config"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentialexport"
	"patchbay/internal/credentials"
	"patchbay/internal/installation"
	"patchbay/internal/mail"
	"patchbay/internal/mailing"
	"patchbay/internal/manage"
	"patchbay/internal/mcp"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/oauth"
	"patchbay/internal/publicregistry"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
	"patchbay/internal/scim"
	"patchbay/internal/sso"
	"patchbay/internal/telemetry"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// The memory for long responses of servers to agents' calls: of all tenants, and of one.
const (
	maxResponseMemory       = 256 << 20
	maxTenantResponseMemory = 64 << 20
)

// Limits of a response of an SSO provider.
const (
	maxProviderResponse = 1 << 20
	providerTimeout     = 15 * time.Second
)

// app has every service, built once.
type app struct {
	run         *serverRun
	database    *installation.Database
	baseURL     *url.URL
	instance    connectors.InstanceID
	metrics     *telemetry.Metrics
	auth        *auth.Service
	respond     *respond.Responder
	credentials *credentials.Resolver
	syncer      *toolsync.Syncer
	connect     *connect.Broker
	webhooks    *webhooks.Post
	registries  *publicregistry.Service
	streams     *auditstreams.Service
	scim        *scim.Service
	mailing     *mailing.Service // nil: no e-mail is sent
	sso         *sso.Service
	authServer  *authserver.Server
	api         *api.Handler
	admin       *admin.Handler
	agents      agentServices

	mcpAdmin *mcpadmin.Handler

	shuttingDown chan struct{} // closed at the signal: /readyz fails from then on
	draining     chan struct{} // closed when the server stops: event streams end

	now func() time.Time // for rate limits
}

// buildApp builds the services, each with its dependencies.
func (s *serverRun) buildApp(d *installation.Database, addr net.Addr, metrics *telemetry.Metrics) (*app, error) {
	h := &app{
		run:          s,
		database:     d,
		baseURL:      s.server.BaseURL(addr),
		instance:     connectors.InstanceID{UUID: s.instance},
		metrics:      metrics,
		shuttingDown: make(chan struct{}),
		draining:     make(chan struct{}),
		now:          time.Now,
	}
	h.metrics.Trace(s.traces.tracer.Requests(h.isProgramRequest))
	h.metrics.WatchPool(poolStats(d.Pool))
	h.metrics.WatchBacklog(func(ctx context.Context) (telemetry.Backlog, error) { return readBacklog(ctx, d) })

	egress := safehttp.New(safehttp.Options{
		Mode:      safehttp.Mode(s.server.Egress),
		Allow:     s.allow,
		OwnHosts:  installation.OwnHosts(h.baseURL, addr.String(), s.server),
		UserAgent: "Patchbay/" + version(),
		Proxy:     s.proxy,
		Standard:  s.server.HTTP == config.HTTPStandard,
	})
	h.buildServices(egress)
	return h, h.buildHandlers(egress)
}

// buildSCIM builds the address of the tenants' identity providers.
func (h *app) buildSCIM() (*scim.Service, error) {
	return scim.New(scim.Options{
		Store: h.database.Store, BaseURL: h.baseURL, Rate: h.run.server.TenantRate, Throttled: h.metrics.RequestThrottled, Log: h.run.log, Now: h.now,
	})
}

// buildServices builds the services below the handlers.
func (h *app) buildServices(egress *safehttp.Policy) {
	s, d := h.run, h.database
	h.auth = auth.New(auth.Options{
		Store: d.Store, Secure: h.baseURL.Scheme == "https", Host: h.baseURL.Host, BaseURL: strings.TrimRight(h.baseURL.String(), "/"), Log: s.log, HistoryDays: s.server.HistoryDays,
		SessionIdle: s.server.SessionIdle, SessionLifetime: s.server.SessionLife,
	})
	h.respond = respond.New(s.log, h.auth.Sessions())
	h.auth.Sessions().ErrorFunc = h.refuseRequest // a session that cannot be read is a failure like any other
	authorization := &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL, ASCIIURL: connectors.ASCIIURL}
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: version(), MemoryLimit: &mcp.MemoryLimit{Total: maxResponseMemory, PerKey: maxTenantResponseMemory}, TraceContext: s.traces.tracer.Told()}
	h.credentials = credentials.NewRefreshing(credentials.Options{
		Store: d.Store, OAuth: authorization, Dialer: dialer, Log: s.log, ClientDocument: connect.DocumentURL(s.server.CIMDURL, h.baseURL.String()),
		WorkloadTokens: s.server.Workloads, BaseURL: h.baseURL.String(),
	})
	h.connect = connect.New(connect.Options{
		Store:   d.Store,
		OAuth:   authorization,
		Dialer:  dialer,
		Log:     s.log,
		BaseURL: h.baseURL.String(),
		CIMDURL: s.server.CIMDURL,
	})
	h.syncer = toolsync.New(toolsync.Options{
		Store:       d.Store,
		Credentials: h.credentials,
		Egress:      egress,
		HTTP:        egress.Client(),
		Version:     version(),
		Instance:    h.instance,
		Log:         s.log,
		Programs:    toolsync.CommandPolicy{Allowed: installation.AllowedCommands(s.server), Env: programEnv(), Launcher: findLauncher()},
		Tracer:      s.traces.tracer,
		Finished:    countSync(h.metrics),
	})
	h.webhooks = webhooks.New(webhooks.Options{
		Store: d.Store, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: h.baseURL.String(), Log: s.log,
	})
	h.streams = auditstreams.New(auditstreams.Options{Store: d.Store, Egress: egress, Host: h.baseURL.Hostname(), Version: version(), Log: s.log})
	h.registries = publicregistry.New(publicregistry.Options{Store: d.Store, BaseURL: h.baseURL, Log: s.log})
	h.mailing = h.buildMailing()
	h.sso = sso.New(sso.Options{
		Store: d.Store, HTTP: safehttp.Bounded(egress.Client(), maxProviderResponse, providerTimeout), CheckURL: egress.CheckURL, BaseURL: h.baseURL.String(), Log: s.log,
	})
	h.authServer = authserver.New(authserver.Options{
		Store: d.Store, Auth: h.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: strings.TrimRight(h.baseURL.String(), "/"), Log: s.log,
	})
	h.agents = h.buildAgents(dialer, egress)
}

// buildMailing returns nil without an SMTP server.
func (h *app) buildMailing() *mailing.Service {
	if h.run.smtp == nil {
		return nil
	}
	o := *h.run.smtp
	o.Helo = h.baseURL.Hostname()
	return mailing.New(mailing.Options{Store: h.database.Store, Auth: h.auth, Sender: mail.New(o), BaseURL: h.baseURL.String(), Log: h.run.log})
}

// buildHandlers builds the handlers for people and programs.
func (h *app) buildHandlers(egress *safehttp.Policy) (err error) {
	s, d := h.run, h.database
	reg := manage.New(d.Store, egress, installation.AllowedCommands(s.server)...).WithMaxConnectors(s.server.Connectors).WithCatalog(s.catalog).WithWorkloadTokens(s.server.Workloads)
	if h.scim, err = h.buildSCIM(); err != nil {
		return err
	}
	h.api, err = api.New(api.Options{
		Store: d.Store, Registry: reg, Syncer: h.syncer, Connect: h.connect, Auth: h.auth, SSO: h.sso, Programs: h.authServer, Respond: h.respond,
		CredentialExport: credentialexport.New(credentialexport.Options{Store: d.Store, Credentials: h.credentials, Log: s.log}),
		Access:           h.agents.views, Calls: h.agents.caller, Webhooks: h.webhooks, Registries: h.registries, AuditStreams: h.streams, SCIM: h.scim, Mailing: h.mailing,
		BaseURL: h.baseURL.String(), Version: version(),
		Rates: api.Rates{PerCaller: s.server.APIRate, PerTenant: s.server.TenantRate}, Throttled: h.metrics.RequestThrottled,
	})
	if err != nil {
		return err
	}
	h.mcpAdmin, err = mcpadmin.New(mcpadmin.Options{
		API: h.api.Inside(), Throttled: h.api.Throttled, Identify: h.auth.IdentifyBearer, Respond: h.respond, Store: d.Store,
		BaseURL: h.baseURL, Version: version(), Log: s.log, Standard: s.server.HTTP == config.HTTPStandard,
	})
	if err != nil {
		return err
	}
	h.admin = admin.New(admin.Options{
		Store: d.Store, Auth: h.auth, SSO: h.sso, AuthServer: h.authServer, Registry: reg, Syncer: h.syncer, Connect: h.connect, Respond: h.respond, Log: s.log,
		Access: h.agents.views, Calls: h.agents.caller, Webhooks: h.webhooks, Registries: h.registries, AuditStreams: h.streams, SCIM: h.scim, Mailing: h.mailing, History: h.agents.history, ServerLists: mcpregistry.New(egress.Client(), egress.CheckURL),
		BaseURL: h.baseURL.String(), Version: version(), Done: h.draining,
		ProgramSync: h.auth.Sessions().LoadAndSave(h.api.SyncTools()),
	})
	return nil
}

func poolStats(pool *pgxpool.Pool) func() telemetry.PoolStats {
	return func() telemetry.PoolStats {
		stat := pool.Stat()
		return telemetry.PoolStats{
			InUse:  stat.AcquiredConns(),
			Idle:   stat.IdleConns(),
			Max:    stat.MaxConns(),
			Waits:  stat.EmptyAcquireCount(),
			Waited: stat.EmptyAcquireWaitTime(),
		}
	}
}

// countSync counts a finished run by "ok" or its error code.
func countSync(metrics *telemetry.Metrics) func(connectors.SyncRun) {
	return func(run connectors.SyncRun) {
		outcome := string(run.State)
		if run.ErrorCode != "" {
			outcome = run.ErrorCode
		}
		metrics.SyncFinished(outcome, run.Duration())
	}
}
