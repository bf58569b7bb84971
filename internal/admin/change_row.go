package admin

import (
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolchange"
	"patchbay/web/templates"
)

// changeRow is a change in a list of many tools.
func changeRow(c connectors.ToolChange, now time.Time) templates.ChangeRow {
	return templates.ChangeRow{
		Tool:          changedName(c.Tool),
		Href:          reviewedPath(c.ConnectorSlug, c.Tool) + "/changes",
		Connector:     c.ConnectorName,
		ConnectorHref: connectorPath(c.ConnectorSlug),
		State:         changeState(c),
		Kinds:         kindBadges(c.Kinds),
		Reach:         reachOf(c),
		Seen:          when(c.SeenAt, now),
		Decided:       decidedBy(c),
	}
}

// changedName names what changed.
func changedName(tool string) string {
	if tool == connectors.OfInstructions {
		return "Server instructions"
	}
	return shorten(tool, maxName)
}

// reachOf says whom a change concerns.
func reachOf(c connectors.ToolChange) string {
	return plural(c.Agents, "agent") + " · " + plural(c.Calls, "call") + " in 30 days"
}

func decidedBy(c connectors.ToolChange) string {
	if c.DecidedBy == "" {
		return ""
	}
	return "by " + c.DecidedBy
}

// changeState says what became of a change, and how risky it is as long as nothing did.
func changeState(c connectors.ToolChange) templates.State {
	switch c.State {
	case connectors.ChangeWaiting:
		return riskState(c.Risk)
	case connectors.ChangeAccepted:
		return templates.State{Kind: templates.StateOK, Text: "Accepted"}
	case connectors.ChangeRejected:
		return templates.State{Kind: templates.StateBad, Text: "Rejected"}
	case connectors.ChangeSuperseded:
		return templates.State{Kind: templates.StateOff, Text: "Superseded"}
	default:
		return templates.State{Kind: templates.StateOK, Text: "Taken over"}
	}
}

func riskState(risk toolchange.Risk) templates.State {
	switch risk {
	case toolchange.High:
		return templates.State{Kind: templates.StateBad, Text: "High risk"}
	case toolchange.Low:
		return templates.State{Kind: templates.StateWarn, Text: "Low risk"}
	default:
		return templates.State{Kind: templates.StateOff, Text: "No risk"}
	}
}

// kindBadges say what is different, in the order of what tells most.
func kindBadges(kinds []toolchange.Kind) []templates.Badge {
	if len(kinds) == 0 {
		return []templates.Badge{{Text: "changed", Title: "It waited already when differences began to be kept. Its page shows them."}}
	}
	badges := make([]templates.Badge, len(kinds))
	for i, k := range kinds {
		badges[i] = kindBadge(k)
	}
	return badges
}

func kindBadge(k toolchange.Kind) templates.Badge {
	b := templates.Badge{Text: k.Words()}
	switch k {
	case toolchange.HiddenText, toolchange.InstructionLike, toolchange.Shadows:
		b.Kind = templates.BadgeRisk
	default:
		if k.Risk() == toolchange.High {
			b.Kind = templates.BadgeWarn
		}
	}
	b.Title = strings.ToUpper(b.Text[:1]) + b.Text[1:] + ": " + riskWords[k.Risk()]
	return b
}

var riskWords = map[toolchange.Risk]string{
	toolchange.High: "a person should look.", toolchange.Low: "little that an agent could be led astray by.", toolchange.None: "nothing that a model acts on.",
}
