package connectors

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// rowWidth is the number of characters that a list row shows of a name or address on a wide screen.
const rowWidth = 36

// ConnectorRow shows a connector in the list. returnTo is the page to which its actions lead back.
func ConnectorRow(ctx context.Context, c connectors.Connector, can templates.Permissions, returnTo string, now time.Time) templates.ConnectorRow {
	row := templates.ConnectorRow{
		ID:         c.ID.String(),
		Name:       c.Name,
		Href:       shell.ConnectorPath(c.Slug),
		URL:        callAddress(c),
		URLUnicode: connectors.UnicodeURL(callAddress(c)),
		State:      shell.ConnectorState(ctx, c),
		Credential: shell.CredentialName(ctx, c),
		Tools:      i18n.Number(ctx, c.ToolCount),
		LastSync:   lastSync(ctx, c, now),
		Actions:    can.Sync,
		CanSync:    can.Sync && c.Enabled,
		ReturnTo:   returnTo,
	}
	if can.Sync {
		row.Cancel = runningCancelPath(c)
	}
	if max(utf8.RuneCountInString(c.Name), utf8.RuneCountInString(row.URL)) > rowWidth {
		row.Whole = c.Name + "\n" + row.URL
	}
	if c.Running == nil {
		row.Remarks = healthRemarks(ctx, c, now)
	}
	if c.Running == nil {
		row.Reason = statusReason(ctx, c)
	}
	if can.Manage && c.Running == nil && lacksAccount(c) {
		row.Repair = connectLink(ctx, c)
	}
	return row
}

// lacksAccount reports whether a connector waits for an account. It looks at the connector's row alone: after a
// connection there was a sync.
func lacksAccount(c connectors.Connector) bool {
	return c.Auth.Type == connectors.AuthOAuth2 && (c.Status == connectors.StatusNeedsAuth || c.Status == connectors.StatusNeverSynced)
}

// statusReason is the sentence below a status that needs a person; empty for others.
func statusReason(ctx context.Context, c connectors.Connector) string {
	switch {
	case c.Status == connectors.StatusNeedsAuth && (c.LastError == nil || !connectors.NeedsPerson(c.LastError.Code)):
		return i18n.T(ctx, "No working credential.")
	case c.LastError != nil && c.Status != connectors.StatusDisabled:
		return i18n.TranslateKnown(ctx, c.LastError.Message)
	}
	return ""
}

func connectLink(ctx context.Context, c connectors.Connector) *templates.Link {
	text := i18n.T(ctx, "Connect")
	if c.ToolsLastSyncedAt != nil {
		text = i18n.T(ctx, "Reconnect")
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		return &templates.Link{Text: text, Href: shell.CredentialsPath(c.Slug)}
	}
	return &templates.Link{Text: text, Href: shell.AccountPath(c.Slug, "", "")}
}

func connectorStats(ctx context.Context, s store.Stats) []templates.Stat {
	attention := templates.StateOK
	if s.NeedAttention > 0 {
		attention = templates.StateBad
	}
	return []templates.Stat{
		{Label: i18n.T(ctx, "Connectors"), Value: i18n.Number(ctx, s.Connectors), Href: "/connectors"},
		{Label: i18n.T(ctx, "Tools"), Value: i18n.Number(ctx, s.Tools), Href: "/tools"},
		{Label: i18n.T(ctx, "Need attention"), Value: i18n.Number(ctx, s.NeedAttention), Kind: attention},
		{Label: i18n.T(ctx, "Never synced"), Value: i18n.Number(ctx, s.ByStatus[connectors.StatusNeverSynced]), Href: "/connectors?status=never_synced"},
	}
}

func statusOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All states")}}
	for _, s := range []connectors.ConnectorStatus{
		connectors.StatusOK, connectors.StatusError, connectors.StatusNeedsAuth, connectors.StatusNeverSynced, connectors.StatusDisabled,
	} {
		options = append(options, templates.Option{Value: string(s), Label: shell.StatusName(ctx, s)})
	}
	return options
}

// ConnectorHead is the head above a connector's tabs.
func ConnectorHead(ctx context.Context, c connectors.Connector, tab templates.ConnectorTab, mark templates.Mark) templates.ConnectorHead {
	return templates.ConnectorHead{
		ID:          c.ID.String(),
		Slug:        c.Slug,
		Name:        c.Name,
		Mark:        mark,
		Description: c.Description,
		URL:         callAddress(c),
		URLUnicode:  connectors.UnicodeURL(callAddress(c)),
		Href:        shell.ConnectorPath(c.Slug),
		Tab:         tab,
		State:       shell.ConnectorState(ctx, c),
		Cancel:      runningCancelPath(c),
		Enabled:     c.Enabled,
		ToolCount:   i18n.Number(ctx, c.ToolCount),
		IsAPI:       c.Transport == connectors.TransportAPI,
	}
}

// connectorAttention lists what a person should do about a connector, most urgent first.
func connectorAttention(ctx context.Context, c connectors.Connector, runs []connectors.SyncRun, can templates.Permissions, now time.Time) []templates.Attention {
	var list []templates.Attention
	if reason := statusReason(ctx, c); reason != "" {
		a := templates.Attention{Kind: templates.StateBad, Title: shell.StatusName(ctx, c.Status), Text: reason}
		if c.LastError != nil {
			a.When = new(shell.NewWhen(ctx, c.LastError.At, now))
		}
		if can.Manage {
			a.Action = repairLink(ctx, c)
		}
		if len(runs) > 0 && runs[0].State == connectors.SyncFailed {
			a.Said = shell.SaidLine(runs[0].Upstream)
			if a.Action == nil || !settingsHelp(c) {
				a.Action = &templates.Link{Text: i18n.T(ctx, "Open sync run"), Href: runPath(c.Slug, runs[0].ID)}
			}
		}
		list = append(list, a)
	}
	if c.Status == connectors.StatusNeverSynced && c.Running == nil && lacksAccount(c) {
		a := templates.Attention{Kind: templates.StateWarn, Title: i18n.T(ctx, "No account connected"), Text: i18n.T(ctx, "Connect one to read the tools.")}
		if can.Manage {
			a.Action = connectLink(ctx, c)
		}
		list = append(list, a)
	}
	if quarantined := lastQuarantined(runs); quarantined > 0 {
		list = append(list, templates.Attention{
			Kind:   templates.StateWarn,
			Title:  i18n.N(ctx, quarantined, "%s malformed tool", "%s malformed tools"),
			Text:   i18n.T(ctx, "Invalid entries were left out. The rest synced."),
			Action: &templates.Link{Text: i18n.T(ctx, "Show"), Href: shell.ConnectorPath(c.Slug) + "/tools"},
		})
	}
	if !c.Enabled {
		a := templates.Attention{Kind: templates.StateWarn, Title: i18n.T(ctx, "Disabled"), Text: i18n.T(ctx, "Not synced or available to agents.")}
		if can.Manage {
			a.Action = &templates.Link{Text: i18n.T(ctx, "Enable in settings"), Href: shell.ConnectorPath(c.Slug) + "/settings#enabled"}
		}
		list = append(list, a)
	}
	return list
}

// settingsHelp reports whether a person can repair a failing connector: by its credential, or by its URL.
func settingsHelp(c connectors.Connector) bool {
	if c.Status == connectors.StatusNeedsAuth || c.LastError == nil {
		return true
	}
	switch mcp.Reason(c.LastError.Code) {
	case mcp.ReasonUnreachable, mcp.ReasonTLS, mcp.ReasonRedirect, "blocked":
		return true
	}
	return false
}

// repairLink leads to the page where a failing connector can be repaired.
func repairLink(ctx context.Context, c connectors.Connector) *templates.Link {
	switch {
	case c.Status != connectors.StatusNeedsAuth || c.Auth.Type == connectors.AuthNone:
	case c.Auth.Type == connectors.AuthOAuth2:
		return connectLink(ctx, c)
	default:
		return &templates.Link{Text: i18n.T(ctx, "Set credential"), Href: shell.CredentialsPath(c.Slug)}
	}
	return &templates.Link{Text: i18n.T(ctx, "Open settings"), Href: shell.ConnectorPath(c.Slug) + "/settings"}
}

// connectionFacts describe a connector's connection, except for what overviewStats has.
func connectionFacts(ctx context.Context, c connectors.Connector) []templates.Fact {
	facts := []templates.Fact{
		{Label: addressName(ctx, c), Value: connectorAddress(c), Mono: true, Copy: true},
		{Label: i18n.T(ctx, "Transport"), Value: shell.TransportName(ctx, c.Transport)},
	}
	facts = append(facts,
		templates.Fact{Label: i18n.T(ctx, "Authentication"), Value: shell.CredentialName(ctx, c)},
		templates.Fact{Label: i18n.T(ctx, "Schedule"), Value: scheduleText(ctx, c)},
	)
	facts = append(facts, signInWords(ctx, c)...)
	if c.Auth.Type == connectors.AuthAPIKey {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "API key header"), Value: KeyHeader(c), Mono: true})
	}
	if len(c.EnvNames) > 0 {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Environment"), Value: strings.Join(c.EnvNames, ", "), Mono: true})
	}
	if len(c.Headers) > 0 {
		names := slices.Sorted(maps.Keys(c.Headers))
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Extra headers"), Value: strings.Join(names, ", "), Mono: true})
	}
	return append(facts,
		templates.Fact{Label: i18n.T(ctx, "Timeout"), Value: i18n.T(ctx, "%s per request", shell.FormatSpan(ctx, c.Timeout))},
		templates.Fact{Label: i18n.T(ctx, "Retries"), Value: i18n.Number(ctx, c.RetryAttempts)},
		templates.Fact{Label: i18n.T(ctx, "ID"), Value: c.ID.String(), Mono: true, Copy: true},
	)
}

// KeyHeader is the header in which a connector's key is sent.
func KeyHeader(c connectors.Connector) string {
	if c.Auth.Header == "" {
		return connectors.DefaultAPIKeyHeader
	}
	return c.Auth.Header
}

func runPath(slug string, id connectors.SyncRunID) string {
	return shell.ConnectorPath(slug) + "/runs/" + id.String()
}

func syncRunRow(ctx context.Context, run connectors.SyncRun, slug string, agents map[connectors.AgentID]string, now time.Time) templates.SyncRunRow {
	row := templates.SyncRunRow{
		ID:          run.ID.String(),
		Href:        runPath(slug, run.ID),
		Trigger:     shell.TriggerName(ctx, run.Trigger),
		State:       shell.RunState(ctx, run.State),
		Started:     shell.NewWhen(ctx, run.QueuedAt, now),
		Added:       run.Counts.Added,
		Changed:     run.Counts.Changed,
		Removed:     run.Counts.Removed,
		Quarantined: run.Counts.Quarantined,
		Items:       itemTotals(ctx, run.Items),
		ItemChanges: itemChanges(ctx, run.Items),
		Protocol:    run.ProtocolVersion,
		Error:       i18n.TranslateKnown(ctx, run.ErrorMessage),
		CancelledBy: run.CancelledBy,
	}
	if run.StartedAt != nil {
		row.Started = shell.NewWhen(ctx, *run.StartedAt, now)
	}
	if run.FinishedAt != nil {
		row.Duration = shell.FormatDuration(ctx, run.Duration())
	}
	if run.State == connectors.SyncOK {
		row.Total = i18n.N(ctx, run.Counts.Total, "%s tool", "%s tools")
	}
	if run.AgentID != nil {
		row.Agent = agents[*run.AgentID]
	}
	return row
}

func overviewStats(ctx context.Context, c connectors.Connector, f store.ConnectorFigures, now time.Time) []templates.Stat {
	synced, path := lastSync(ctx, c, now), shell.ConnectorPath(c.Slug)
	failed := templates.Stat{Label: i18n.T(ctx, "Errors, 24 h"), Value: i18n.Number(ctx, f.Recent.Failed), Href: path + "/calls?range=24h&status=error"}
	if f.Recent.Failed > 0 {
		failed.Kind = templates.StateBad
	}
	stats := []templates.Stat{
		{Label: i18n.T(ctx, "Tools"), Value: i18n.Number(ctx, c.ToolCount), Href: path + "/tools"},
		{Label: i18n.T(ctx, "Used by"), Value: i18n.N(ctx, f.Agents, "%s agent", "%s agents"), Href: path + "/access?access=granted"},
		{Label: i18n.T(ctx, "Calls, 24 h"), Value: shell.FormatCalls(ctx, f.Recent), Href: path + "/calls?range=24h"},
		failed,
	}
	if f.Waiting > 0 {
		stats = append(stats, templates.Stat{Label: i18n.T(ctx, "To review"), Value: i18n.N(ctx, f.Waiting, "%s tool", "%s tools"), Kind: templates.StateWarn, Href: path + "/tools?state=held"})
	}
	return append(stats, templates.Stat{Label: i18n.T(ctx, "Last sync"), When: &synced})
}

// lastSync is the time of the last successful sync, or of the failure if none succeeded.
func lastSync(ctx context.Context, c connectors.Connector, now time.Time) templates.When {
	if c.ToolsLastSyncedAt != nil || c.LastError == nil {
		return shell.NewWhenOrNever(ctx, c.ToolsLastSyncedAt, now)
	}
	failed := shell.NewWhen(ctx, c.LastError.At, now)
	failed.Text = i18n.T(ctx, "failed %s", failed.Text)
	return failed
}

// scheduleText says when a connector is synced automatically.
func scheduleText(ctx context.Context, c connectors.Connector) string {
	if !c.Enabled {
		return i18n.T(ctx, "off while disabled")
	}
	return shell.FormatInterval(ctx, c.SyncInterval)
}
