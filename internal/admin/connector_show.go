package admin

import (
	"context"
	"net/http"
	"net/url"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// runsOnOverview is the number of recent runs on the overview.
const runsOnOverview = 5

// connectorShow shows a connector's overview.
func (h *Handler) connectorShow(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenantStore(r)
	c, err := tenant.Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	runs, err := tenant.SyncRuns(r.Context(), c.ID, store.Page{Limit: runsOnOverview})
	if err != nil {
		return err
	}
	hours, err := tenant.ConnectorHealth(r.Context(), c.ID, h.now().Add(-week))
	if err != nil {
		return err
	}
	agents, err := h.agentNames(r)
	if err != nil {
		return err
	}
	stream, supported, err := h.listeningState(r, c)
	if err != nil {
		return err
	}
	requests, err := h.lastRequests(r, runs.Items)
	if err != nil {
		return err
	}
	circuit := h.calls.Circuit(actor(r).Tenant.ID, c.ID)
	frame := h.connectorFrame(r, c, i18n.T(r.Context(), "Overview"))
	page := templates.ConnectorOverviewPage{
		Frame:        frame,
		Head:         connectorHead(r.Context(), c, templates.TabOverview),
		Attention:    append(connectorAttention(r.Context(), c, lastQuarantined(runs.Items), frame.Can, h.now()), circuitAttention(r.Context(), circuit, h.now())...),
		Stats:        overviewStats(r.Context(), c, h.now()),
		Health:       healthLines(r.Context(), c, frame.Can, h.now()),
		Charts:       newCharts(r.Context(), hours, h.now()),
		Server:       serverFacts(r.Context(), c, requests),
		Connection:   append(connectionFacts(r.Context(), c), callingFacts(r.Context(), c, circuit)...),
		Instructions: cleanText(c.Server.Instructions),
		Review:       instructionsReview(r.Context(), c),
	}
	page.Attention = append(page.Attention, listeningAttention(r.Context(), c, stream, frame.Can, h.now())...)
	page.Connection = append(page.Connection, listeningFact(r.Context(), stream, supported, h.now()))
	for _, run := range runs.Items {
		page.Runs = append(page.Runs, syncRunRow(r.Context(), run, c.Slug, agents, h.now()))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.ConnectorOverview(page))
}

// instructionsReview says that agents get other instructions than the server's; empty if they get the server's.
func instructionsReview(ctx context.Context, c connectors.Connector) string {
	switch c.Instructions().Review {
	case connectors.ReviewChanged:
		return i18n.T(ctx, "The server changed them. Agents are given what was accepted before, until an admin has looked.")
	case connectors.ReviewRejected:
		return i18n.T(ctx, "An admin rejected them. Agents are given what was accepted before.")
	}
	return ""
}

func (h *Handler) connectorFrame(r *http.Request, c connectors.Connector, tab string) templates.Frame {
	f := h.newFrame(r, templates.NavConnectors, newCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), newCrumb(c.Name, ""))
	f.Title = c.Name + " · " + tab
	f.Listen = withQuery("/events", url.Values{"connector": {c.Slug}})
	return f
}

func (h *Handler) agentNames(r *http.Request) (map[connectors.AgentID]string, error) {
	list, err := h.tenantStore(r).Agents(r.Context(), store.Page{Limit: 200})
	if err != nil {
		return nil, err
	}
	names := make(map[connectors.AgentID]string, len(list.Items))
	for _, a := range list.Items {
		names[a.ID] = a.Name
	}
	return names, nil
}

// lastQuarantined is the number of malformed tools in the last list that was read.
func lastQuarantined(newestFirst []connectors.SyncRun) int {
	for _, run := range newestFirst {
		if run.State == connectors.SyncOK {
			return run.Counts.Quarantined
		}
	}
	return 0
}
