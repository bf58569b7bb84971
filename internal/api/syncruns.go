package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

type syncRequest struct {
	Agent *string `json:"agent,omitempty" nullable:"true" doc:"The agent, by id or slug, whose credential to use."`
}

type syncInput struct {
	ConnectorPath
	Wait bool `query:"wait" default:"true" doc:"false: respond with 202 and the queued run."`
	JSON optionalBody[syncRequest]
}

type syncOutput struct {
	Status int
	Body   syncRunJSON
}

// queuedJSON counts the queued syncs.
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
		summary: "Sync a connector's tools", permission: connectors.PermOperate, status: http.StatusOK,
		otherStatuses: []int{http.StatusAccepted},
	}
	registerOperation(h, sync, h.syncConnector)
	sync.path, sync.id = "/connectors/{id}/sync_tools", "syncToolsFromDashboard"
	sync.summary = "Sync a connector's tools, at the dashboard's path"
	registerOperation(h, sync, h.syncConnector)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/ping", id: "pingConnector", tag: tag,
		summary: "Ping a connector's server", permission: connectors.PermOperate,
		description: "Opens a session with the stored credential, pings once and closes it. 200 even if the server fails.",
	}, h.pingConnector)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/methods", id: "sendMethod", tag: "Connectors",
		summary: "Send a request outside MCP to a connector's server", description: aboutSendMethod, permission: connectors.PermManage, status: http.StatusOK,
	}, h.sendMethod)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/sync_tools", id: "syncAllTools", tag: tag,
		summary: "Queue a sync of all enabled connectors", permission: connectors.PermOperate, status: http.StatusAccepted,
	}, h.syncAll)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/sync_runs", id: "listSyncRuns", tag: tag,
		summary: "List a connector's sync runs, newest first", permission: connectors.PermRead,
	}, h.listSyncRuns)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/sync_runs/{id}", id: "getSyncRun", tag: tag,
		summary: "Get a sync run", permission: connectors.PermRead,
	}, h.getSyncRun)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/sync_runs/{id}/cancel", id: "cancelSyncRun", tag: tag,
		summary: "Cancel a queued or running sync", permission: connectors.PermOperate, status: http.StatusOK,
		description: "The run ends as cancelled in whichever process performs it: it changes no tools, and its connector has not failed. A run that has ended is a 409.",
	}, h.cancelSyncRun)
}

func (h *Handler) syncConnector(ctx context.Context, actor auth.Actor, in *syncInput) (*syncOutput, error) {
	req, err := in.JSON.readJSON()
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	sync := toolsync.Request{Connector: in.ref(), Trigger: syncTrigger(actor), AuditEvent: new(actor.Event("connector.sync", ""))}
	if req.Agent != nil {
		agent := connectors.Ref(*req.Agent)
		sync.Agent = &agent
	}
	if err := h.requireUse(ctx, actor, sync.Agent); err != nil {
		return nil, err
	}
	if !in.Wait {
		run, err := h.sync.Queue(ctx, actor.Tenant.ID, sync)
		if err != nil {
			return nil, err
		}
		return &syncOutput{Status: http.StatusAccepted, Body: viewSyncRun(run)}, nil
	}
	report, err := h.sync.Sync(ctx, actor.Tenant.ID, sync)
	if err != nil {
		return nil, h.withConnectURL(ctx, actor, sync.Connector, sync.Agent, err)
	}
	return &syncOutput{Status: http.StatusOK, Body: viewSyncRun(report.Run)}, nil
}

// requireUse returns an error if the caller may not use the agent's accounts. A nil agent means that none is
// named.
func (h *Handler) requireUse(ctx context.Context, actor auth.Actor, agent *connectors.Ref) error {
	if agent == nil {
		return nil
	}
	return h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		a, err := tx.Agents().Get(ctx, *agent)
		if err != nil {
			return err
		}
		return actor.RequireUse(ctx, tx.Accounts(), a.ID)
	})
}

func syncTrigger(actor auth.Actor) connectors.SyncTrigger {
	if actor.Kind == auth.KindPerson {
		return connectors.TriggerManual
	}
	return connectors.TriggerAPI
}

func (h *Handler) syncAll(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[queuedJSON], error) {
	n, err := h.sync.QueueAll(ctx, actor.Tenant.ID, syncTrigger(actor), new(actor.Event("connector.sync_all", actor.Tenant.Slug)))
	if err != nil {
		return nil, err
	}
	return &response[queuedJSON]{Body: queuedJSON{Queued: n}}, nil
}

func (h *Handler) listSyncRuns(ctx context.Context, actor auth.Actor, in *listSyncRunsInput) (*response[list[syncRunJSON]], error) {
	var page store.List[connectors.SyncRun]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		page, err = tx.Syncs().List(ctx, c.ID, in.toPage())
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewSyncRun), nil
}

func (h *Handler) getSyncRun(ctx context.Context, actor auth.Actor, in *syncRunPath) (*response[syncRunJSON], error) {
	id, ok := connectors.Ref(in.ID).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such sync run.")
	}
	var run connectors.SyncRun
	var requests connectors.SyncRequests
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if run, err = tx.Syncs().Get(ctx, connectors.SyncRunID{UUID: id}); err != nil {
			return err
		}
		requests, err = tx.Syncs().RunRequests(ctx, run.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &response[syncRunJSON]{Body: viewSyncRun(run).withRequests(requests)}, nil
}

func (h *Handler) cancelSyncRun(ctx context.Context, actor auth.Actor, in *syncRunPath) (*response[syncRunJSON], error) {
	id, ok := connectors.Ref(in.ID).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such sync run.")
	}
	run, err := h.sync.Cancel(ctx, actor, connectors.SyncRunID{UUID: id})
	if err != nil {
		return nil, err
	}
	return &response[syncRunJSON]{Body: viewSyncRun(run)}, nil
}
