package admin

import (
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// healthLines say how a connector is: whether its server answers, whether it lets us in, how old its tools are.
func healthLines(c connectors.Connector, can templates.Can, now time.Time) []templates.HealthLine {
	h := c.Health(now)
	return []templates.HealthLine{reachLine(h, c.Clock, now), authLine(c, h.Authorized, can, now), freshLine(h.Fresh, now)}
}

func reachLine(h connectors.Health, clock connectors.Clock, now time.Time) templates.HealthLine {
	l := templates.HealthLine{Label: "Server"}
	switch h.Reachable.State {
	case connectors.ReachUp:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", "Answers"
		if clock.CheckedAt != nil {
			l.Details = []templates.HealthDetail{at("last asked", *clock.CheckedAt, now)}
		}
	case connectors.ReachFailing:
		l.Kind, l.Icon, l.Text = templates.StateBad, "circle-alert", "Fails"
		l.Details = failures(h, now)
	case connectors.ReachDead:
		l.Kind, l.Icon, l.Text = templates.StateBad, "ban", "Down for days"
		l.Details = append(failures(h, now), templates.HealthDetail{Text: "asked every 6 hours until it answers"})
	default:
		l.Kind, l.Icon, l.Text = templates.StateOff, "minus", "Not known yet"
		l.Details = []templates.HealthDetail{{Text: "the next sync asks it"}}
	}
	return l
}

func failures(h connectors.Health, now time.Time) []templates.HealthDetail {
	list := []templates.HealthDetail{at("since", *h.Reachable.Since, now)}
	if h.Failures > 1 {
		list = append(list, templates.HealthDetail{Text: plural(h.Failures, "sync") + " in a row"})
	}
	return list
}

func authLine(c connectors.Connector, a connectors.Authorization, can templates.Can, now time.Time) templates.HealthLine {
	l := templates.HealthLine{Label: "Authorization"}
	switch a.State {
	case connectors.AuthStateNone:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", "Not needed"
	case connectors.AuthStateOK:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", "In order"
	case connectors.AuthStateLapses:
		l.Kind, l.Icon, l.Text = templates.StateWarn, "hourglass", "Lapses soon"
		l.Details = []templates.HealthDetail{at("ends", *a.Ends, now)}
	default:
		l.Kind, l.Icon, l.Text = templates.StateBad, "key-round", "Needs a person"
		l.Details = []templates.HealthDetail{{Text: "a credential is missing, has ended, or was refused"}}
	}
	// What is said above the figures has its button there.
	if can.Manage && a.Ends != nil || can.Manage && c.LastError == nil && a.State == connectors.AuthStatePerson {
		l.Action = &templates.Link{Text: "Open the credentials", Href: credentialsPath(c.Slug)}
	}
	return l
}

func freshLine(f connectors.Freshness, now time.Time) templates.HealthLine {
	l := templates.HealthLine{Label: "Tools"}
	switch f.State {
	case connectors.FreshCurrent:
		l.Kind, l.Icon, l.Text = templates.StateOK, "circle-check", "Up to date"
	case connectors.FreshStale:
		l.Kind, l.Icon, l.Text = templates.StateWarn, "triangle-alert", "Out of date"
	case connectors.FreshNever:
		l.Kind, l.Icon, l.Text = templates.StateOff, "minus", "None yet"
	default:
		l.Kind, l.Icon, l.Text = templates.StateOff, "minus", "Read by hand only"
	}
	if f.AsOf != nil {
		l.Details = append(l.Details, at("as of", *f.AsOf, now))
	}
	if f.State == connectors.FreshStale {
		l.Details = append(l.Details, templates.HealthDetail{Text: "older than two intervals, still served"})
	}
	if f.NextSync != nil && f.NextSync.After(now) {
		return withDetail(l, at("next sync", *f.NextSync, now))
	}
	if f.NextSync != nil {
		return withDetail(l, templates.HealthDetail{Text: "the next sync is due"})
	}
	return withDetail(l, templates.HealthDetail{Text: "no next sync by itself"})
}

func withDetail(l templates.HealthLine, d templates.HealthDetail) templates.HealthLine {
	l.Details = append(l.Details, d)
	return l
}

func at(text string, t, now time.Time) templates.HealthDetail {
	w := when(t, now)
	return templates.HealthDetail{Text: text, When: &w}
}

// healthRemarks are what a row of the list says besides the state's word.
func healthRemarks(c connectors.Connector, now time.Time) []templates.Badge {
	if !c.Enabled {
		return nil
	}
	var list []templates.Badge
	h := c.Health(now)
	if h.Reachable.State == connectors.ReachDead {
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: "down for days", Title: "First failure " + relative(*h.Reachable.Since, now)})
	}
	if h.Authorized.State == connectors.AuthStateLapses {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: "lapses soon", Title: "An account ends " + relative(*h.Authorized.Ends, now)})
	}
	if h.Fresh.State == connectors.FreshStale {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: "out of date", Title: "Its tools are as of " + relative(*h.Fresh.AsOf, now)})
	}
	return list
}

// oldTools says that a list of tools is the last that arrived, where the server was not read since; nil: it is the server's.
func oldTools(c connectors.Connector, now time.Time) *templates.Attention {
	h := c.Health(now)
	if h.Fresh.AsOf == nil || !c.Enabled || c.LastError == nil && h.Fresh.State != connectors.FreshStale {
		return nil
	}
	as := when(*h.Fresh.AsOf, now)
	a := &templates.Attention{
		Kind: templates.StateWarn, Title: "The last tools that arrived", When: &as,
		Text: "The server has not been read since. Agents go on with these.",
	}
	if c.LastError != nil {
		a.Text = "The last sync failed. Agents go on with these, and the overview says why."
		a.Action = &templates.Link{Text: "Open the overview", Href: connectorPath(c.Slug)}
	}
	return a
}
