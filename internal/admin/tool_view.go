package admin

import (
	"bytes"
	"encoding/json"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// definition is what a page shows of a tool's raw JSON. A field of the wrong type is left out, as the sync does.
type definition struct {
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  annotations
}

// annotations are a server's hints about a tool (MCP 2025-11-25, ToolAnnotations); nil: not said.
type annotations struct {
	Title       string `json:"title"`
	ReadOnly    *bool  `json:"readOnlyHint"`
	Destructive *bool  `json:"destructiveHint"`
	Idempotent  *bool  `json:"idempotentHint"`
	OpenWorld   *bool  `json:"openWorldHint"`
}

func readDefinition(raw []byte) definition {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return definition{}
	}
	var d definition
	_ = json.Unmarshal(fields["title"], &d.Title)
	_ = json.Unmarshal(fields["description"], &d.Description)
	_ = json.Unmarshal(fields["annotations"], &d.Annotations)
	d.InputSchema, d.OutputSchema = fields["inputSchema"], fields["outputSchema"]
	if d.Title == "" {
		d.Title = d.Annotations.Title
	}
	return d
}

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
	d := readDefinition(def.Raw)
	return templates.ToolView{
		Name:        clean(def.Name),
		Title:       clean(d.Title),
		Description: clean(d.Description),
		Badges:      d.Annotations.badges(),
		Params:      params(d.InputSchema),
		Input:       indent(d.InputSchema),
		Output:      indent(d.OutputSchema),
		Raw:         indent(def.Raw),
	}
}

func (a annotations) badges() []templates.Badge {
	var list []templates.Badge
	said := func(hint *bool) bool { return hint != nil && *hint }
	switch {
	case said(a.ReadOnly):
		list = append(list, templates.Badge{Kind: templates.BadgeGood, Text: "read-only", Title: "The server says that it changes nothing."})
	case said(a.Destructive):
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: "destructive", Title: "The server says that it may delete or overwrite."})
	}
	if said(a.Idempotent) {
		list = append(list, templates.Badge{Text: "idempotent", Title: "The server says that doing it twice does no more than once."})
	}
	if said(a.OpenWorld) {
		list = append(list, templates.Badge{Text: "open world", Title: "The server says that it deals with things outside of itself."})
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
