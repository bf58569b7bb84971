package admin

import (
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web"
	"patchbay/web/templates"
)

// needsShown is how many things of a kind the home page lists; the others stand where they all do.
const needsShown = 5

// home is where a person begins: what needs them, and how things go. Its figures cost the same however much there is.
func (h *Handler) home(w http.ResponseWriter, r *http.Request) error {
	tenant, now := h.tenant(r), h.now()
	needs, err := tenant.Needs(r.Context(), needsShown)
	if err != nil {
		return err
	}
	f, err := tenant.Figures(r.Context(), now.Add(-week-time.Hour))
	if err != nil {
		return err
	}
	page := templates.HomePage{Frame: h.frame(r, templates.NavHome, crumb("Home", ""))}
	page.Welcome = connectorCount(f) == 0
	page.Needs = needsView(needs, page.Frame.Can, now)
	page.Figures = figuresView(&f, stretchOf(r.URL.Query().Get("period")), now)
	page.Frame.Listen = "/events?on=home"
	return h.respond.Page(w, r, http.StatusOK, templates.Home(page))
}

func connectorCount(f connectors.Figures) int {
	n := 0
	for _, of := range f.Connectors {
		n += of
	}
	return n
}

// needsView puts what waits into words, with what this person may do about it.
func needsView(n connectors.Needs, can templates.Can, now time.Time) templates.Needs {
	view := templates.Needs{Asset: web.Asset}
	if total := n.Total(); total > 0 {
		view.Count = number(total)
	}
	for _, kind := range connectors.NeedKinds {
		list := n.Of(kind)
		if len(list) == 0 {
			continue
		}
		g := needGroup(kind)
		g.ID, g.Count = "needs-"+string(kind), number(n.Totals[kind])
		for _, one := range list {
			g.Rows = append(g.Rows, needRow(one, can, now))
		}
		view.Groups = append(view.Groups, g)
	}
	return view
}

func needGroup(kind connectors.NeedKind) templates.NeedGroup {
	switch kind {
	case connectors.NeedApproval:
		return templates.NeedGroup{
			Title: "Calls wait for approval", Icon: "inbox", Kind: templates.StateWarn, All: templates.Link{Text: "All approvals", Href: "/approvals"},
		}
	case connectors.NeedAuthorization:
		return templates.NeedGroup{
			Title: "Connectors need authorization", Icon: "key-round", Kind: templates.StateBad,
			All: templates.Link{Text: "All connectors", Href: "/connectors"},
		}
	case connectors.NeedServer:
		return templates.NeedGroup{
			Title: "Connectors are down", Icon: "circle-alert", Kind: templates.StateBad,
			All: templates.Link{Text: "All that fail", Href: "/connectors?status=error"},
		}
	case connectors.NeedRenewal:
		return templates.NeedGroup{
			Title: "Accounts lapse within 72 hours", Icon: "hourglass", Kind: templates.StateWarn,
			All: templates.Link{Text: "All connectors", Href: "/connectors"},
		}
	default:
		return templates.NeedGroup{
			Title: "Changed tools wait", Icon: "shield-alert", Kind: templates.StateWarn, All: templates.Link{Text: "All changes", Href: "/changes"},
		}
	}
}

// needRow is one thing that waits. Whoever may do nothing about it may look.
func needRow(n connectors.Need, can templates.Can, now time.Time) templates.NeedRow {
	row := templates.NeedRow{Name: n.Connector, When: when(n.At, now), Since: "since"}
	look := templates.Link{Text: "Look", Href: connectorPath(n.ConnectorSlug)}
	choose := func(may bool, text, href string) templates.Link {
		if may {
			return templates.Link{Text: text, Href: href}
		}
		return look
	}
	switch n.Kind {
	case connectors.NeedApproval:
		look.Href = "/approvals/" + n.Call.String()
		row.Name, row.Mono, row.Since = shorten(clean(n.Tool), maxName), true, "asked"
		row.Line = n.Agent + " asks " + n.Connector
		row.Action = choose(can.Sync, "Decide", look.Href)
	case connectors.NeedAuthorization:
		row.Line = n.Reason
		if row.Line == "" {
			row.Line = "No credential is stored that works."
		}
		row.Action = choose(can.Manage, authorizeWord(n), authorizePath(n))
	case connectors.NeedServer:
		row.Line, row.Action = n.Reason, templates.Link{Text: "See why", Href: look.Href}
	case connectors.NeedRenewal:
		row.Line, row.Since = "The account that all agents share", "ends"
		if n.Agent != "" {
			row.Line = "The account of " + n.Agent
		}
		if n.At.Before(now) {
			row.Since = "ended"
		}
		row.Action = choose(can.Manage, "Reconnect", accountPath(n.ConnectorSlug, n.AgentSlug))
	default:
		look.Href = reviewedPath(n.ConnectorSlug, n.Tool) + "/changes"
		row.Name, row.Mono, row.Since = clean(changedName(n.Tool)), n.Tool != connectors.OfInstructions, "seen"
		row.Line = reviewLine(n)
		row.Action = choose(can.Manage, "Review", look.Href)
	}
	return row
}

func reviewLine(n connectors.Need) string {
	what := "New"
	if n.Again {
		what = "Changed"
	}
	return what + " at " + n.Connector + " · " + riskNames[n.Risk]
}

var riskNames = map[string]string{"high": "high risk", "low": "low risk", "none": "no risk"}

func authorizeWord(n connectors.Need) string {
	switch {
	case n.Auth != connectors.AuthOAuth2:
		return "Set credential"
	case n.Again:
		return "Reconnect"
	default:
		return "Connect"
	}
}

func authorizePath(n connectors.Need) string {
	if n.Mode == connectors.CredentialPerAgent {
		return credentialsPath(n.ConnectorSlug)
	}
	return accountPath(n.ConnectorSlug, "")
}
