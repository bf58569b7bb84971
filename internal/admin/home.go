package admin

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// maxNeedsShown bounds the rows of a kind on the home page.
const maxNeedsShown = 5

// homeShow is the home page: what needs a person, and figures. The cost of the figures does not depend on the
// amount of data.
func (h *Handler) homeShow(w http.ResponseWriter, r *http.Request) error {
	tenant, now := h.tenantStore(r), h.now()
	needs, err := tenant.Needs(r.Context(), maxNeedsShown)
	if err != nil {
		return err
	}
	f, err := tenant.Figures(r.Context(), now.Add(-week-time.Hour))
	if err != nil {
		return err
	}
	page := templates.HomePage{Frame: h.newFrame(r, templates.NavHome, newCrumb(words.T(r.Context(), "Home"), ""))}
	page.Welcome = connectorCount(f) == 0
	page.Needs = needsView(r.Context(), needs, page.Frame.Can, now)
	page.Figures = figuresView(r.Context(), &f, findTimeRange(r.URL.Query().Get("period")), now)
	page.Figures.Resets = page.Frame.Can.Manage
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

func needsView(ctx context.Context, n connectors.Needs, can templates.Can, now time.Time) templates.Needs {
	view := templates.Needs{Asset: web.Asset}
	if total := n.Total(); total > 0 {
		view.Count = words.Number(ctx, total)
	}
	for _, kind := range connectors.NeedKinds {
		list := n.Of(kind)
		if len(list) == 0 {
			continue
		}
		g := needGroup(ctx, kind)
		g.ID, g.Count = "needs-"+string(kind), words.Number(ctx, n.Totals[kind])
		for _, one := range list {
			g.Rows = append(g.Rows, needRow(ctx, one, can, now))
		}
		view.Groups = append(view.Groups, g)
	}
	return view
}

func needGroup(ctx context.Context, kind connectors.NeedKind) templates.NeedGroup {
	switch kind {
	case connectors.NeedApproval:
		return templates.NeedGroup{
			Title: words.T(ctx, "Calls wait for approval"), Icon: "inbox", Kind: templates.StateWarn, All: templates.Link{Text: words.T(ctx, "All approvals"), Href: "/approvals"},
		}
	case connectors.NeedAuthorization:
		return templates.NeedGroup{
			Title: words.T(ctx, "Connectors need authorization"), Icon: "key-round", Kind: templates.StateBad,
			All: templates.Link{Text: words.T(ctx, "All connectors"), Href: "/connectors"},
		}
	case connectors.NeedServer:
		return templates.NeedGroup{
			Title: words.T(ctx, "Connectors are down"), Icon: "circle-alert", Kind: templates.StateBad,
			All: templates.Link{Text: words.T(ctx, "All that fail"), Href: "/connectors?status=error"},
		}
	case connectors.NeedRenewal:
		return templates.NeedGroup{
			Title: words.T(ctx, "Accounts lapse within 72 hours"), Icon: "hourglass", Kind: templates.StateWarn,
			All: templates.Link{Text: words.T(ctx, "All connectors"), Href: "/connectors"},
		}
	default:
		return templates.NeedGroup{
			Title: words.T(ctx, "Changed tools wait"), Icon: "shield-alert", Kind: templates.StateWarn, All: templates.Link{Text: words.T(ctx, "All changes"), Href: "/changes"},
		}
	}
}

// needRow is one row, with its action if the person may do it, else with a link.
func needRow(ctx context.Context, n connectors.Need, can templates.Can, now time.Time) templates.NeedRow {
	row := templates.NeedRow{Name: n.Connector, When: newWhen(ctx, n.At, now), Since: words.T(ctx, "since")}
	view := templates.Link{Text: words.T(ctx, "Look"), Href: connectorPath(n.ConnectorSlug)}
	choose := func(allowed bool, text, href string) templates.Link {
		if allowed {
			return templates.Link{Text: text, Href: href}
		}
		return view
	}
	switch n.Kind {
	case connectors.NeedApproval:
		view.Href = "/approvals/" + n.Call.String()
		row.Name, row.Mono, row.Since = shortenText(cleanText(n.Tool), maxName), true, words.T(ctx, "asked")
		row.Line = words.T(ctx, "%s asks %s", n.Agent, n.Connector)
		row.Action = choose(can.Sync, words.T(ctx, "Decide"), view.Href)
	case connectors.NeedAuthorization:
		row.Line = words.Said(ctx, n.Reason)
		if row.Line == "" {
			row.Line = words.T(ctx, "No credential is stored that works.")
		}
		row.Action = choose(can.Manage, authorizeWord(ctx, n), authorizePath(n))
	case connectors.NeedServer:
		row.Line, row.Action = words.Said(ctx, n.Reason), templates.Link{Text: words.T(ctx, "See why"), Href: view.Href}
	case connectors.NeedRenewal:
		row.Line, row.Since = words.T(ctx, "The account that all agents share"), words.T(ctx, "ends")
		if n.Agent != "" {
			row.Line = words.T(ctx, "The account of %s", n.Agent)
		}
		if n.At.Before(now) {
			row.Since = words.T(ctx, "ended")
		}
		row.Action = choose(can.Manage, words.T(ctx, "Reconnect"), accountPath(n.ConnectorSlug, n.AgentSlug))
	default:
		view.Href = reviewedPath(n.ConnectorSlug, n.Tool) + "/changes"
		row.Name, row.Mono, row.Since = cleanText(changedName(ctx, n.Tool)), n.Tool != connectors.InstructionsTool, words.T(ctx, "seen")
		row.Line = reviewLine(ctx, n)
		row.Action = choose(can.Manage, words.T(ctx, "Review"), view.Href)
	}
	return row
}

func reviewLine(ctx context.Context, n connectors.Need) string {
	risk := words.T(ctx, riskNames[n.Risk])
	if n.Again {
		return words.T(ctx, "Changed at %s · %s", n.Connector, risk)
	}
	return words.T(ctx, "New at %s · %s", n.Connector, risk)
}

var riskNames = map[string]words.Key{"high": "high risk", "low": "low risk", "none": "no risk"}

func authorizeWord(ctx context.Context, n connectors.Need) string {
	switch {
	case n.Auth != connectors.AuthOAuth2:
		return words.T(ctx, "Set credential")
	case n.Again:
		return words.T(ctx, "Reconnect")
	default:
		return words.T(ctx, "Connect")
	}
}

func authorizePath(n connectors.Need) string {
	if n.Mode == connectors.CredentialPerAgent {
		return credentialsPath(n.ConnectorSlug)
	}
	return accountPath(n.ConnectorSlug, "")
}
