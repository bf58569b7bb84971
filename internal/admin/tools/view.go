package tools

import (
	"context"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// ToolViews shows tools in a list.
func (h *Handler) ToolViews(ctx context.Context, tools []connectors.Tool) []templates.ToolView {
	views := make([]templates.ToolView, len(tools))
	for i, t := range tools {
		views[i] = toolView(ctx, t, ListDetail, h.Now())
	}
	return views
}

// definitionDetail bounds the part of a definition that a page shows. A definition may have 8 MiB, and a
// hundred times that when indented or escaped.
type definitionDetail struct {
	maxText    int             // of the description, in characters
	maxJSON    int             // of a JSON value, in bytes
	followRefs bool            // references within the schema are resolved
	document   *schemaDocument // the input schema, if it is decoded already
}

// The detail of a list, and of a tool's page.
var (
	ListDetail = definitionDetail{maxText: shell.MaxListText, maxJSON: shell.MaxListJSON}
	pageDetail = definitionDetail{maxText: shell.MaxPageText, maxJSON: shell.MaxPageJSON, followRefs: true}
)

func toolView(ctx context.Context, t connectors.Tool, limits definitionDetail, now time.Time) templates.ToolView {
	v := DefinitionView(ctx, t.Definition, limits)
	v.Href = shell.ToolPath(t.ConnectorSlug, t.Name)
	v.Connector = t.ConnectorName
	v.ConnectorHref = shell.ConnectorPath(t.ConnectorSlug)
	v.FirstSeen = shell.NewWhen(ctx, t.FirstSeenAt, now)
	v.Changed = shell.NewWhen(ctx, t.ChangedAt, now)
	v.LastSeen = shell.NewWhen(ctx, t.LastSeenAt, now)
	if v.AgentText = shell.ShortenText(t.AgentText, limits.maxText); t.AgentName() != t.Name {
		v.Alias = t.AgentName()
	}
	if t.RemovedAt != nil {
		removed := shell.NewWhen(ctx, *t.RemovedAt, now)
		v.Removed = &removed
		v.Badges = append(v.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "removed"), Title: i18n.T(ctx, "No longer listed by the server.")})
	}
	if badge, ok := ReviewBadge(ctx, t.Review); ok {
		v.Badges = append(v.Badges, badge)
	}
	v.Badges = append(v.Badges, curationBadges(ctx, t)...)
	return v
}

// curationBadges show a tool's curation.
func curationBadges(ctx context.Context, t connectors.Tool) []templates.Badge {
	var list []templates.Badge
	if !t.Enabled {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "disabled"), Title: i18n.T(ctx, "Disabled by an admin: agents can't use it.")})
	}
	if t.AgentText != "" {
		list = append(list, templates.Badge{Text: i18n.T(ctx, "re-described"), Title: i18n.T(ctx, "Agents read an admin's description instead.")})
	}
	for _, tag := range t.Tags {
		list = append(list, templates.Badge{Text: "#" + tag})
	}
	return list
}

// DefinitionView is a tool that is not stored, as in a connection test.
func DefinitionView(ctx context.Context, def connectors.Definition, limits definitionDetail) templates.ToolView {
	d := connectors.DecodeTool(def.Raw)
	document := limits.document
	if document == nil {
		document = newDocument(d.InputSchema)
	}
	return templates.ToolView{
		Name:        shell.CleanText(def.Name),
		Title:       shell.ShortenText(d.DisplayTitle(), shell.MaxName),
		Description: shell.ShortenText(d.Description, limits.maxText),
		Icon:        FirstIcon(d.Icons),
		Badges:      shell.HintBadges(ctx, d),
		Params:      document.listParams(ctx, limits.followRefs),
		Raw:         shell.IndentJSON(ctx, def.Raw, limits.maxJSON),
	}
}

// ReviewBadge marks a tool with a change that waits for a review.
func ReviewBadge(ctx context.Context, r connectors.Review) (templates.Badge, bool) {
	switch r {
	case connectors.ReviewChanged:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "changed"), Title: i18n.T(ctx, "Changed; agents see the accepted version.")}, true
	case connectors.ReviewNew:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "new"), Title: i18n.T(ctx, "Not available to agents yet.")}, true
	case connectors.ReviewRejected:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "rejected"), Title: i18n.T(ctx, "Not available to agents.")}, true
	case connectors.ReviewKept:
		return templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "earlier version"), Title: i18n.T(ctx, "The server changed it; agents keep the accepted version.")}, true
	default:
		return templates.Badge{}, false
	}
}

// QuarantinedTool shows a malformed tool, with the reason.
func QuarantinedTool(ctx context.Context, q connectors.Quarantined) templates.QuarantinedTool {
	name := i18n.T(ctx, "(no name)")
	if q.Name != nil && *q.Name != "" {
		name = shell.ShortenText(*q.Name, shell.MaxName)
	}
	return templates.QuarantinedTool{Name: name, Reason: i18n.TranslateKnown(ctx, q.Reason), Raw: shell.IndentJSON(ctx, q.Raw, shell.MaxListJSON)}
}
