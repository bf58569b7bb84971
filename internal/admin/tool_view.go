package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// detail is how much of a definition a page shows. A definition comes from a remote server and may have 8 MiB, laid out or
// escaped a hundred times as much: a page of such ones must not take the memory of the machine.
type detail struct {
	text int  // of the description, in characters
	json int  // of a piece of JSON, in bytes
	refs bool // references within the schema are followed
}

var (
	inList = detail{text: 2_000, json: 16 << 10}
	onPage = detail{text: 50_000, json: 128 << 10, refs: true}
)

// toolView is a tool with what pages show of it.
func toolView(ctx context.Context, t connectors.Tool, much detail, now time.Time) templates.ToolView {
	v := definitionView(ctx, t.Definition, much)
	v.Href = toolPath(t.ConnectorSlug, t.Name)
	v.Connector = t.ConnectorName
	v.ConnectorHref = connectorPath(t.ConnectorSlug)
	v.FirstSeen = when(ctx, t.FirstSeenAt, now)
	v.Changed = when(ctx, t.ChangedAt, now)
	v.LastSeen = when(ctx, t.LastSeenAt, now)
	if v.AgentText = shorten(t.AgentText, much.text); t.AgentName() != t.Name {
		v.Alias = t.AgentName()
	}
	if t.RemovedAt != nil {
		removed := when(ctx, *t.RemovedAt, now)
		v.Removed = &removed
		v.Badges = append(v.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: words.T(ctx, "removed"), Title: words.T(ctx, "The server does not list it any more.")})
	}
	if badge, ok := reviewBadge(ctx, t.Review); ok {
		v.Badges = append(v.Badges, badge)
	}
	v.Badges = append(v.Badges, curationBadges(ctx, t)...)
	return v
}

// curationBadges show what an admin says of a tool.
func curationBadges(ctx context.Context, t connectors.Tool) []templates.Badge {
	var list []templates.Badge
	if !t.Enabled {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: words.T(ctx, "disabled"), Title: words.T(ctx, "An admin switched it off: agents neither see nor call it.")})
	}
	if t.AgentText != "" {
		list = append(list, templates.Badge{Text: words.T(ctx, "re-described"), Title: words.T(ctx, "Agents read an admin’s description in place of the server’s.")})
	}
	for _, tag := range t.Tags {
		list = append(list, templates.Badge{Text: "#" + tag})
	}
	return list
}

// definitionView is a tool that is not stored, as a test of a connection finds it.
func definitionView(ctx context.Context, def connectors.Definition, much detail) templates.ToolView {
	d := connectors.DecodeTool(def.Raw)
	return templates.ToolView{
		Name:        clean(def.Name),
		Title:       shorten(d.DisplayTitle(), maxName),
		Description: shorten(d.Description, much.text),
		Icon:        iconOf(d.Icons),
		Badges:      hintBadges(ctx, d),
		Params:      params(ctx, d.InputSchema, much.refs),
		Raw:         indent(ctx, def.Raw, much.json),
	}
}

// hintBadges show what a server says of a tool's effects, and what of the tool could not be read.
func hintBadges(ctx context.Context, d connectors.ToolView) []templates.Badge {
	var list []templates.Badge
	said := func(hint *bool) bool { return hint != nil && *hint }
	switch {
	case said(d.Hints.ReadOnly):
		list = append(list, templates.Badge{Kind: templates.BadgeGood, Text: words.T(ctx, "read-only"), Title: words.T(ctx, "The server says that it changes nothing.")})
	case said(d.Hints.Destructive):
		list = append(list, templates.Badge{Kind: templates.BadgeRisk, Text: words.T(ctx, "destructive"), Title: words.T(ctx, "The server says that it may delete or overwrite.")})
	}
	if said(d.Hints.Idempotent) {
		list = append(list, templates.Badge{Text: words.T(ctx, "idempotent"), Title: words.T(ctx, "The server says that doing it twice does no more than once.")})
	}
	if said(d.Hints.OpenWorld) {
		list = append(list, templates.Badge{Text: words.T(ctx, "open world"), Title: words.T(ctx, "The server says that it deals with things outside of itself.")})
	}
	if len(d.Notes) > 0 {
		list = append(list, templates.Badge{Kind: templates.BadgeWarn, Text: words.N(ctx, len(d.Notes), "%s odd field", "%s odd fields"), Title: strings.Join(allSaid(ctx, d.Notes), " ")})
	}
	return list
}

func reviewBadge(ctx context.Context, r connectors.Review) (templates.Badge, bool) {
	switch r {
	case connectors.ReviewChanged:
		return templates.Badge{Kind: templates.BadgeWarn, Text: words.T(ctx, "changed"), Title: words.T(ctx, "Its definition changed; agents are served the accepted one.")}, true
	case connectors.ReviewNew:
		return templates.Badge{Kind: templates.BadgeWarn, Text: words.T(ctx, "new"), Title: words.T(ctx, "It is not served to agents yet.")}, true
	case connectors.ReviewRejected:
		return templates.Badge{Kind: templates.BadgeWarn, Text: words.T(ctx, "rejected"), Title: words.T(ctx, "It is not served to agents.")}, true
	default:
		return templates.Badge{}, false
	}
}

func quarantinedTool(ctx context.Context, q connectors.Quarantined) templates.QuarantinedTool {
	name := words.T(ctx, "(no name)")
	if q.Name != nil && *q.Name != "" {
		name = shorten(*q.Name, maxName)
	}
	return templates.QuarantinedTool{Name: name, Reason: words.Said(ctx, q.Reason), Raw: indent(ctx, q.Raw, inList.json)}
}

// indent lays JSON out over lines; key order and the spelling of numbers stay. Of more than most bytes it shows the beginning,
// and says so. What would be mostly blanks when laid out, as a deep list, stays as it came.
func indent(ctx context.Context, raw []byte, most int) string {
	if len(raw) > most {
		return clean(string(raw[:most])) + words.T(ctx, "\n… the first %d of %s KiB; the API gives all of it.", most>>10, words.Number(ctx, len(raw)>>10))
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil || out.Len() > 4*most {
		return clean(string(raw))
	}
	return clean(out.String())
}
