package settings

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auditstreams"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

const auditStreamsPath = "/audit/streams"

func auditStreamPath(id connectors.AuditStreamID) string { return auditStreamsPath + "/" + id.String() }

// auditStreamList lists the audit streams, with the form for a new one.
func (h *Handler) auditStreamList(w http.ResponseWriter, r *http.Request) error {
	return h.auditStreamsPage(w, r, http.StatusOK, templates.Form{})
}

func (h *Handler) auditStreamsPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form) error {
	list, err := h.TenantStore(r).AuditStreams().List(r.Context())
	if err != nil {
		return err
	}
	page := templates.AuditStreamsPage{
		Frame: h.NewFrame(r, templates.NavAudit, shell.NewCrumb(i18n.T(r.Context(), "Audit log"), "/audit"), shell.NewCrumb(i18n.T(r.Context(), "Audit streams"), "")),
		Form:  f,
		Kinds: []templates.Option{{Value: string(connectors.StreamHTTPS), Label: "HTTPS"}, {Value: string(connectors.StreamSyslog), Label: i18n.T(r.Context(), "Syslog over TLS (RFC 5424)")}},
		Full:  len(list) >= connectors.MaxAuditStreams, Formats: streamFormats(r.Context()),
	}
	for _, s := range list {
		page.Rows = append(page.Rows, auditStreamRow(r.Context(), s, h.Now()))
	}
	return h.Respond.Page(w, r, status, templates.AuditStreams(page))
}

func streamFormats(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: string(connectors.StreamNDJSON), Label: i18n.T(ctx, "One event a line (NDJSON)")}, {Value: string(connectors.StreamJSON), Label: i18n.T(ctx, "JSON array")},
	}
}

func (h *Handler) auditStreamCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	created, err := h.AuditStreams.Create(r.Context(), shell.Actor(r), connectors.AuditStream{
		Name: f.Text("name"), Kind: connectors.StreamKind(f.Text("kind")), URL: f.Text("url"), Format: connectors.StreamFormat(f.Text("format")), Header: f.Text("header"), CA: f.Text("ca"),
	}, secret.Text(f.Text("secret")))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.auditStreamsPage(w, r, respond.Status(problem.Kind), withoutSecret(f.ToForm(problem)))
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, auditStreamPath(created.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Stream added. It sends what happens from now on.")})
}

// withoutSecret removes the entered header value, which no page shows.
func withoutSecret(f templates.Form) templates.Form {
	delete(f.Values, "secret")
	return f
}

// findAuditStream reads the stream in the path.
func (h *Handler) findAuditStream(r *http.Request) (connectors.AuditStream, error) {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return connectors.AuditStream{}, fault.Errorf(fault.NotFound, "No such audit stream.")
	}
	return h.TenantStore(r).AuditStreams().Get(r.Context(), connectors.AuditStreamID{UUID: id})
}

func (h *Handler) auditStreamShow(w http.ResponseWriter, r *http.Request) error {
	s, err := h.findAuditStream(r)
	if err != nil {
		return err
	}
	return h.auditStreamPage(w, r, http.StatusOK, s, templates.Form{Values: map[string]string{
		"name": s.Name, "url": s.URL, "format": string(s.Format), "header": s.Header, "ca": s.CA,
	}})
}

func (h *Handler) auditStreamPage(w http.ResponseWriter, r *http.Request, status int, s connectors.AuditStream, f templates.Form) error {
	return h.Respond.Page(w, r, status, templates.AuditStream(templates.AuditStreamPage{
		Frame: h.NewFrame(r, templates.NavAudit, shell.NewCrumb(i18n.T(r.Context(), "Audit log"), "/audit"), shell.NewCrumb(i18n.T(r.Context(), "Audit streams"), auditStreamsPath),
			shell.NewCrumb(s.Name, "")),
		Stream: auditStreamRow(r.Context(), s, h.Now()), Form: f, Formats: streamFormats(r.Context()), Syslog: s.Kind == connectors.StreamSyslog, Enabled: s.Enabled,
		Gap: i18n.TranslateKnown(r.Context(), s.Gap), GapAt: newOptionalWhen(r.Context(), s.GapAt, h.Now()),
		Sent: auditStreamBars(r.Context(), s), Facts: auditStreamFacts(r.Context(), s, h.Now()),
	}))
}

func newOptionalWhen(ctx context.Context, at *time.Time, now time.Time) *templates.When {
	if at == nil {
		return nil
	}
	return new(shell.NewWhen(ctx, *at, now))
}

// auditStreamBars shows how much of each chain is delivered. A bar warns while the stream does not send.
func auditStreamBars(ctx context.Context, s connectors.AuditStream) []templates.QuotaBar {
	newBar := func(of string, at, end, behind int64) templates.QuotaBar {
		said := i18n.T(ctx, "All sent, up to %s", i18n.Number(ctx, int(at)))
		if behind > 0 {
			said = i18n.T(ctx, "%s of %s not sent yet", i18n.Number(ctx, int(behind)), i18n.Number(ctx, int(end)))
		}
		high := end
		if behind > 0 && s.State() != connectors.StreamActive {
			high = 0
		}
		// An empty chain is delivered.
		return templates.QuotaBar{Of: of, Said: said, Value: strconv.FormatInt(max(at, 1-end), 10), Max: strconv.FormatInt(max(end, 1), 10), High: strconv.FormatInt(high, 10)}
	}
	return []templates.QuotaBar{
		newBar(i18n.T(ctx, "Audit log"), s.Cursor.AuditN, s.AuditEnd, s.AuditBehind()), newBar(i18n.T(ctx, "Calls"), s.Cursor.CallsRecord, s.CallsEnd, s.CallsBehind()),
	}
}

func (h *Handler) auditStreamSave(w http.ResponseWriter, r *http.Request) error {
	s, err := h.findAuditStream(r)
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	_, err = h.AuditStreams.Update(r.Context(), shell.Actor(r), s.ID, readStreamChange(f, s))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.auditStreamPage(w, r, respond.Status(problem.Kind), s, withoutSecret(f.ToForm(problem)))
	}
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Stream saved.")}
	if !f.Values.Has("name") {
		flash = shell.EnabledFlash(r.Context(), s.Name, f.Checked("enabled"), auditStreamPath(s.ID))
	}
	return h.Respond.Back(w, r, auditStreamPath(s.ID), flash)
}

// readStreamChange reads the settings, or what the control that enables sends. An empty header value keeps the stored one.
func readStreamChange(f shell.PostedForm, s connectors.AuditStream) auditstreams.Change {
	var c auditstreams.Change
	if f.Values.Has("enabled") {
		c.Enabled = new(f.Checked("enabled"))
	}
	if !f.Values.Has("name") {
		return c
	}
	c.Name, c.URL = new(f.Text("name")), new(f.Text("url"))
	if s.Kind == connectors.StreamSyslog {
		c.CA = new(f.Text("ca"))
		return c
	}
	c.Format, c.Header = readChoice[connectors.StreamFormat](f, "format"), new(f.Text("header"))
	if value := secret.Text(f.Text("secret")); !value.Empty() {
		c.Value = &value
	}
	return c
}

// auditStreamTest sends a test message, and shows its result.
func (h *Handler) auditStreamTest(w http.ResponseWriter, r *http.Request) error {
	s, err := h.findAuditStream(r)
	if err != nil {
		return err
	}
	tested, err := h.AuditStreams.Test(r.Context(), shell.Actor(r), s.ID)
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Test delivered in %s.", shell.FormatDuration(r.Context(), tested.Took))}
	if !tested.Accepted {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "Test failed: %s", tested.Sentence)}
	}
	return h.Respond.Back(w, r, auditStreamPath(s.ID), flash)
}

func (h *Handler) auditStreamDelete(w http.ResponseWriter, r *http.Request) error {
	s, err := h.findAuditStream(r)
	if err != nil {
		return err
	}
	if err := h.AuditStreams.Delete(r.Context(), shell.Actor(r), s.ID); err != nil {
		return err
	}
	return h.Respond.Back(w, r, auditStreamsPath, respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Stream deleted.")})
}

func auditStreamRow(ctx context.Context, s connectors.AuditStream, now time.Time) templates.AuditStreamRow {
	row := templates.AuditStreamRow{
		Name: s.Name, Href: auditStreamPath(s.ID), Behind: i18n.N(ctx, int(s.Behind()), "%s record", "%s records"), Delivered: shell.NewWhenOrNever(ctx, s.DeliveredAt, now),
	}
	if u, err := url.Parse(s.URL); err == nil {
		row.Host = u.Host
	}
	switch s.State() {
	case connectors.StreamPaused:
		row.State, row.Reason = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")}, i18n.TranslateKnown(ctx, s.DisabledWhy.Sentence())
		if s.DisabledWhy != connectors.StreamOnOrOff {
			row.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Paused")}
			row.Reason += " " + i18n.TranslateKnown(ctx, s.LastError)
		}
	case connectors.StreamTrouble:
		row.State, row.Reason = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Failing")}, i18n.TranslateKnown(ctx, s.LastError)
	default:
		row.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "On")}
	}
	return row
}

func auditStreamFacts(ctx context.Context, s connectors.AuditStream, now time.Time) []templates.Fact {
	delivered, made := shell.NewWhenOrNever(ctx, s.DeliveredAt, now), shell.NewWhen(ctx, s.CreatedAt, now)
	facts := []templates.Fact{{Label: i18n.T(ctx, "Last delivered"), When: &delivered}}
	if s.Failures > 0 {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Failing since"), When: newOptionalWhen(ctx, s.FailingSince, now)},
			templates.Fact{Label: i18n.T(ctx, "Failed attempts"), Value: i18n.Number(ctx, s.Failures)})
	}
	if s.NextAt != nil && s.Enabled {
		next := shell.NewWhen(ctx, *s.NextAt, now)
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Next attempt"), When: &next})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "ID"), Value: s.ID.String(), Mono: true, Copy: true}, templates.Fact{Label: i18n.T(ctx, "Created"), When: &made})
}
