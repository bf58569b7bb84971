package main

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/admin"
	"patchbay/internal/api"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/config"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentialexport"
	"patchbay/internal/credentials"
	"patchbay/internal/manage"
	"patchbay/internal/mcp"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/oauth"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
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
	database    *database
	baseURL     *url.URL
	instance    connectors.InstanceID
	metrics     *telemetry.Metrics
	auth        *auth.Service
	respond     *respond.Responder
	credentials *credentials.Resolver
	syncer      *toolsync.Syncer
	connect     *connect.Broker
	webhooks    *webhooks.Post
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
func (s *serverRun) buildApp(d *database, addr net.Addr, metrics *telemetry.Metrics) (*app, error) {
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
	h.metrics.WatchPool(poolStats(d.pool))
	h.metrics.WatchBacklog(d.readBacklog)

	egress := safehttp.New(safehttp.Options{
		Mode:      safehttp.Mode(s.server.Egress),
		Allow:     s.allow,
		OwnHosts:  ownHosts(h.baseURL, addr.String(), s.server),
		UserAgent: "Patchbay/" + version(),
		Proxy:     s.proxy,
		Standard:  s.server.HTTP == config.HTTPStandard,
	})
	h.buildServices(egress)
	return h, h.buildHandlers(egress)
}

// buildServices builds the services below the handlers.
func (h *app) buildServices(egress *safehttp.Policy) {
	s, d := h.run, h.database
	h.auth = auth.New(auth.Options{
		Store: d.store, Secure: h.baseURL.Scheme == "https", Host: h.baseURL.Host, Log: s.log, HistoryDays: s.server.HistoryDays,
		SessionIdle: s.server.SessionIdle, SessionLifetime: s.server.SessionLife,
	})
	h.respond = respond.New(s.log, h.auth.Sessions())
	h.auth.Sessions().ErrorFunc = h.refuseRequest // a session that cannot be read is a failure like any other
	authorization := &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL, ASCIIURL: connectors.ASCIIURL}
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: version(), MemoryLimit: &mcp.MemoryLimit{Total: maxResponseMemory, PerKey: maxTenantResponseMemory}, TraceContext: s.traces.tracer.Told()}
	h.credentials = credentials.NewRefreshing(credentials.Options{Store: d.store, OAuth: authorization, Dialer: dialer, Log: s.log})
	h.connect = connect.New(connect.Options{
		Store:   d.store,
		OAuth:   authorization,
		Dialer:  dialer,
		Log:     s.log,
		BaseURL: h.baseURL.String(),
		CIMDURL: s.server.CIMDURL,
	})
	h.syncer = toolsync.New(toolsync.Options{
		Store:       d.store,
		Credentials: h.credentials,
		Egress:      egress,
		HTTP:        egress.Client(),
		Version:     version(),
		Instance:    h.instance,
		Log:         s.log,
		Programs:    toolsync.CommandPolicy{Allowed: allowedCommands(s.server), Env: programEnv()},
		Tracer:      s.traces.tracer,
		Finished:    countSync(h.metrics),
	})
	h.webhooks = webhooks.New(webhooks.Options{
		Store: d.store, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: h.baseURL.String(), Log: s.log,
	})
	h.sso = sso.New(sso.Options{
		Store: d.store, HTTP: safehttp.Bounded(egress.Client(), maxProviderResponse, providerTimeout), CheckURL: egress.CheckURL, BaseURL: h.baseURL.String(), Log: s.log,
	})
	h.authServer = authserver.New(authserver.Options{
		Store: d.store, Auth: h.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: strings.TrimRight(h.baseURL.String(), "/"), Log: s.log,
	})
	h.agents = h.buildAgents(dialer)
}

// buildHandlers builds the handlers for people and programs.
func (h *app) buildHandlers(egress *safehttp.Policy) (err error) {
	s, d := h.run, h.database
	reg := manage.New(d.store, egress, allowedCommands(s.server)...).WithMaxConnectors(s.server.Connectors).WithCatalog(s.catalog)
	h.api, err = api.New(api.Options{
		Store: d.store, Registry: reg, Syncer: h.syncer, Connect: h.connect, Auth: h.auth, SSO: h.sso, Programs: h.authServer, Respond: h.respond,
		CredentialExport: credentialexport.New(credentialexport.Options{Store: d.store, Credentials: h.credentials, Log: s.log}),
		Access:           h.agents.views, Calls: h.agents.caller, Webhooks: h.webhooks,
		BaseURL: h.baseURL.String(), Version: version(),
		Rates: api.Rates{PerCaller: s.server.APIRate, PerTenant: s.server.TenantRate}, Throttled: h.metrics.RequestThrottled,
	})
	if err != nil {
		return err
	}
	h.mcpAdmin, err = mcpadmin.New(mcpadmin.Options{
		API: h.api.Inside(), Throttled: h.api.Throttled, Identify: h.auth.IdentifyBearer, Respond: h.respond, Store: d.store,
		BaseURL: h.baseURL, Version: version(), Log: s.log, Standard: s.server.HTTP == config.HTTPStandard,
	})
	if err != nil {
		return err
	}
	h.admin = admin.New(admin.Options{
		Store: d.store, Auth: h.auth, SSO: h.sso, AuthServer: h.authServer, Registry: reg, Syncer: h.syncer, Connect: h.connect, Respond: h.respond, Log: s.log,
		Access: h.agents.views, Calls: h.agents.caller, Webhooks: h.webhooks, History: h.agents.history, ServerLists: mcpregistry.New(egress.Client(), egress.CheckURL),
		BaseURL: h.baseURL.String(), Version: version(), Done: h.draining,
		ProgramSync: h.auth.Sessions().LoadAndSave(h.api.SyncTools()),
	})
	return nil
}

// ownHosts are the names and addresses that lead back to Patchbay, which no connector may use. If connectors
// can reach loopback, the private listener is among them: a person who may add a connector need not see
// profiles.
func ownHosts(base *url.URL, listening string, server config.Server) []string {
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	hosts := append([]string{net.JoinHostPort(base.Hostname(), port)}, localAddresses(listening)...)
	if server.Egress == config.EgressLocal {
		hosts = append(hosts, localAddresses(server.PrivateAddr)...)
	}
	return hosts
}

// localAddresses are the addresses of a listener on this machine; none without a listener.
func localAddresses(listening string) []string {
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return nil
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return []string{listening, "127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port}
	}
	return []string{listening}
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
