package admin

import (
	"context"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// definitionDetail bounds the part of a definition that a page shows. A definition may have 8 MiB, and a
// hundred times that when indented or escaped.
type definitionDetail struct {
	maxText    int             // of the description, in characters
	maxJSON    int             // of a JSON value, in bytes
	followRefs bool            // references within the schema are resolved
	document   *schemaDocument // the input schema, if it is decoded already
}

var (
	listDetail = definitionDetail{maxText: maxListText, maxJSON: maxListJSON}
	pageDetail = definitionDetail{maxText: maxPageText, maxJSON: maxPageJSON, followRefs: true}
)

func toolView(ctx context.Context, t connectors.Tool, limits definitionDetail, now time.Time) templates.ToolView {
	v := definitionView(ctx, t.Definition, limits)
	v.Href = toolPath(t.ConnectorSlug, t.Name)
	v.Connector = t.ConnectorName
	v.ConnectorHref = connectorPath(t.ConnectorSlug)
	v.FirstSeen = newWhen(ctx, t.FirstSeenAt, now)
	v.Changed = newWhen(ctx, t.ChangedAt, now)
	v.LastSeen = newWhen(ctx, t.LastSeenAt, now)
	if v.AgentText = shortenText(t.AgentText, limits.maxText); t.AgentName() != t.Name {
		v.Alias = t.AgentName()
	}
	if t.RemovedAt != nil {
		removed := newWhen(ctx, *t.RemovedAt, now)
		v.Removed = &removed
		v.Badges = append(v.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "removed"), Title: i18n.T(ctx, "The server does not list it any more.")})
	}
	if badge, ok := reviewBadge(ctx, t.Review); ok {
		v.Badges = append(v.Badges, badge)
	}
	v.Badges = append(v.Badges, curationBadges(ctx, t)...)
	return v
}

// curationBadges show a tool's curation.
func curationBadges(ctx context.Context, t connectors.Tool) []templates.Badge {
	var list []templates.Badge
	if !t.Enabled {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "disabled"), Title: i18n.T(ctx, "An admin switched it off: agents neither see nor call it.")})
	}
	if t.AgentText != "" {
		list = append(list, templates.Badge{Text: i18n.T(ctx, "re-described"), Title: i18n.T(ctx, "Agents read an admin’s description in place of the server’s.")})
	}
	for _, tag := range t.Tags {
		list = append(list, templates.Badge{Text: "#" + tag})
	}
	return list
}

// definitionView is a tool that is not stored, as in a connection test.
func definitionView(ctx context.Context, def connectors.Definition, limits definitionDetail) templates.ToolView {
	d := connectors.DecodeTool(def.Raw)
	document := limits.document
	if document == nil {
		document = newDocument(d.InputSchema)
	}
	return templates.ToolView{
		Name:        cleanText(def.Name),
		Title:       shortenText(d.DisplayTitle(), maxName),
		Description: shortenText(d.Description, limits.maxText),
		Icon:        firstIcon(d.Icons),
		Badges:      hintBadges(ctx, d),
		Params:      document.listParams(ctx, limits.followRefs),
		Raw:         indentJSON(ctx, def.Raw, limits.maxJSON),
	}
}

// hintBadges show a tool's annotations, and what could not be parsed.
func hintBadges(ctx context.Context, d connectors.ToolView) []templates.Badge {
	var list []templates.Badge
	isTrue := func(hint *bool) bool { return hint != nil && *hint }
	switch {
	case isTrue(d.Hints.ReadOnly):
		list = append(list, templates.Badge{Kind: templates.BadgeGood, Text: i18n.T(ctx, "read-only"), Title: i18n.T(ctx, "The server says that it changes nothing.")})
	case isTrue(d.Hints.Destructive):
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: i18n.T(ctx, "destructive"), Title: i18n.T(ctx, "The server says that it may delete or overwrite.")})
	}
	if isTrue(d.Hints.Idempotent) {
		list = append(list, templates.Badge{Text: i18n.T(ctx, "idempotent"), Title: i18n.T(ctx, "The server says that doing it twice does no more than once.")})
	}
	if isTrue(d.Hints.OpenWorld) {
		list = append(list, templates.Badge{Text: i18n.T(ctx, "open world"), Title: i18n.T(ctx, "The server says that it deals with things outside of itself.")})
	}
	if len(d.Notes) > 0 {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.N(ctx, len(d.Notes), "%s odd field", "%s odd fields"), Title: strings.Join(translateAll(ctx, d.Notes), " ")})
	}
	return list
}

func reviewBadge(ctx context.Context, r connectors.Review) (templates.Badge, bool) {
	switch r {
	case connectors.ReviewChanged:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "changed"), Title: i18n.T(ctx, "Its definition changed; agents are served the accepted one.")}, true
	case connectors.ReviewNew:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "new"), Title: i18n.T(ctx, "It is not served to agents yet.")}, true
	case connectors.ReviewRejected:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "rejected"), Title: i18n.T(ctx, "It is not served to agents.")}, true
	default:
		return templates.Badge{}, false
	}
}

func quarantinedTool(ctx context.Context, q connectors.Quarantined) templates.QuarantinedTool {
	name := i18n.T(ctx, "(no name)")
	if q.Name != nil && *q.Name != "" {
		name = shortenText(*q.Name, maxName)
	}
	return templates.QuarantinedTool{Name: name, Reason: i18n.TranslateKnown(ctx, q.Reason), Raw: indentJSON(ctx, q.Raw, maxListJSON)}
}
