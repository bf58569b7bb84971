package connectors

import (
	"context"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// healthLines show whether a connector's server answers, whether it accepts the credential, and how old its
// tools are.
func healthLines(ctx context.Context, c connectors.Connector, can templates.Permissions, now time.Time) []templates.HealthLine {
	h := c.Health(now)
	return []templates.HealthLine{reachLine(ctx, h, c.Clock, now), authLine(ctx, c, h.Authorized, can, now), freshLine(ctx, h.Fresh, now)}
}

func reachLine(ctx context.Context, h connectors.Health, clock connectors.Clock, now time.Time) templates.HealthLine {
	l := templates.HealthLine{Label: i18n.T(ctx, "Server")}
	switch h.Reachable.State {
	case connectors.ReachUp:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", i18n.T(ctx, "Responding")
		if clock.CheckedAt != nil {
			l.Details = []templates.HealthDetail{timeDetail(ctx, i18n.T(ctx, "checked"), *clock.CheckedAt, now)}
		}
	case connectors.ReachFailing:
		l.Kind, l.Icon, l.Text = templates.StateBad, "circle-alert", i18n.T(ctx, "Failing")
		if h.Reachable.Down {
			l.Text = i18n.T(ctx, "Down")
		}
		l.Details = failureDetails(ctx, h, now)
	case connectors.ReachDead:
		l.Kind, l.Icon, l.Text = templates.StateBad, "ban", i18n.T(ctx, "Down for days")
		l.Details = append(failureDetails(ctx, h, now), templates.HealthDetail{Text: i18n.T(ctx, "checked every 6 hours")})
	default:
		l.Kind, l.Icon, l.Text = templates.StateOff, "minus", i18n.T(ctx, "Not checked yet")
		l.Details = []templates.HealthDetail{{Text: i18n.T(ctx, "checked at the next sync")}}
	}
	return l
}

func failureDetails(ctx context.Context, h connectors.Health, now time.Time) []templates.HealthDetail {
	since := shell.NewSince(ctx, *h.Reachable.Since, now)
	list := []templates.HealthDetail{{When: &since}}
	if h.Failures > 1 {
		list = append(list, templates.HealthDetail{Text: i18n.N(ctx, h.Failures, "%s sync in a row", "%s syncs in a row")})
	}
	return list
}

func authLine(ctx context.Context, c connectors.Connector, a connectors.Authorization, can templates.Permissions, now time.Time) templates.HealthLine {
	l := templates.HealthLine{Label: i18n.T(ctx, "Authorization")}
	switch a.State {
	case connectors.AuthStateNone:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", i18n.T(ctx, "Not needed")
	case connectors.AuthStateOK:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", i18n.T(ctx, "Valid")
	case connectors.AuthStateLapses:
		l.Kind, l.Icon, l.Text = templates.StateWarn, "hourglass", i18n.T(ctx, "Expires soon")
		l.Details = []templates.HealthDetail{timeDetail(ctx, i18n.T(ctx, "ends"), *a.Ends, now)}
	default:
		l.Kind, l.Icon, l.Text = templates.StateBad, "key-round", i18n.T(ctx, "Needs attention")
		l.Details = []templates.HealthDetail{{Text: i18n.T(ctx, "credential missing, expired or refused")}}
	}
	// The attention above the figures has the button already.
	if can.Manage && a.Ends != nil || can.Manage && c.LastError == nil && a.State == connectors.AuthStatePerson {
		l.Action = &templates.Link{Text: i18n.T(ctx, "Open credentials"), Href: shell.CredentialsPath(c.Slug)}
	}
	return l
}

func freshLine(ctx context.Context, f connectors.Freshness, now time.Time) templates.HealthLine {
	l := templates.HealthLine{Label: i18n.T(ctx, "Tools")}
	switch f.State {
	case connectors.FreshCurrent:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", i18n.T(ctx, "Up to date")
	case connectors.FreshStale:
		l.Kind, l.Icon, l.Text = templates.StateWarn, "triangle-alert", i18n.T(ctx, "Out of date")
	case connectors.FreshNever:
		l.Kind, l.Icon, l.Text = templates.StateOff, "minus", i18n.T(ctx, "None yet")
	default:
		l.Kind, l.Icon, l.Text = templates.StateOff, "minus", i18n.T(ctx, "Manual sync only")
	}
	if f.AsOf != nil {
		l.Details = append(l.Details, timeDetail(ctx, i18n.T(ctx, "synced"), *f.AsOf, now))
	}
	if f.State == connectors.FreshStale {
		l.Details = append(l.Details, templates.HealthDetail{Text: i18n.T(ctx, "older than two sync intervals")})
	}
	if f.NextSync != nil && f.NextSync.After(now) {
		return withDetail(l, timeDetail(ctx, i18n.T(ctx, "next sync"), *f.NextSync, now))
	}
	if f.NextSync != nil {
		return withDetail(l, templates.HealthDetail{Text: i18n.T(ctx, "next sync due")})
	}
	return withDetail(l, templates.HealthDetail{Text: i18n.T(ctx, "no automatic sync")})
}

func withDetail(l templates.HealthLine, d templates.HealthDetail) templates.HealthLine {
	l.Details = append(l.Details, d)
	return l
}

func timeDetail(ctx context.Context, text string, t, now time.Time) templates.HealthDetail {
	w := shell.NewWhen(ctx, t, now)
	return templates.HealthDetail{Text: text, When: &w}
}

// healthRemarks are a list row's badges besides the state.
func healthRemarks(ctx context.Context, c connectors.Connector, now time.Time) []templates.Badge {
	if !c.Enabled {
		return nil
	}
	var list []templates.Badge
	h := c.Health(now)
	if text := downText(ctx, h.Reachable); text != "" {
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: text, Title: i18n.T(ctx, "First failure %s", shell.FormatRelative(ctx, *h.Reachable.Since, now))})
	}
	if c.Vanished != nil {
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: i18n.T(ctx, "tools missing"), Title: shell.VanishedText(ctx, *c.Vanished)})
	}
	if h.Authorized.State == connectors.AuthStateLapses {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "expires soon"), Title: i18n.T(ctx, "An account expires %s", shell.FormatRelative(ctx, *h.Authorized.Ends, now))})
	}
	if h.Fresh.State == connectors.FreshStale {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "out of date"), Title: i18n.T(ctx, "Tools last synced %s", shell.FormatRelative(ctx, *h.Fresh.AsOf, now))})
	}
	return list
}

// downText is the badge of a connector that is down; empty for others.
func downText(ctx context.Context, r connectors.Reachability) string {
	switch {
	case r.State == connectors.ReachDead:
		return i18n.T(ctx, "down for days")
	case r.Down:
		return i18n.T(ctx, "down")
	}
	return ""
}

// staleToolsAttention says that the tools are those of the last successful sync; nil if they are current.
func staleToolsAttention(ctx context.Context, c connectors.Connector, now time.Time) *templates.Attention {
	h := c.Health(now)
	if h.Fresh.AsOf == nil || !c.Enabled || c.LastError == nil && h.Fresh.State != connectors.FreshStale {
		return nil
	}
	asOf := shell.NewWhen(ctx, *h.Fresh.AsOf, now)
	a := &templates.Attention{
		Kind: templates.StateWarn, Title: i18n.T(ctx, "Tools last synced"), When: &asOf,
		Text: i18n.T(ctx, "Not synced since. Agents keep using these."),
	}
	if c.LastError != nil {
		a.Text = i18n.T(ctx, "The last sync failed. Agents keep using these.")
		a.Action = &templates.Link{Text: i18n.T(ctx, "Open overview"), Href: shell.ConnectorPath(c.Slug)}
	}
	return a
}
