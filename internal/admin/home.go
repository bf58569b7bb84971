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
	page := templates.HomePage{Frame: h.frame(r, templates.NavHome, crumb(words.T(r.Context(), "Home"), ""))}
	page.Welcome = connectorCount(f) == 0
	page.Needs = needsView(r.Context(), needs, page.Frame.Can, now)
	page.Figures = figuresView(r.Context(), &f, stretchOf(r.URL.Query().Get("period")), now)
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

// needsView puts what waits into words, with what this person may do about it.
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

// needRow is one thing that waits. Whoever may do nothing about it may look.
func needRow(ctx context.Context, n connectors.Need, can templates.Can, now time.Time) templates.NeedRow {
	row := templates.NeedRow{Name: n.Connector, When: when(ctx, n.At, now), Since: words.T(ctx, "since")}
	look := templates.Link{Text: words.T(ctx, "Look"), Href: connectorPath(n.ConnectorSlug)}
	choose := func(may bool, text, href string) templates.Link {
		if may {
			return templates.Link{Text: text, Href: href}
		}
		return look
	}
	switch n.Kind {
	case connectors.NeedApproval:
		look.Href = "/approvals/" + n.Call.String()
		row.Name, row.Mono, row.Since = shorten(clean(n.Tool), maxName), true, words.T(ctx, "asked")
		row.Line = words.T(ctx, "%s asks %s", n.Agent, n.Connector)
		row.Action = choose(can.Sync, words.T(ctx, "Decide"), look.Href)
	case connectors.NeedAuthorization:
		row.Line = words.Said(ctx, n.Reason)
		if row.Line == "" {
			row.Line = words.T(ctx, "No credential is stored that works.")
		}
		row.Action = choose(can.Manage, authorizeWord(ctx, n), authorizePath(n))
	case connectors.NeedServer:
		row.Line, row.Action = words.Said(ctx, n.Reason), templates.Link{Text: words.T(ctx, "See why"), Href: look.Href}
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
		look.Href = reviewedPath(n.ConnectorSlug, n.Tool) + "/changes"
		row.Name, row.Mono, row.Since = clean(changedName(ctx, n.Tool)), n.Tool != connectors.OfInstructions, words.T(ctx, "seen")
		row.Line = reviewLine(ctx, n)
		row.Action = choose(can.Manage, words.T(ctx, "Review"), look.Href)
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
