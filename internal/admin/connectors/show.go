package connectors

import (
	"context"
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// runsOnOverview is the number of recent runs on the overview.
const runsOnOverview = 5

// connectorOverview is what a connector's overview combines.
type connectorOverview struct {
	connector  connectors.Connector
	runs       store.List[connectors.SyncRun]
	hours      []connectors.HealthHour
	figures    store.ConnectorFigures
	agents     map[connectors.AgentID]string
	stream     connectors.Listening
	listenable bool // the server announces changes
	requests   []connectors.SyncRequest
	document   *connectors.APIDocument // of an HTTP API; nil: it has none
}

func (h *Handler) loadConnectorOverview(r *http.Request, tx *store.Tenant) (o connectorOverview, err error) {
	if o.connector, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
		return o, err
	}
	if o.runs, err = tx.Syncs().List(r.Context(), o.connector.ID, store.Page{Limit: runsOnOverview}); err != nil {
		return o, err
	}
	if o.hours, err = tx.Syncs().ConnectorHealth(r.Context(), o.connector.ID, h.Now().Add(-shell.Week)); err != nil {
		return o, err
	}
	figures, err := tx.Lists().ConnectorFigures(r.Context(), h.CountsSince(), o.connector.ID)
	if err != nil {
		return o, err
	}
	o.figures = figures[o.connector.ID]
	if o.agents, err = agentNames(r.Context(), tx.Agents()); err != nil {
		return o, err
	}
	if o.stream, o.listenable, err = listeningState(r.Context(), tx.Syncs(), o.connector); err != nil {
		return o, err
	}
	if o.connector.Transport == connectors.TransportAPI {
		o.document, err = readDocumentInfo(r.Context(), tx, o.connector.ID)
		return o, err
	}
	o.requests, err = lastRequests(r.Context(), tx.Syncs(), o.runs.Items)
	return o, err
}

// connectorShow shows a connector's overview.
func (h *Handler) connectorShow(w http.ResponseWriter, r *http.Request) error {
	var o connectorOverview
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		o, err = h.loadConnectorOverview(r, tx)
		return err
	})
	if err != nil {
		return err
	}
	c := o.connector
	circuit := h.Calls.Circuit(shell.Actor(r).Tenant.ID, c.ID)
	frame := h.ConnectorFrame(r, c, i18n.T(r.Context(), "Overview"))
	page := templates.ConnectorOverviewPage{
		Frame:        frame,
		Head:         ConnectorHead(r.Context(), c, templates.TabOverview, h.ConnectorMark(c)),
		Attention:    append(connectorAttention(r.Context(), c, o.runs.Items, frame.Can, h.Now()), circuitAttention(r.Context(), circuit, h.Now())...),
		Stats:        overviewStats(r.Context(), c, o.figures, h.Now()),
		Health:       healthLines(r.Context(), c, frame.Can, h.Now()),
		Charts:       newCharts(r.Context(), o.hours, h.Now()),
		Server:       serverFacts(r.Context(), c, o.requests),
		Connection:   append(connectionFacts(r.Context(), c), callingFacts(r.Context(), c, circuit)...),
		Instructions: shell.CleanText(c.Server.Instructions),
		Review:       instructionsReview(r.Context(), c),
	}
	page.Attention = append(page.Attention, vanishedAttention(r.Context(), c, frame.Can, h.Now())...)
	page.Attention = append(page.Attention, listeningAttention(r.Context(), c, o.stream, frame.Can, h.Now())...)
	if c.Transport == connectors.TransportAPI {
		page.Server = apiFacts(r.Context(), c, o.document, h.Now())
		page.Connection[0].Value = apiAddress(c, o.document)
	} else {
		page.Connection = append(page.Connection, listeningFact(r.Context(), o.stream, o.listenable, h.Now()))
	}
	if len(c.Methods) > 0 && frame.Can.Manage {
		page.Method = new(newMethodForm(c))
	}
	for _, run := range o.runs.Items {
		page.Runs = append(page.Runs, syncRunRow(r.Context(), run, c.Slug, o.agents, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorOverview(page))
}

// instructionsReview says that agents get other instructions than the server's; empty if they get the server's.
func instructionsReview(ctx context.Context, c connectors.Connector) string {
	switch c.Instructions().Review {
	case connectors.ReviewChanged:
		return i18n.T(ctx, "Changed by the server. Agents keep the accepted version until review.")
	case connectors.ReviewRejected:
		return i18n.T(ctx, "Rejected by an admin. Agents keep the accepted version.")
	}
	return ""
}

// ConnectorFrame is the frame of a connector's tab.
func (h *Handler) ConnectorFrame(r *http.Request, c connectors.Connector, tab string) templates.Frame {
	f := h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(c.Name, ""))
	f.Title = c.Name + " · " + tab
	f.Listen = shell.WithQuery("/events", url.Values{"connector": {c.Slug}})
	return f
}

func agentNames(ctx context.Context, tenant store.Agents) (map[connectors.AgentID]string, error) {
	list, err := tenant.List(ctx, store.Page{Limit: 200})
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
