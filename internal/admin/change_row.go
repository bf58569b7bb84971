package admin

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolchange"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

func changeRow(ctx context.Context, c connectors.ToolChange, now time.Time) templates.ChangeRow {
	return templates.ChangeRow{
		Tool:          changedName(ctx, c.Tool),
		Href:          reviewedPath(c.ConnectorSlug, c.Tool) + "/changes",
		Connector:     c.ConnectorName,
		ConnectorHref: connectorPath(c.ConnectorSlug),
		State:         changeState(ctx, c),
		Kinds:         kindBadges(ctx, c.Kinds),
		Reach:         affectedAgents(ctx, c),
		Seen:          newWhen(ctx, c.SeenAt, now),
		Decided:       decidedBy(ctx, c),
	}
}

// changedName names a tool, or the server's instructions.
func changedName(ctx context.Context, tool string) string {
	if tool == connectors.InstructionsTool {
		return words.T(ctx, "Server instructions")
	}
	return shortenText(tool, maxName)
}

// affectedAgents says how many agents a change affects.
func affectedAgents(ctx context.Context, c connectors.ToolChange) string {
	return words.T(ctx, "%s · %s in 30 days", words.N(ctx, c.Agents, "%s agent", "%s agents"), words.N(ctx, c.Calls, "%s call", "%s calls"))
}

func decidedBy(ctx context.Context, c connectors.ToolChange) string {
	if c.DecidedBy == "" {
		return ""
	}
	return words.T(ctx, "by %s", c.DecidedBy)
}

// changeState words a decision, or the risk of a change that waits for one.
func changeState(ctx context.Context, c connectors.ToolChange) templates.State {
	switch c.State {
	case connectors.ChangeWaiting:
		return riskState(ctx, c.Risk)
	case connectors.ChangeAccepted:
		return templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Accepted")}
	case connectors.ChangeRejected:
		return templates.State{Kind: templates.StateBad, Text: words.T(ctx, "Rejected")}
	case connectors.ChangeSuperseded:
		return templates.State{Kind: templates.StateOff, Text: words.T(ctx, "Superseded")}
	default:
		return templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Taken over")}
	}
}

func riskState(ctx context.Context, risk toolchange.Risk) templates.State {
	switch risk {
	case toolchange.High:
		return templates.State{Kind: templates.StateBad, Text: words.T(ctx, "High risk")}
	case toolchange.Low:
		return templates.State{Kind: templates.StateWarn, Text: words.T(ctx, "Low risk")}
	default:
		return templates.State{Kind: templates.StateOff, Text: words.T(ctx, "No risk")}
	}
}

// kindBadges shows the kinds of differences, most significant first.
func kindBadges(ctx context.Context, kinds []toolchange.Kind) []templates.Badge {
	if len(kinds) == 0 {
		return []templates.Badge{{Text: words.T(ctx, "changed"), Title: words.T(ctx, "It waited already when differences began to be kept. Its page shows them.")}}
	}
	badges := make([]templates.Badge, len(kinds))
	for i, k := range kinds {
		badges[i] = kindBadge(ctx, k)
	}
	return badges
}

func changeName(ctx context.Context, k toolchange.Kind) string { return words.Said(ctx, k.Words()) }

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
	b.Title = words.Capital(b.Text) + ": " + words.T(ctx, riskWords[k.Risk()])
	return b
}

var riskWords = map[toolchange.Risk]words.Key{
	toolchange.High: "a person should look.", toolchange.Low: "little that an agent could be led astray by.", toolchange.None: "nothing that a model acts on.",
}
