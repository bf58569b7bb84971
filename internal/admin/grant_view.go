package admin

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// grantTools are the tools to choose among: those that are there, and those that were chosen and are not.
func grantTools(g granting) []templates.GrantTool {
	var tools []templates.GrantTool
	known := map[string]bool{}
	for _, choice := range g.choices {
		known[choice.Name] = true
		tools = append(tools, grantTool(choice, g.grant))
	}
	if len(g.choices) == store.MaxToolChoices {
		return tools
	}
	for _, name := range g.grant.Tools {
		if !known[name] {
			tools = append(tools, templates.GrantTool{
				Name: name, Shown: shorten(name, maxName), Granted: true, Trusted: slices.Contains(g.grant.TrustedTools, name),
				Badges: []templates.Badge{{Kind: templates.BadgeWarn, Text: "not there", Title: "The server has not listed it."}},
			})
		}
	}
	return tools
}

func grantTool(c store.ToolChoice, grant connectors.Grant) templates.GrantTool {
	hints := connectors.DecodeTool(c.Raw)
	t := templates.GrantTool{
		Name:    c.Name,
		Shown:   clean(c.Name),
		Title:   shorten(c.Title, maxName),
		About:   shorten(firstLine(c.Description), maxNote),
		Granted: !grant.AllTools && slices.Contains(grant.Tools, c.Name),
		Trusted: slices.Contains(grant.TrustedTools, c.Name),
	}
	if c.Raw != nil {
		t.Badges = hintBadges(hints)
		t.ReadOnly = hints.Hints.ReadOnly != nil && *hints.Hints.ReadOnly
	}
	if badge, ok := reviewBadge(c.Review); ok {
		t.Badges = append(t.Badges, badge)
	}
	if !c.Enabled {
		t.Badges = append(t.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: "disabled", Title: "Nobody is served it."})
	}
	if c.Removed {
		t.Badges = append(t.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: "removed", Title: "The server does not list it any more."})
	}
	return t
}

// grantCount says how many are chosen.
func grantCount(g connectors.Grant, tools []templates.GrantTool) string {
	if g.AllTools {
		return "all of them"
	}
	chosen := 0
	for _, t := range tools {
		if t.Granted {
			chosen++
		}
	}
	return number(chosen) + " of " + number(len(tools)) + " chosen"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}
