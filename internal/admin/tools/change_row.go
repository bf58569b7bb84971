package tools

import (
	"context"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/toolchange"
	"patchbay/web/templates"
)

func changeRow(ctx context.Context, c connectors.ToolChange, now time.Time) templates.ChangeRow {
	return templates.ChangeRow{
		Tool:          ChangedName(ctx, c.Tool),
		Href:          shell.ReviewedPath(c.ConnectorSlug, c.Tool) + "/changes",
		Connector:     c.ConnectorName,
		ConnectorHref: shell.ConnectorPath(c.ConnectorSlug) + "/changes",
		State:         changeState(ctx, c),
		Kinds:         kindBadges(ctx, c.Kinds),
		Reach:         affectedAgents(ctx, c),
		Seen:          shell.NewWhen(ctx, c.SeenAt, now),
		Decided:       decidedBy(ctx, c),
	}
}

// ChangedName names a tool, a skill, or the server's instructions.
func ChangedName(ctx context.Context, tool string) string {
	if tool == connectors.InstructionsTool {
		return i18n.T(ctx, "Server instructions")
	}
	if uri, isSkill := connectors.SkillOfTool(tool); isSkill {
		return i18n.T(ctx, "Skill %s", shell.ShortenText(uri, shell.MaxName))
	}
	return shell.ShortenText(tool, shell.MaxName)
}

// affectedAgents says how many agents a change affects.
func affectedAgents(ctx context.Context, c connectors.ToolChange) string {
	return i18n.T(ctx, "%s · %s in 30 days", i18n.N(ctx, c.Agents, "%s agent", "%s agents"), i18n.N(ctx, c.Calls, "%s call", "%s calls"))
}

func decidedBy(ctx context.Context, c connectors.ToolChange) string {
	if c.DecidedBy == "" {
		return ""
	}
	return i18n.T(ctx, "by %s", c.DecidedBy)
}

// changeState words a decision, or the risk of a change that waits for one.
func changeState(ctx context.Context, c connectors.ToolChange) templates.State {
	switch c.State {
	case connectors.ChangeWaiting:
		return riskState(ctx, c.Risk)
	case connectors.ChangeAccepted:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Accepted")}
	case connectors.ChangeRejected:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Rejected")}
	case connectors.ChangeKept:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Accepted version kept")}
	case connectors.ChangeSuperseded:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Superseded")}
	default:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Applied automatically")}
	}
}

func riskState(ctx context.Context, risk toolchange.Risk) templates.State {
	switch risk {
	case toolchange.High:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "High risk")}
	case toolchange.Low:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Low risk")}
	default:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "No risk")}
	}
}

// kindBadges shows the kinds of differences, most significant first.
func kindBadges(ctx context.Context, kinds []toolchange.Kind) []templates.Badge {
	if len(kinds) == 0 {
		return []templates.Badge{{Text: i18n.T(ctx, "changed"), Title: i18n.T(ctx, "Made before Patchbay recorded kinds of changes. See its page.")}}
	}
	badges := make([]templates.Badge, len(kinds))
	for i, k := range kinds {
		badges[i] = kindBadge(ctx, k)
	}
	return badges
}

func changeName(ctx context.Context, k toolchange.Kind) string {
	return i18n.TranslateKnown(ctx, k.Words())
}

func kindBadge(ctx context.Context, k toolchange.Kind) templates.Badge {
	b := templates.Badge{Text: changeName(ctx, k)}
	switch k {
	case toolchange.HiddenText, toolchange.InstructionLike, toolchange.Shadows:
		b.Kind = templates.BadgeRisk
	default:
		if k.Risk() == toolchange.High {
			b.Kind = templates.BadgeWarn
		}
	}
	b.Title = i18n.Capital(b.Text) + ": " + i18n.T(ctx, riskWords[k.Risk()])
	return b
}

var riskWords = map[toolchange.Risk]i18n.Key{
	toolchange.High: "needs review.", toolchange.Low: "unlikely to mislead agents.", toolchange.None: "doesn't affect models.",
}
