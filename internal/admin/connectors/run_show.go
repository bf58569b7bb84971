package connectors

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// runDetail is a sync run with what its page shows.
type runDetail struct {
	connector connectors.Connector
	run       connectors.SyncRun
	requests  connectors.SyncRequests
	agents    map[connectors.AgentID]string
}

// findRun reads the run in the address, and its connector.
func findRun(r *http.Request, tx *store.Tenant) (d runDetail, err error) {
	if d.connector, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
		return d, err
	}
	id, ok := shell.PathRef(r, "run").UUID()
	if !ok {
		return d, fault.Errorf(fault.NotFound, "No such sync run.")
	}
	if d.run, err = tx.Syncs().Get(r.Context(), connectors.SyncRunID{UUID: id}); err != nil {
		return d, err
	}
	if d.run.ConnectorID != d.connector.ID {
		return d, fault.Errorf(fault.NotFound, "No such sync run.")
	}
	return d, nil
}

func loadRun(r *http.Request, tx *store.Tenant) (d runDetail, err error) {
	if d, err = findRun(r, tx); err != nil {
		return d, err
	}
	if d.requests, err = tx.Syncs().RunRequests(r.Context(), d.run.ID); err != nil {
		return d, err
	}
	d.agents, err = agentNames(r.Context(), tx.Agents())
	return d, err
}

// runShow shows one sync run, request by request.
func (h *Handler) runShow(w http.ResponseWriter, r *http.Request) error {
	var d runDetail
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		d, err = loadRun(r, tx)
		return err
	})
	if err != nil {
		return err
	}
	c := d.connector
	page := runPage(r.Context(), d.run, d.requests, syncRunRow(r.Context(), d.run, c.Slug, d.agents, h.Now()))
	page.Frame, page.Head = h.ConnectorFrame(r, c, i18n.T(r.Context(), "Sync run")), ConnectorHead(r.Context(), c, templates.TabOverview, h.ConnectorMark(c))
	page.Frame.Crumbs = append(page.Frame.Crumbs[:len(page.Frame.Crumbs)-1], shell.NewCrumb(c.Name, shell.ConnectorPath(c.Slug)), shell.NewCrumb(i18n.T(r.Context(), "Sync runs"), shell.ConnectorPath(c.Slug)+"/runs"))
	if page.Frame.Can.Sync && d.run.State == connectors.SyncQueued {
		page.Cancel = runPath(c.Slug, d.run.ID) + "/cancel"
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Run(page))
}

func runPage(ctx context.Context, run connectors.SyncRun, requests connectors.SyncRequests, row templates.SyncRunRow) templates.RunPage {
	page := templates.RunPage{
		Title: i18n.T(ctx, "Sync of %s", cmp.Or(row.Started.Title, row.Started.Text)), State: row.State, ViewBox: fmt.Sprintf("0 0 %d %d", waterfallWidth, waterfallHeight),
		None: noRequests(ctx, run),
	}
	if row.Error != "" {
		page.Error = &templates.Attention{Kind: templates.StateBad, Title: i18n.T(ctx, "Failed"), Text: row.Error}
	}
	page.Said = respond.NewQuote(ctx, run.Upstream)
	for _, f := range []templates.Fact{
		{Label: i18n.T(ctx, "Started by"), Value: row.Trigger},
		{Label: i18n.T(ctx, "Credential of"), Value: row.Agent},
		{Label: i18n.T(ctx, "Cancelled by"), Value: row.CancelledBy},
		{Label: i18n.T(ctx, "Duration"), Value: row.Duration},
		{Label: i18n.T(ctx, "Found"), Value: row.Total},
		{Label: i18n.T(ctx, "Also found"), Value: row.Items},
		{Label: i18n.T(ctx, "Changed without review"), Value: strings.Join(row.ItemChanges, "; ")},
		{Label: i18n.T(ctx, "Protocol"), Value: shell.CleanText(run.ProtocolVersion), Mono: true},
		{Label: i18n.T(ctx, "Same result"), Value: repeatText(ctx, run.Repeats)},
		{Label: i18n.T(ctx, "ID"), Value: run.ID.String(), Mono: true, Copy: true},
	} {
		if f.Value != "" {
			page.Facts = append(page.Facts, f)
		}
	}
	if len(requests.List) == 0 {
		return page
	}
	end, received := time.Duration(0), int64(0)
	for _, q := range requests.List {
		end, received = max(end, q.At+q.Took), received+q.Received
	}
	for _, q := range requests.List {
		page.Requests = append(page.Requests, requestRow(ctx, q, end))
	}
	if requests.Left > 0 {
		page.Left = i18n.N(ctx, requests.Left, "%s more request in between.", "%s more requests in between.")
	}
	page.Total = i18n.T(ctx, "%s · %s · %s received", i18n.N(ctx, len(requests.List)+requests.Left, "%s request", "%s requests"), formatDurationPrecisely(ctx, end), shell.FormatBytes(ctx, received))
	return page
}

// repeatText says how often scheduled syncs had the same result; empty if never.
func repeatText(ctx context.Context, times int) string {
	if times == 0 {
		return ""
	}
	return i18n.N(ctx, times, "%s later scheduled sync", "%s later scheduled syncs")
}

// noRequests says why a run has no requests.
func noRequests(ctx context.Context, run connectors.SyncRun) string {
	switch {
	case run.State == connectors.SyncQueued:
		return i18n.T(ctx, "Not started yet.")
	case run.State == connectors.SyncRunning:
		return i18n.T(ctx, "Shown after the sync.")
	case run.Trigger == connectors.TriggerSchedule && run.State == connectors.SyncOK:
		return i18n.T(ctx, "Requests of scheduled syncs without changes aren't stored. Sync manually to see them.")
	}
	return i18n.T(ctx, "The server wasn't contacted, or its requests are no longer stored.")
}

// Size of the waterfall picture.
const (
	waterfallWidth  = 200
	waterfallHeight = 10
)

func requestRow(ctx context.Context, q connectors.SyncRequest, end time.Duration) templates.RequestRow {
	position := func(d time.Duration) float64 { return float64(d) / float64(max(end, 1)) * waterfallWidth }
	row := templates.RequestRow{
		Name: requestName(ctx, q), Call: q.Method + " " + q.Call, Era: eraName(q.Era), Status: requestState(ctx, q), Started: "+" + formatDurationPrecisely(ctx, q.At), Took: formatDurationPrecisely(ctx, q.Took),
		Sent: shell.FormatBytes(ctx, q.Sent), Received: shell.FormatBytes(ctx, q.Received),
	}
	kind := templates.BarOK
	if row.Status.Kind == templates.StateBad {
		kind = templates.BarBad
	}
	width := max(position(q.Took), 2)
	row.Bars = []templates.Bar{
		{Kind: templates.BarNone, X: "0", Y: "4.5", Width: strconv.Itoa(waterfallWidth), Height: "1"},
		{Kind: kind, X: shell.FormatCoordinate(min(position(q.At), waterfallWidth-width)), Y: "1", Width: shell.FormatCoordinate(width), Height: "8"},
	}
	return row
}

// formatDurationPrecisely is [FormatDuration] with tenths of the first few milliseconds.
func formatDurationPrecisely(ctx context.Context, d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return "0 ms"
	case d < 100*time.Microsecond:
		return i18n.T(ctx, "under 0.1 ms")
	case d < 10*time.Millisecond:
		return i18n.T(ctx, "%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return shell.FormatDuration(ctx, d)
}

// requestName says what a request was for.
func requestName(ctx context.Context, q connectors.SyncRequest) string {
	switch q.Phase {
	case "connect":
		return i18n.T(ctx, "Connect")
	case "discover":
		return i18n.T(ctx, "Discover")
	case "initialize":
		return i18n.T(ctx, "Initialize")
	case "initialized":
		return i18n.T(ctx, "Initialized")
	case "list":
		if q.Page > 1 {
			return i18n.T(ctx, "List tools, page %s", i18n.Number(ctx, q.Page))
		}
		return i18n.T(ctx, "List tools")
	case "listen":
		return i18n.T(ctx, "Event stream")
	case "close":
		return i18n.T(ctx, "End session")
	}
	return i18n.T(ctx, "Request")
}

// eraName words an era of MCP.
func eraName(era string) string {
	switch era {
	case "modern":
		return "modern"
	case "handshake":
		return "handshake"
	case "sse":
		return "HTTP+SSE"
	}
	return "–"
}

// requestState is a request's outcome. A server that refuses the newest protocol is no failure: the older one
// is tried next.
func requestState(ctx context.Context, q connectors.SyncRequest) templates.State {
	text := i18n.T(ctx, "Done")
	if q.Status != 0 {
		text = strconv.Itoa(q.Status)
	}
	if q.RPCCode != 0 {
		text += i18n.T(ctx, ", error %d", q.RPCCode)
	}
	switch {
	case q.Reason == "" && (q.Status < 400 || q.Phase == "close" || q.Phase == "initialized"):
		return templates.State{Kind: templates.StateOK, Text: text}
	case q.Phase == "discover":
		return templates.State{Kind: templates.StateOff, Text: text}
	case q.Status == 0 || q.Status < 400 && q.RPCCode == 0:
		return templates.State{Kind: templates.StateBad, Text: reasonName(ctx, q.Reason)}
	}
	return templates.State{Kind: templates.StateBad, Text: text}
}

// reasonName words why a request failed.
func reasonName(ctx context.Context, reason string) string {
	switch reason {
	case "timeout":
		return i18n.T(ctx, "Timed out")
	case "unreachable":
		return i18n.T(ctx, "No connection")
	case "tls":
		return i18n.T(ctx, "TLS failed")
	case "too_large":
		return i18n.T(ctx, "Too large")
	case "redirect":
		return i18n.T(ctx, "Redirected")
	case "protocol":
		return i18n.T(ctx, "Not MCP")
	}
	return i18n.T(ctx, "Failed")
}
