package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/toolsync"
)

// syncRequest says how to sync.
type syncRequest struct {
	Agent *string `json:"agent,omitempty" nullable:"true" doc:"The agent, by id or slug, whose credential to use."`
}

type syncInput struct {
	ConnectorPath
	Wait bool `query:"wait" default:"true" doc:"false: answer 202 with the queued run."`
	JSON optional[syncRequest]
}

type syncOutput struct {
	Status int
	Body   syncRunJSON
}

// queuedJSON says how many syncs were queued.
type queuedJSON struct {
	Queued int `json:"queued"`
}

type syncRunPath struct {
	ID string `path:"id" doc:"A sync run's id."`
}

type listSyncRunsInput struct {
	ConnectorPath
	Paging
}

func (h *Handler) mountSyncRuns() {
	const tag = "Sync"
	sync := operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/sync_tools", id: "syncTools", tag: tag,
		summary: "Read a connector's tools now", may: connectors.PermOperate, status: http.StatusOK,
		also: []int{http.StatusAccepted},
	}
	register(h, sync, h.syncConnector)
	sync.path, sync.id = "/connectors/{id}/sync_tools", "syncToolsFromDashboard"
	sync.summary = "Read a connector's tools now, at the address of the dashboard's button"
	register(h, sync, h.syncConnector)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/sync_tools", id: "syncAllTools", tag: tag,
		summary: "Queue a sync of every enabled connector", may: connectors.PermOperate, status: http.StatusAccepted,
	}, h.syncAll)
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/sync_runs", id: "listSyncRuns", tag: tag,
		summary: "List a connector's sync runs, the latest first", may: connectors.PermRead,
	}, h.listSyncRuns)
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/sync_runs/{id}", id: "getSyncRun", tag: tag,
		summary: "Read a sync run", may: connectors.PermRead,
	}, h.getSyncRun)
}

func (h *Handler) syncConnector(ctx context.Context, who auth.Actor, in *syncInput) (*syncOutput, error) {
	req, err := in.JSON.read()
	if err != nil {
		return nil, h.unlessMissing(ctx, who, in.ref(), nil, err)
	}
	sync := toolsync.Request{Connector: in.ref(), Trigger: trigger(who), Asked: new(who.Event("connector.sync", ""))}
	if req.Agent != nil {
		agent := connectors.Ref(*req.Agent)
		sync.Agent = &agent
	}
	if err := h.requireUse(ctx, who, sync.Agent); err != nil {
		return nil, err
	}
	if !in.Wait {
		run, err := h.sync.Queue(ctx, who.Tenant.ID, sync)
		if err != nil {
			return nil, err
		}
		return &syncOutput{Status: http.StatusAccepted, Body: viewSyncRun(run)}, nil
	}
	report, err := h.sync.Sync(ctx, who.Tenant.ID, sync)
	if err != nil {
		return nil, h.withConnectURL(ctx, who, sync.Connector, sync.Agent, err)
	}
	return &syncOutput{Status: http.StatusOK, Body: viewSyncRun(report.Run)}, nil
}

// requireUse refuses whoever may not have an agent use its accounts; agent nil: none is named.
func (h *Handler) requireUse(ctx context.Context, who auth.Actor, agent *connectors.Ref) error {
	if agent == nil {
		return nil
	}
	tenant := h.store.Tenant(who.Tenant.ID)
	a, err := tenant.Agent(ctx, *agent)
	if err != nil {
		return err
	}
	return who.RequireUse(ctx, tenant, a.ID)
}

func trigger(who auth.Actor) connectors.SyncTrigger {
	if who.Kind == auth.KindPerson {
		return connectors.TriggerManual
	}
	return connectors.TriggerAPI
}

func (h *Handler) syncAll(ctx context.Context, who auth.Actor, _ *struct{}) (*answer[queuedJSON], error) {
	n, err := h.sync.QueueAll(ctx, who.Tenant.ID, trigger(who), new(who.Event("connector.sync_all", who.Tenant.Slug)))
	if err != nil {
		return nil, err
	}
	return &answer[queuedJSON]{Body: queuedJSON{Queued: n}}, nil
}

func (h *Handler) listSyncRuns(ctx context.Context, who auth.Actor, in *listSyncRunsInput) (*answer[list[syncRunJSON]], error) {
	tenant := h.store.Tenant(who.Tenant.ID)
	c, err := tenant.Connector(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	page, err := tenant.SyncRuns(ctx, c.ID, in.page())
	if err != nil {
		return nil, err
	}
	return listOf(page, viewSyncRun), nil
}

func (h *Handler) getSyncRun(ctx context.Context, who auth.Actor, in *syncRunPath) (*answer[syncRunJSON], error) {
	id, ok := connectors.Ref(in.ID).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "There is no such sync run.")
	}
	tenant := h.store.Tenant(who.Tenant.ID)
	run, err := tenant.SyncRun(ctx, connectors.SyncRunID{UUID: id})
	if err != nil {
		return nil, err
	}
	requests, err := tenant.RunRequests(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	return &answer[syncRunJSON]{Body: viewSyncRun(run).with(requests)}, nil
}
