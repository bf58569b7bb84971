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
	"patchbay/internal/credentials"
	"patchbay/internal/handover"
	"patchbay/internal/listings"
	"patchbay/internal/mcp"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/oauth"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
	"patchbay/internal/sso"
	"patchbay/internal/telemetry"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// What long answers to agents' calls take of the memory while they are read from servers: those of all, and those of one tenant.
const (
	answersRoom     = 256 << 20
	answersRoomEach = 64 << 20
)

// What a provider of single sign-on may answer, and how long one of its answers may take.
const (
	providerAnswer = 1 << 20
	providerTime   = 15 * time.Second
)

// house is everything that is built once.
type house struct {
	serving  *serving
	database *database
	baseURL  *url.URL
	instance connectors.InstanceID
	metrics  *telemetry.Metrics
	auth     *auth.Service
	respond  *respond.Responder
	tokens   *credentials.Resolver
	syncer   *toolsync.Syncer
	connect  *connect.Broker
	webhooks *webhooks.Post
	sso      *sso.Service
	programs *authserver.Server
	api      *api.Handler
	admin    *admin.Handler
	agents   agents

	assistants *mcpadmin.Handler

	leaving  chan struct{} // closed at the signal: nobody is ready any more
	draining chan struct{} // closed when the server stops: event streams end

	now func() time.Time // of limits
}

// build makes the services, each with what it may see: the vault goes to credentials alone.
func (s *serving) build(d *database, addr net.Addr, metrics *telemetry.Metrics) (*house, error) {
	h := &house{
		serving:  s,
		database: d,
		baseURL:  s.server.BaseURL(addr),
		instance: connectors.InstanceID{UUID: s.instance},
		metrics:  metrics,
		leaving:  make(chan struct{}),
		draining: make(chan struct{}),
		now:      time.Now,
	}
	h.metrics.Trace(s.traces.tracer.Requests(h.ofProgram))
	h.metrics.WatchPool(poolStats(d.pool))
	h.metrics.WatchBacklog(d.backlog)

	egress := safehttp.New(safehttp.Options{
		Mode:      safehttp.Mode(s.server.Egress),
		Allow:     s.allow,
		OwnHosts:  ownHosts(h.baseURL, addr.String(), s.server),
		UserAgent: "Patchbay/" + version(),
		Proxy:     s.proxy,
		Standard:  s.server.HTTP == config.HTTPStandard,
	})
	h.buildDeeds(egress)
	return h, h.buildDoors(egress)
}

// buildDeeds makes what the product does.
func (h *house) buildDeeds(egress *safehttp.Policy) {
	s, d := h.serving, h.database
	h.auth = auth.New(auth.Options{
		Store: d.store, Secure: h.baseURL.Scheme == "https", Host: h.baseURL.Host, Log: s.log, HistoryDays: s.server.HistoryDays,
		SessionIdle: s.server.SessionIdle, SessionLifetime: s.server.SessionLife,
	})
	h.respond = respond.New(s.log, h.auth.Sessions())
	h.auth.Sessions().ErrorFunc = h.refuse // a session that cannot be read is a failure like any other
	authorization := &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL}
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: version(), Room: &mcp.Room{All: answersRoom, Each: answersRoomEach}, Span: s.traces.tracer.Told()}
	h.tokens = credentials.NewRefreshing(credentials.Options{Store: d.store, OAuth: authorization, Dialer: dialer, Log: s.log})
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
		Credentials: h.tokens,
		Egress:      egress,
		HTTP:        egress.Client(),
		Version:     version(),
		Instance:    h.instance,
		Log:         s.log,
		Programs:    toolsync.Programs{Allowed: allowedCommands(s.server), Env: programEnv()},
		Tracer:      s.traces.tracer,
		Finished:    countSync(h.metrics),
	})
	h.webhooks = webhooks.New(webhooks.Options{
		Store: d.store, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: h.baseURL.String(), Log: s.log,
	})
	h.sso = sso.New(sso.Options{
		Store: d.store, HTTP: safehttp.Bounded(egress.Client(), providerAnswer, providerTime), CheckURL: egress.CheckURL, BaseURL: h.baseURL.String(), Log: s.log,
	})
	h.programs = authserver.New(authserver.Options{
		Store: d.store, Auth: h.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: strings.TrimRight(h.baseURL.String(), "/"), Log: s.log,
	})
	h.agents = h.buildAgents(dialer)
}

// buildDoors makes what people and programs come in by.
func (h *house) buildDoors(egress *safehttp.Policy) (err error) {
	s, d := h.serving, h.database
	reg := registry.New(d.store, egress, allowedCommands(s.server)...).Limited(s.server.Connectors).Offering(s.catalog)
	h.api, err = api.New(api.Options{
		Store: d.store, Registry: reg, Syncer: h.syncer, Connect: h.connect, Auth: h.auth, SSO: h.sso, Programs: h.programs, Respond: h.respond,
		Handover: handover.New(handover.Options{Store: d.store, Credentials: h.tokens, Log: s.log}),
		Access:   h.agents.access, Calls: h.agents.caller, Webhooks: h.webhooks,
		BaseURL: h.baseURL.String(), Version: version(),
		Rates: api.Rates{PerCaller: s.server.APIRate, PerTenant: s.server.TenantRate}, Throttled: h.metrics.RequestThrottled,
	})
	if err != nil {
		return err
	}
	h.assistants, err = mcpadmin.New(mcpadmin.Options{
		API: h.api.Inside(), Throttled: h.api.Throttled, Identify: h.auth.IdentifyProgram, Respond: h.respond, Store: d.store,
		BaseURL: h.baseURL, Version: version(), Log: s.log,
	})
	if err != nil {
		return err
	}
	h.admin = admin.New(admin.Options{
		Store: d.store, Auth: h.auth, SSO: h.sso, Programs: h.programs, Registry: reg, Syncer: h.syncer, Connect: h.connect, Respond: h.respond, Log: s.log,
		Access: h.agents.access, Calls: h.agents.caller, Webhooks: h.webhooks, History: h.agents.history, Listings: listings.New(egress.Client(), egress.CheckURL),
		BaseURL: h.baseURL.String(), Version: version(), Done: h.draining,
		ProgramSync: h.auth.Sessions().LoadAndSave(h.api.SyncTools()),
	})
	return nil
}

// ownHosts are the names and addresses that lead back to ourselves, which no connector may point at. Where connectors reach
// loopback, the private listener is one of them: whoever may add a connector need not see profiles.
func ownHosts(base *url.URL, listening string, server config.Server) []string {
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	hosts := append([]string{net.JoinHostPort(base.Hostname(), port)}, reachedAt(listening)...)
	if server.Egress == config.EgressLocal {
		hosts = append(hosts, reachedAt(server.PrivateAddr)...)
	}
	return hosts
}

// reachedAt are the addresses at which a listener is reached on this machine; none for no listener.
func reachedAt(listening string) []string {
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

// countSync counts a finished run under "ok" or its reason code.
func countSync(metrics *telemetry.Metrics) func(connectors.SyncRun) {
	return func(run connectors.SyncRun) {
		outcome := string(run.State)
		if run.ErrorCode != "" {
			outcome = run.ErrorCode
		}
		metrics.SyncFinished(outcome, run.Duration())
	}
}
