package admin

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// rowWidth is how many characters of a name or an address a row of the list is sure to show on a desk.
const rowWidth = 36

// connectorRow is a connector in the list.
func connectorRow(c connectors.Connector, can templates.Can, returnTo string, now time.Time) templates.ConnectorRow {
	row := templates.ConnectorRow{
		ID:         c.ID.String(),
		Name:       c.Name,
		Href:       connectorPath(c.Slug),
		Initial:    initial(c.Name),
		URL:        address(c),
		State:      connectorState(c),
		Credential: credentialName(c),
		Tools:      number(c.ToolCount),
		LastSync:   whenOrNever(c.ToolsLastSyncedAt, now),
		Actions:    can.Sync,
		CanSync:    can.Sync && c.Enabled,
		ReturnTo:   returnTo,
	}
	if max(utf8.RuneCountInString(c.Name), utf8.RuneCountInString(row.URL)) > rowWidth {
		row.Whole = c.Name + "\n" + row.URL
	}
	if c.Running == nil {
		row.Remarks = healthRemarks(c, now)
	}
	if c.LastError != nil && c.Running == nil && c.Status != connectors.StatusDisabled {
		row.Reason = c.LastError.Message
	}
	if can.Manage && c.Running == nil && lacksAccount(c) {
		row.Mend = connectLink(c)
	}
	return row
}

// lacksAccount tells whether connecting an account is what a connector waits for, as far as its own row tells: one that was
// connected has been synced since.
func lacksAccount(c connectors.Connector) bool {
	return c.Auth.Type == connectors.AuthOAuth2 && (c.Status == connectors.StatusNeedsAuth || c.Status == connectors.StatusNeverSynced)
}

// connectLink leads to where an account is connected.
func connectLink(c connectors.Connector) *templates.Link {
	text := "Connect"
	if c.ToolsLastSyncedAt != nil {
		text = "Reconnect"
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		return &templates.Link{Text: text, Href: credentialsPath(c.Slug)}
	}
	return &templates.Link{Text: text, Href: accountPath(c.Slug, "")}
}

// connectorStats are the figures above the list.
func connectorStats(s store.Stats) []templates.Stat {
	attention := templates.StateOK
	if s.NeedAttention > 0 {
		attention = templates.StateBad
	}
	return []templates.Stat{
		{Label: "Connectors", Value: number(s.Connectors), Href: "/connectors"},
		{Label: "Tools", Value: number(s.Tools), Href: "/tools"},
		{Label: "Need attention", Value: number(s.NeedAttention), Kind: attention},
		{Label: "Never synced", Value: number(s.ByStatus[connectors.StatusNeverSynced]), Href: "/connectors?status=never_synced"},
	}
}

func statusOptions() []templates.Option {
	options := []templates.Option{{Value: "", Label: "All states"}}
	for _, s := range []connectors.ConnectorStatus{
		connectors.StatusOK, connectors.StatusError, connectors.StatusNeedsAuth, connectors.StatusNeverSynced, connectors.StatusDisabled,
	} {
		options = append(options, templates.Option{Value: string(s), Label: statusName(s)})
	}
	return options
}

// connectorHead stands above the tabs of a connector.
func connectorHead(c connectors.Connector, tab templates.ConnectorTab) templates.ConnectorHead {
	return templates.ConnectorHead{
		ID:          c.ID.String(),
		Slug:        c.Slug,
		Name:        c.Name,
		Initial:     initial(c.Name),
		Description: c.Description,
		URL:         address(c),
		Href:        connectorPath(c.Slug),
		Tab:         tab,
		State:       connectorState(c),
		Enabled:     c.Enabled,
		ToolCount:   number(c.ToolCount),
	}
}

// attention is what of a connector needs someone, the most pressing first.
func attention(c connectors.Connector, quarantined int, can templates.Can, now time.Time) []templates.Attention {
	var list []templates.Attention
	if c.LastError != nil && c.Status != connectors.StatusDisabled {
		at := when(c.LastError.At, now)
		a := templates.Attention{Kind: templates.StateBad, Title: statusName(c.Status), Text: c.LastError.Message, When: &at}
		if can.Manage {
			a.Action = mend(c)
		}
		list = append(list, a)
	}
	if c.LastError == nil && c.Enabled && c.Running == nil && lacksAccount(c) {
		a := templates.Attention{Kind: templates.StateWarn, Title: "No account is connected", Text: "Connect one, and the tools are read right away."}
		if can.Manage {
			a.Action = connectLink(c)
		}
		list = append(list, a)
	}
	if quarantined > 0 {
		list = append(list, templates.Attention{
			Kind:   templates.StateWarn,
			Title:  plural(quarantined, "malformed tool"),
			Text:   "The server listed entries that are no tools. They are kept aside; the others arrived.",
			Action: &templates.Link{Text: "Show", Href: connectorPath(c.Slug) + "/tools"},
		})
	}
	if !c.Enabled {
		a := templates.Attention{Kind: templates.StateWarn, Title: "Disabled", Text: "It is not synced, and agents cannot use its tools."}
		if can.Manage {
			a.Action = &templates.Link{Text: "Enable it in the settings", Href: connectorPath(c.Slug) + "/settings#enabled"}
		}
		list = append(list, a)
	}
	return list
}

// mend is where a failing connector is repaired.
func mend(c connectors.Connector) *templates.Link {
	switch {
	case c.Status != connectors.StatusNeedsAuth || c.Auth.Type == connectors.AuthNone:
	case c.Auth.Type == connectors.AuthOAuth2:
		return connectLink(c)
	default:
		return &templates.Link{Text: "Set the credential", Href: credentialsPath(c.Slug)}
	}
	return &templates.Link{Text: "Open the settings", Href: connectorPath(c.Slug) + "/settings"}
}

// connectionFacts are how a connector is reached, but for what overviewStats say.
func connectionFacts(c connectors.Connector) []templates.Fact {
	facts := []templates.Fact{
		{Label: addressName(c), Value: address(c), Mono: true, Copy: true},
		{Label: "Transport", Value: transportName(c.Transport)},
	}
	facts = append(facts, signInWords(c)...)
	if c.Auth.Type == connectors.AuthAPIKey {
		facts = append(facts, templates.Fact{Label: "Key header", Value: keyHeader(c), Mono: true})
	}
	if len(c.EnvNames) > 0 {
		facts = append(facts, templates.Fact{Label: "Environment", Value: strings.Join(c.EnvNames, ", "), Mono: true})
	}
	if len(c.Headers) > 0 {
		names := slices.Sorted(maps.Keys(c.Headers))
		facts = append(facts, templates.Fact{Label: "Extra headers", Value: strings.Join(names, ", "), Mono: true})
	}
	return append(facts,
		templates.Fact{Label: "Timeout", Value: strconv.FormatFloat(c.Timeout.Seconds(), 'f', -1, 64) + " s a request"},
		templates.Fact{Label: "Retries", Value: number(c.RetryAttempts)},
		templates.Fact{Label: "ID", Value: c.ID.String(), Mono: true, Copy: true},
	)
}

func keyHeader(c connectors.Connector) string {
	if c.Auth.Header == "" {
		return connectors.DefaultAPIKeyHeader
	}
	return c.Auth.Header
}

// syncRunRow is one attempt to read the tools.
func syncRunRow(run connectors.SyncRun, slug string, agents map[connectors.AgentID]string, now time.Time) templates.SyncRunRow {
	row := templates.SyncRunRow{
		ID:          run.ID.String(),
		Href:        connectorPath(slug) + "/runs/" + run.ID.String(),
		Trigger:     triggerName(run.Trigger),
		State:       runState(run.State),
		Started:     when(run.QueuedAt, now),
		Added:       run.Counts.Added,
		Changed:     run.Counts.Changed,
		Removed:     run.Counts.Removed,
		Quarantined: run.Counts.Quarantined,
		Protocol:    run.ProtocolVersion,
		Error:       run.ErrorMessage,
	}
	if run.StartedAt != nil {
		row.Started = when(*run.StartedAt, now)
	}
	if run.FinishedAt != nil {
		row.Duration = took(run.Duration())
	}
	if run.State == connectors.SyncOK {
		row.Total = plural(run.Counts.Total, "tool")
	}
	if run.AgentID != nil {
		row.Agent = agents[*run.AgentID]
	}
	return row
}

// overviewStats are the figures of one connector.
func overviewStats(c connectors.Connector, now time.Time) []templates.Stat {
	synced := whenOrNever(c.ToolsLastSyncedAt, now)
	return []templates.Stat{
		{Label: "Tools", Value: number(c.ToolCount), Href: connectorPath(c.Slug) + "/tools"},
		{Label: "Last sync", When: &synced},
		{Label: "Authentication", Value: credentialName(c)},
		{Label: "Schedule", Value: schedule(c)},
	}
}

// schedule says when a connector is synced by itself.
func schedule(c connectors.Connector) string {
	if !c.Enabled {
		return "off while disabled"
	}
	return every(c.SyncInterval)
}
