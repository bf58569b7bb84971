package settings

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/auditsentence"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// auditActions are the first parts of action names, and auditSubjects what those are about.
var (
	auditActions = []string{
		"account", "agent", "agent_allowance", "agent_grant", "agent_token", "api_key", "approval", "audit_stream", "connector", "credential", "member", "registry", "table", "tenant", "tool", "tool_call", "webhook",
	}
	auditSubjects = map[string]i18n.Key{
		"account": "Accounts and sign-in", "agent": "Agents", "agent_allowance": "Standing approvals", "agent_grant": "Access", "agent_token": "Agent tokens", "api_key": "API keys",
		"approval": "Approvals", "audit_stream": "Audit streams", "connector": "Connectors", "credential": "Credentials", "member": "Members", "registry": "Registries", "table": "Exports", "tenant": "Organisation", "tool": "Tools",
		"tool_call": "Calls", "webhook": "Webhooks",
	}
)

// auditQuery is the page's filter.
type auditQuery struct{ actor, action, target, since, until, entry string }

func readAuditQuery(q url.Values) auditQuery {
	text := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	return auditQuery{actor: text("actor"), action: text("action"), target: text("target"), since: text("since"), until: text("until"), entry: text("entry")}
}

func (q auditQuery) toForm() templates.Form {
	return templates.Form{
		Values: map[string]string{"actor": q.actor, "action": q.action, "target": q.target, "since": q.since, "until": q.until},
		Errors: map[string]string{},
	}
}

// ToFilter returns the filter for the store; false if a day cannot be parsed.
func (q auditQuery) toFilter(cursor string) (store.AuditFilter, bool) {
	since, ok := parseDay(q.since, 0)
	until, untilOK := parseDay(q.until, 1) // the end of that day
	f := store.AuditFilter{Actor: q.actor, Action: q.action, Target: q.target, Since: since, Until: until, Page: store.Page{Cursor: cursor}}
	if q.entry != "" {
		entry, _ := uuid.Parse(q.entry) // an invalid id matches no entry
		f.Entry = &entry
	}
	return f, ok && untilOK
}

// parseDay returns the start of a day in UTC, plus a number of days. It is nil if the text is empty.
func parseDay(text string, after int) (*time.Time, bool) {
	if text == "" {
		return nil, true
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil, false
	}
	return new(day.AddDate(0, 0, after)), true
}

// auditList lists the audit log, newest first.
func (h *Handler) auditList(w http.ResponseWriter, r *http.Request) error {
	q := readAuditQuery(r.URL.Query())
	filter, ok := q.toFilter(r.URL.Query().Get("cursor"))
	filter.Limit = shell.PageSize(r)
	var (
		list  store.List[store.RecordedEvent]
		state store.AuditState
		calls store.OutcomeState
		names store.SlugNames
		total int
		least bool
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if ok {
			if list, err = tx.Audit().List(r.Context(), filter); err != nil {
				return err
			}
			if names, err = tx.Audit().NamesIn(r.Context(), list.Items); err != nil {
				return err
			}
		}
		if ok {
			if total, least, err = tx.Lists().AuditEvents(r.Context(), filter); err != nil {
				return err
			}
		}
		if state, err = tx.Audit().State(r.Context()); err != nil {
			return err
		}
		calls, err = tx.Audit().OutcomeState(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	signed, err := auditSigned(r.Context(), h.TenantStore(r).Audit(), state)
	if err != nil {
		return err
	}
	pager := shell.WithLeastTotal(shell.NewPager(r, list.Next, len(list.Items)), total, least)
	page := templates.AuditPage{
		Frame: h.NewFrame(r, templates.NavAudit, shell.NewCrumb(i18n.T(r.Context(), "Audit log"), "")), Filter: q.toForm(), Actions: shell.WithChosen(auditActionOptions(r.Context()), q.action),
		Verdict:  h.auditVerdict(r.Context(), state),
		Calls:    h.outcomeVerdict(r.Context(), calls),
		Signed:   signed,
		Streams:  shell.Actor(r).Role.May(connectors.PermManage),
		Filtered: q != auditQuery{}, Single: q.entry != "", Pager: pager, Count: shell.FormatCount(r.Context(), len(list.Items), pager, "%s event", "%s events"),
	}
	if !ok {
		page.Filter.Errors["since"] = i18n.T(r.Context(), "Use dates like 2026-11-21.")
	}
	for _, e := range list.Items {
		row := h.auditRow(r.Context(), e, names)
		row.Bad = state.Bad != nil && state.Bad.Reason == store.AuditChanged && state.Bad.EventID != nil && *state.Bad.EventID == e.ID
		page.Rows = append(page.Rows, row)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Audit(page))
}

func auditActionOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "Everything")}}
	for _, a := range auditActions {
		options = append(options, templates.Option{Value: a, Label: i18n.T(ctx, auditSubjects[a])})
	}
	return options
}

func (h *Handler) auditRow(ctx context.Context, e store.RecordedEvent, names store.SlugNames) templates.AuditRow {
	actor := shell.ShortenText(e.ActorName, shell.MaxName)
	if auth.ActorKind(e.ActorType) == auth.KindOperator {
		actor = i18n.T(ctx, "The command line")
	}
	row := templates.AuditRow{
		Sentence: shell.CleanText(auditsentence.Write(ctx, auditsentence.Entry{Actor: actor, Action: e.Action, Target: shell.ShortenText(e.Target, shell.MaxName), Detail: e.Detail}, auditsentence.Names(names))),
		At:       shell.NewWhen(ctx, e.At, h.Now()), Actor: shell.ShortenText(e.ActorName, shell.MaxName), Kind: actorKind(ctx, e.ActorType), Action: shell.ShortenText(e.Action, shell.MaxName),
		Target: shell.ShortenText(e.Target, shell.MaxName), Request: e.RequestID, IP: e.IP,
	}
	for _, c := range e.Changes() {
		list := &row.Changes
		if c.Before != nil && !c.Same() && len(row.Inline) < maxInlineChanges {
			list = &row.Inline
		}
		*list = append(*list, templates.AuditChange{
			Field: shell.ShortenText(c.Field, shell.MaxName), Before: auditValue(c.Before), After: auditValue(c.After),
			Had: c.Before != nil, Has: c.After != nil, Same: c.Same(),
		})
	}
	if rest := e.Rest(); string(rest) != "{}" {
		row.Detail = shell.IndentJSON(ctx, rest, shell.MaxListJSON)
	}
	return row
}

// maxInlineChanges bounds the changed fields that a row shows before it is opened.
const maxInlineChanges = 6

// maxAuditValue bounds a field's value on the page, in characters. The API returns all of it.
const maxAuditValue = 500

// auditValue formats a field's value.
func auditValue(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	return shell.ShortenText(toolpages.FormatValue(string(raw)), maxAuditValue)
}

func actorKind(ctx context.Context, kind string) string {
	switch auth.ActorKind(kind) {
	case auth.KindPerson:
		return i18n.T(ctx, "person")
	case auth.KindKey:
		return i18n.T(ctx, "API key")
	case auth.KindAgent:
		return i18n.T(ctx, "agent")
	case auth.KindSCIM:
		return i18n.T(ctx, "identity provider")
	case auth.KindOperator:
		return i18n.T(ctx, "command line")
	default:
		return kind
	}
}

var auditColumns = []export.Column[store.RecordedEvent]{
	{Name: "id", Of: func(e store.RecordedEvent) any { return e.ID.String() }},
	{Name: "at", Of: func(e store.RecordedEvent) any { return e.At }},
	{Name: "actor_type", Of: func(e store.RecordedEvent) any { return e.ActorType }},
	{Name: "actor_id", Of: func(e store.RecordedEvent) any {
		if e.ActorID == nil {
			return nil
		}
		return e.ActorID.String()
	}},
	{Name: "actor_name", Of: func(e store.RecordedEvent) any { return e.ActorName }},
	{Name: "action", Of: func(e store.RecordedEvent) any { return e.Action }},
	{Name: "target", Of: func(e store.RecordedEvent) any { return e.Target }},
	{Name: "detail", Of: func(e store.RecordedEvent) any { return e.Detail }},
	{Name: "request_id", Of: func(e store.RecordedEvent) any { return e.RequestID }},
	{Name: "ip", Of: func(e store.RecordedEvent) any { return e.IP }},
}

func (h *Handler) auditFile(w http.ResponseWriter, r *http.Request) error {
	filter, ok := readAuditQuery(r.URL.Query()).toFilter("")
	if !ok {
		return fault.Errorf(fault.Malformed, "Use dates like 2026-11-21.")
	}
	return shell.TableFile[store.RecordedEvent]{Name: "audit", Columns: auditColumns, List: func(ctx context.Context, p store.Page) (store.List[store.RecordedEvent], error) {
		filter.Page = p
		return h.TenantStore(r).Audit().List(ctx, filter)
	}}.Serve(h.Shell, w, r)
}
