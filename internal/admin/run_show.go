package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/web/templates"
)

// runShow shows one attempt to read a connector's tools, request by request.
func (h *Handler) runShow(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenant(r)
	c, err := tenant.Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	id, ok := ref(r, "run").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "There is no such sync run.")
	}
	run, err := tenant.SyncRun(r.Context(), connectors.SyncRunID{UUID: id})
	if err != nil {
		return err
	}
	if run.ConnectorID != c.ID {
		return fault.Errorf(fault.NotFound, "There is no such sync run.")
	}
	requests, err := tenant.RunRequests(r.Context(), run.ID)
	if err != nil {
		return err
	}
	agents, err := h.agentNames(r)
	if err != nil {
		return err
	}
	page := runPage(run, requests, syncRunRow(run, c.Slug, agents, h.now()))
	page.Frame, page.Head = h.connectorFrame(r, c, "Sync run"), connectorHead(c, templates.TabRuns)
	page.Frame.Crumbs = append(page.Frame.Crumbs[:len(page.Frame.Crumbs)-1], crumb(c.Name, connectorPath(c.Slug)), crumb("Sync runs", connectorPath(c.Slug)+"/runs"))
	return h.respond.Page(w, r, http.StatusOK, templates.Run(page))
}

func runPage(run connectors.SyncRun, requests connectors.SyncRequests, row templates.SyncRunRow) templates.RunPage {
	page := templates.RunPage{
		Title: "Sync of " + cmp.Or(row.Started.Title, row.Started.Text), State: row.State, ViewBox: fmt.Sprintf("0 0 %d %d", wide, high),
		None: noRequests(run),
	}
	if row.Error != "" {
		page.Error = &templates.Attention{Kind: templates.StateBad, Title: "It failed", Text: row.Error}
	}
	for _, f := range []templates.Fact{
		{Label: "Started by", Value: row.Trigger},
		{Label: "Credential of", Value: row.Agent},
		{Label: "Duration", Value: row.Duration},
		{Label: "Found", Value: row.Total},
		{Label: "Protocol", Value: clean(run.ProtocolVersion), Mono: true},
		{Label: "Came to the same", Value: again(run.Repeats)},
		{Label: "ID", Value: run.ID.String(), Mono: true, Copy: true},
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
		page.Requests = append(page.Requests, requestRow(q, end))
	}
	if requests.Left > 0 {
		page.Left = plural(requests.Left, "more request") + " between the first and the last."
	}
	page.Total = fmt.Sprintf("%s · %s · %s received", plural(len(requests.List)+requests.Left, "request"), brief(end), sized(received))
	return page
}

// again words how often scheduled syncs came to the same; empty: never.
func again(times int) string {
	if times == 0 {
		return ""
	}
	return plural(times, "later scheduled sync")
}

// noRequests says why a run tells none.
func noRequests(run connectors.SyncRun) string {
	switch {
	case run.State == connectors.SyncQueued:
		return "The sync has not begun."
	case run.State == connectors.SyncRunning:
		return "They are here when the sync has ended."
	case run.Trigger == connectors.TriggerSchedule && run.State == connectors.SyncOK:
		return "A scheduled sync that finds nothing new keeps none. Sync the connector by hand to see them."
	}
	return "The server was not asked, or the sync is older than requests are kept."
}

// The units of a bar's picture.
const (
	wide = 200
	high = 10
)

func requestRow(q connectors.SyncRequest, end time.Duration) templates.RequestRow {
	at := func(d time.Duration) float64 { return float64(d) / float64(max(end, 1)) * wide }
	row := templates.RequestRow{
		Name: requestName(q), Call: q.Method + " " + q.Call, Era: eraName(q.Era), Status: requestState(q), Started: "+" + brief(q.At), Took: brief(q.Took),
		Sent: sized(q.Sent), Received: sized(q.Received),
	}
	kind := templates.BarOK
	if row.Status.Kind == templates.StateBad {
		kind = templates.BarBad
	}
	width := max(at(q.Took), 2)
	row.Bars = []templates.Bar{
		{Kind: templates.BarNone, X: "0", Y: "4.5", Width: strconv.Itoa(wide), Height: "1"},
		{Kind: kind, X: unit(min(at(q.At), wide-width)), Y: "1", Width: unit(width), Height: "8"},
	}
	return row
}

// brief is [took] with tenths of the first few milliseconds.
func brief(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return "0 ms"
	case d < 100*time.Microsecond:
		return "under 0.1 ms"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	}
	return took(d)
}

// requestName is what a request was for.
func requestName(q connectors.SyncRequest) string {
	switch q.Phase {
	case "connect":
		return "Connect"
	case "discover":
		return "Discover"
	case "initialize":
		return "Initialize"
	case "initialized":
		return "Initialized"
	case "list":
		if q.Page > 1 {
			return "List tools, page " + number(q.Page)
		}
		return "List tools"
	case "listen":
		return "Event stream"
	case "close":
		return "End the session"
	}
	return "Request"
}

// eraName is an era of MCP as people know it.
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

// requestState is how a request came out. That a server does not know the newest way to be asked is no failure, for it is asked in the
// older one then.
func requestState(q connectors.SyncRequest) templates.State {
	text := "Done"
	if q.Status != 0 {
		text = strconv.Itoa(q.Status)
	}
	if q.RPCCode != 0 {
		text += fmt.Sprintf(", error %d", q.RPCCode)
	}
	switch {
	case q.Reason == "" && (q.Status < 400 || q.Phase == "close" || q.Phase == "initialized"):
		return templates.State{Kind: templates.StateOK, Text: text}
	case q.Phase == "discover":
		return templates.State{Kind: templates.StateOff, Text: text}
	case q.Status == 0 || q.Status < 400 && q.RPCCode == 0:
		return templates.State{Kind: templates.StateBad, Text: reasonName(q.Reason)}
	}
	return templates.State{Kind: templates.StateBad, Text: text}
}

// reasonName words why a request brought nothing.
func reasonName(reason string) string {
	switch reason {
	case "timeout":
		return "Timed out"
	case "unreachable":
		return "No connection"
	case "tls":
		return "TLS failed"
	case "too_large":
		return "Too large"
	case "redirect":
		return "Redirected"
	case "protocol":
		return "Not MCP"
	}
	return "Failed"
}
