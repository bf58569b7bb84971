package main

import (
	"context"
	"log/slog"
	"sync"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/gateway"
	"patchbay/internal/history"
	"patchbay/internal/listening"
	"patchbay/internal/mcp"
	"patchbay/internal/middleware"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/telemetry"
	"patchbay/internal/toolcall"
)

// agents is what serves agents.
type agents struct {
	access  *access.Keeper
	history *history.Writer
	caller  *toolcall.Caller
	gateway *gateway.Handler
	servers *listening.Keeper // hears of changes at connectors' servers
}

// buildAgents makes what serves agents; the rest of the house is there.
func (h *house) buildAgents(dialer *mcp.Dialer) agents {
	log, st := h.serving.log, h.database.store
	a := agents{
		access:  access.New(access.Options{Store: st, Log: log}),
		servers: h.buildListening(),
		history: history.New(history.Options{Store: st, Instance: h.instance, Journal: h.serving.database.DataDir, Log: log}),
	}
	links := h.mendLinks()
	a.caller = toolcall.New(toolcall.Options{
		Store:       st,
		Access:      a.access,
		Credentials: h.tokens,
		Dialer:      dialer,
		Target:      h.syncer.Target,
		Seat:        h.syncer.Seat,
		History:     a.history,
		Instance:    h.instance,
		BaseURL:     h.baseURL.String(),
		Resync:      h.syncer.Refresh,
		Connect:     links.link,
		Page:        links.page,
		Ended:       func(c connectors.ToolCall) { h.metrics.CallFinished(string(c.Outcome), c.Duration) },
		OverQuota:   h.metrics.QuotaRefused,
		Log:         log,
	})
	a.gateway = gateway.New(gateway.Options{
		Store: st, Access: a.access, Caller: a.caller, BaseURL: h.baseURL, Version: version(), Log: log,
		Address: middleware.AddressOf(h.serving.server.Proxies), Name: middleware.NameRequest(h.serving.server.Proxies), Page: links.page,
		Rate: h.serving.server.AgentRate, Throttled: func() { h.metrics.RequestThrottled("agent") },
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

// start has what serves agents hear what changes in the database, over one connection for all. stop ends it in this order, so that
// nothing that ended is lost: the calls, their history, the hearing.
func (a agents) start(ctx context.Context, st *store.Store) (stop func()) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	safe.GoIn(&tasks, safe.Background, func() { safe.RunLoop(ctx, "views", a.access.Run) })
	safe.GoIn(&tasks, safe.Background, func() {
		safe.RunLoop(ctx, "notices", func(ctx context.Context) { _ = st.Watch(ctx, a.hear, a.connected) }) // nil: it ends with ctx
	})
	safe.GoIn(&tasks, safe.Background, func() { safe.RunLoop(ctx, "journals", a.history.RunRecovery) })
	a.caller.Start(ctx)
	a.servers.Start()
	return func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		a.servers.Stop(stopping)
		a.caller.Stop(stopping)
		a.history.Stop(stopping)
		end()
		tasks.Wait()
	}
}

func (a agents) hear(n store.Notice) {
	a.access.Hear(n)
	a.caller.Hear(n)
	a.gateway.Hear(n)
	a.servers.Hear(n)
}

func (a agents) connected(yes bool) {
	a.access.Connected(yes)
	a.caller.Connected(yes)
	a.servers.Connected(yes)
}

// drain lets the agents' calls end until ctx is done. Streams of those who listen, which would never end, end at once.
func (a agents) drain(ctx context.Context, log *slog.Logger) {
	a.gateway.Shut()
	a.caller.Stop(ctx)
	a.gateway.Stop(ctx)
	if ctx.Err() != nil {
		log.WarnContext(ctx, "calls of agents cut off")
	}
}
