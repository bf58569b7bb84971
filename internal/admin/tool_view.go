package admin

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// toolView is a tool with all that pages show of it.
func toolView(t connectors.Tool, now time.Time) templates.ToolView {
	v := definitionView(t.Definition)
	v.Href = toolPath(t.ConnectorSlug, t.Name)
	v.Connector = t.ConnectorName
	v.ConnectorHref = connectorPath(t.ConnectorSlug)
	v.FirstSeen = when(t.FirstSeenAt, now)
	v.Changed = when(t.ChangedAt, now)
	v.LastSeen = when(t.LastSeenAt, now)
	if t.RemovedAt != nil {
		removed := when(*t.RemovedAt, now)
		v.Removed = &removed
		v.Badges = append(v.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: "removed", Title: "The server does not list it any more."})
	}
	if badge, ok := reviewBadge(t.Review); ok {
		v.Badges = append(v.Badges, badge)
	}
	return v
}

// definitionView is a tool that is not stored, as a test of a connection finds it.
func definitionView(def connectors.Definition) templates.ToolView {
	d := connectors.DecodeTool(def.Raw)
	return templates.ToolView{
		Name:        clean(def.Name),
		Title:       clean(d.DisplayTitle()),
		Description: clean(d.Description),
		Badges:      hintBadges(d),
		Params:      params(d.InputSchema),
		Input:       indent(d.InputSchema),
		Output:      indent(d.OutputSchema),
		Raw:         indent(def.Raw),
	}
}

// hintBadges show what a server says of a tool's effects, and what of the tool could not be read.
func hintBadges(d connectors.ToolView) []templates.Badge {
	var list []templates.Badge
	said := func(hint *bool) bool { return hint != nil && *hint }
	switch {
	case said(d.Hints.ReadOnly):
		list = append(list, templates.Badge{Kind: templates.BadgeGood, Text: "read-only", Title: "The server says that it changes nothing."})
	case said(d.Hints.Destructive):
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: "destructive", Title: "The server says that it may delete or overwrite."})
	}
	if said(d.Hints.Idempotent) {
		list = append(list, templates.Badge{Text: "idempotent", Title: "The server says that doing it twice does no more than once."})
	}
	if said(d.Hints.OpenWorld) {
		list = append(list, templates.Badge{Text: "open world", Title: "The server says that it deals with things outside of itself."})
	}
	if len(d.Notes) > 0 {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: plural(len(d.Notes), "odd field"), Title: strings.Join(d.Notes, " ")})
	}
	return list
}

func reviewBadge(r connectors.Review) (templates.Badge, bool) {
	switch r {
	case connectors.ReviewChanged:
		return templates.Badge{Kind: templates.BadgeWarn, Text: "changed", Title: "Its definition changed; agents are served the accepted one."}, true
	case connectors.ReviewNew:
		return templates.Badge{Kind: templates.BadgeWarn, Text: "new", Title: "It is not served to agents yet."}, true
	case connectors.ReviewRejected:
		return templates.Badge{Kind: templates.BadgeWarn, Text: "rejected", Title: "It is not served to agents."}, true
	default:
		return templates.Badge{}, false
	}
}

func quarantinedTool(q connectors.Quarantined) templates.QuarantinedTool {
	name := "(no name)"
	if q.Name != nil && *q.Name != "" {
		name = clean(*q.Name)
	}
	return templates.QuarantinedTool{Name: name, Reason: q.Reason, Raw: indent(q.Raw)}
}

// indent lays JSON out over lines; key order and the spelling of numbers stay.
func indent(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return clean(string(raw))
	}
	return clean(out.String())
}
