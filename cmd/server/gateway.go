package main

import (
	"context"
	"log/slog"
	"sync"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/gateway"
	"patchbay/internal/installation"
	"patchbay/internal/listchanges"
	"patchbay/internal/mcp"
	"patchbay/internal/middleware"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/telemetry"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
)

// agentServices serve agents.
type agentServices struct {
	views     *agentview.Cache
	history   *calllog.Writer
	caller    *toolcall.Executor
	gateway   *gateway.Handler
	listeners *listchanges.Manager // listens for changes at connectors' servers
	syncer    *toolsync.Syncer
}

// buildAgents builds the agents' services. All other services have to exist.
func (h *app) buildAgents(dialer *mcp.Dialer, egress *safehttp.Policy) agentServices {
	log, st, settings := h.run.log, h.database.Store, h.run.server
	a := agentServices{
		views:     agentview.New(agentview.Options{Store: st, Log: log, Embeddings: installation.NewEmbeddings(settings, egress)}),
		listeners: h.buildListChanges(),
		syncer:    h.syncer,
		history:   calllog.New(calllog.Options{Store: st, Instance: h.instance, Journal: h.run.database.DataDir, Log: log}),
	}
	links := h.newAccountLinks()
	a.caller = toolcall.New(toolcall.Options{
		Store:       st,
		Access:      a.views,
		Credentials: h.credentials,
		Dialer:      dialer,
		Target:      h.syncer.Target,
		AcquireSlot: h.syncer.AcquireCommandSlot,
		History:     a.history,
		Instance:    h.instance,
		BaseURL:     h.baseURL.String(),
		Resync:      h.syncer.SyncNow,
		ReadTool:    h.syncer.ReadTool,
		ConnectURL:  links.linkFor,
		AccountPage: links.pageFor,
		OnEnd:       h.countCall,
		OnOverQuota: h.metrics.QuotaRefused,
		Log:         log,
	})
	a.gateway = gateway.New(gateway.Options{
		Store: st, Access: a.views, Caller: a.caller, BaseURL: h.baseURL, Version: version(), Log: log,
		Address: middleware.ClientAddressFunc(h.run.server.Proxies), RequestID: middleware.RequestIDFunc(h.run.server.Proxies), AccountPageURL: links.pageFor,
		Rate: h.run.server.AgentRate, OnThrottled: func() { h.metrics.RequestThrottled("agent") }, Standard: h.run.server.HTTP == config.HTTPStandard,
	})
	h.metrics.WatchGateway(func() telemetry.GatewayStats {
		calls, circuits := a.caller.Stats(), map[string]int{}
		for state, n := range calls.Circuits {
			circuits[string(state)] = n
		}
		return telemetry.GatewayStats{Listeners: a.gateway.Listeners(), Sessions: calls.Sessions, Circuits: circuits}
	})
	h.metrics.WatchWaits(func() telemetry.WaitStats {
		waits, buckets := st.WaitStats(), map[float64]uint64{}
		for i, bound := range store.WaitBuckets {
			buckets[bound] = waits.Buckets[i]
		}
		return telemetry.WaitStats{Waiting: waits.Waiting, Waited: waits.Waited, Time: waits.Time, Buckets: buckets, Refused: waits.Refused}
	})
	return a
}

// start subscribes the services to notices of the database, over one connection. stop ends in this order, so
// that nothing is lost: the calls, the call log, the subscription.
func (a agentServices) start(ctx context.Context, st *store.Store) (stop func()) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	safe.GoIn(&tasks, safe.Background, func() { safe.RunLoop(ctx, "views", a.views.Run) })
	safe.GoIn(&tasks, safe.Background, func() {
		safe.RunLoop(ctx, "notices", func(ctx context.Context) { _ = st.Watch(ctx, a.onNotice, a.onConnectionChange) }) // nil: it ends with ctx
	})
	safe.GoIn(&tasks, safe.Background, func() { safe.RunLoop(ctx, "journals", a.history.RunRecovery) })
	a.caller.Start(ctx)
	a.listeners.Start()
	return func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		a.listeners.Stop(stopping)
		a.caller.Stop(stopping)
		a.history.Stop(stopping)
		end()
		tasks.Wait()
	}
}

// countCall counts a call that ended.
func (h *app) countCall(c connectors.ToolCall) {
	h.metrics.CallFinished(string(c.Outcome), c.Duration)
	if c.StructuredValid != nil {
		h.metrics.StructuredChecked(*c.StructuredValid)
	}
}

func (a agentServices) onNotice(n store.ChangeEvent) {
	a.views.OnNotify(n)
	a.caller.OnNotify(n)
	a.gateway.OnNotify(n)
	a.listeners.OnNotice(n)
	a.syncer.OnNotify(n)
}

func (a agentServices) onConnectionChange(yes bool) {
	a.views.SetConnected(yes)
	a.caller.SetConnected(yes)
	a.gateway.Connected(yes)
	a.listeners.SetConnected(yes)
}

// drain waits for the agents' calls until ctx ends. Listening streams, which never end by themselves, are
// closed at once.
func (a agentServices) drain(ctx context.Context, log *slog.Logger) {
	a.gateway.CloseStreams()
	a.caller.Stop(ctx)
	a.gateway.Stop(ctx)
	if ctx.Err() != nil {
		log.WarnContext(ctx, "agent calls cut off")
	}
}
