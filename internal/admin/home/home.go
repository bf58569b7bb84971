package home

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// MaxNeedsShown bounds the rows of a kind on the home page.
const MaxNeedsShown = 5

// homeShow is the home page: what needs a person, and figures. The cost of the figures does not depend on the
// amount of data.
func (h *Handler) homeShow(w http.ResponseWriter, r *http.Request) error {
	now := h.Now()
	var needs connectors.Needs
	var f connectors.Figures
	var steps connectors.FirstSteps
	var asked store.List[store.RequestedAccess]
	actor := shell.Actor(r)
	shown := ShowsFirstSteps(actor)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if needs, err = tx.Lists().AttentionItems(r.Context(), MaxNeedsShown); err != nil {
			return err
		}
		if actor.UserID != nil {
			own := store.AccessRequestFilter{Asker: &actor.UserID.UUID, Page: store.Page{Limit: MaxNeedsShown}}
			if asked, err = tx.AccessRequests().List(r.Context(), own); err != nil {
				return err
			}
		}
		if f, err = tx.Calls().Figures(r.Context(), now.Add(-shell.Week-time.Hour)); err != nil || !shown {
			return err
		}
		steps, err = tx.Lists().FirstSteps(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	page := templates.HomePage{Frame: h.NewFrame(r, templates.NavHome, shell.NewCrumb(i18n.T(r.Context(), "Home"), ""))}
	page.Welcome = connectorCount(f) == 0
	page.Needs = NeedsView(r.Context(), h.Shell, needs, page.Frame.Can)
	page.Answers = answersView(r.Context(), h.Shell, asked.Items, now)
	page.Figures = figuresView(r.Context(), &f, shell.FindTimeRange(r.URL.Query().Get("period")), now)
	page.Figures.Resets = page.Frame.Can.Manage
	if shown && !steps.Done() {
		page.Steps = FirstStepsView(r.Context(), steps)
		if page.Welcome { // the page has the ways to begin already
			page.Steps.Steps[0].Text, page.Steps.Steps[0].Actions = "", nil
		}
	}
	page.Frame.Listen = "/events?on=home"
	if page.Steps.Steps != nil {
		page.Frame.Listen += "&steps=shown"
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Home(page))
}

func connectorCount(f connectors.Figures) int {
	n := 0
	for _, of := range f.Connectors {
		n += of
	}
	return n
}

// NeedsView shows what needs a person's attention. Only a role that decides access requests sees them here.
func NeedsView(ctx context.Context, sh *shell.Shell, n connectors.Needs, can templates.Permissions) templates.Needs {
	if !can.Manage {
		n = n.Without(connectors.NeedAccess)
	}
	view := templates.Needs{Asset: web.Asset, Others: !can.Sync}
	if total := n.Total(); total > 0 {
		view.Count = i18n.Number(ctx, total)
	}
	for _, kind := range connectors.NeedKinds {
		list := n.Of(kind)
		if len(list) == 0 {
			continue
		}
		g := needGroup(ctx, kind)
		g.ID, g.Count = "needs-"+string(kind), i18n.Number(ctx, n.Totals[kind])
		for _, one := range list {
			row := needRow(ctx, one, can, sh.Now())
			row.Mark = sh.NamedMark(one.Connector, one.ConnectorSlug, store.ConnectorMark{URL: one.ConnectorURL, IconHash: one.ConnectorIcon})
			g.Rows = append(g.Rows, row)
		}
		view.Groups = append(view.Groups, g)
	}
	return view
}

func needGroup(ctx context.Context, kind connectors.NeedKind) templates.NeedGroup {
	switch kind {
	case connectors.NeedApproval:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Calls waiting for approval"), Icon: "stamp", Kind: templates.StateWarn, All: templates.Link{Text: i18n.T(ctx, "All approvals"), Href: "/approvals"},
		}
	case connectors.NeedAccess:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Access requests"), Icon: "shield-check", Kind: templates.StateWarn,
			All: templates.Link{Text: i18n.T(ctx, "All requests"), Href: "/access/requests"},
		}
	case connectors.NeedAuthorization:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Connectors need authorization"), Icon: "key-round", Kind: templates.StateBad,
			All: templates.Link{Text: i18n.T(ctx, "All connectors"), Href: "/connectors"},
		}
	case connectors.NeedServer:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Failing connectors"), Icon: "circle-alert", Kind: templates.StateBad,
			All: templates.Link{Text: i18n.T(ctx, "All failing"), Href: "/connectors?status=error"},
		}
	case connectors.NeedTools:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Tools missing"), Icon: "wrench", Kind: templates.StateBad,
			All: templates.Link{Text: i18n.T(ctx, "All connectors"), Href: "/connectors"},
		}
	case connectors.NeedRenewal:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Expiring accounts"), Icon: "hourglass", Kind: templates.StateWarn,
			All: templates.Link{Text: i18n.T(ctx, "All connectors"), Href: "/connectors"},
		}
	default:
		return templates.NeedGroup{
			Title: i18n.T(ctx, "Changed tools to review"), Icon: "git-compare", Kind: templates.StateWarn, All: templates.Link{Text: i18n.T(ctx, "All changes"), Href: "/changes"},
		}
	}
}

// needRow is one row, with its action if the person may do it, else with a link.
func needRow(ctx context.Context, n connectors.Need, can templates.Permissions, now time.Time) templates.NeedRow {
	row := templates.NeedRow{Name: n.Connector, When: shell.NewWhen(ctx, n.At, now)}
	view := templates.Link{Text: i18n.T(ctx, "Open"), Href: shell.ConnectorPath(n.ConnectorSlug)}
	choose := func(allowed bool, text, href string) templates.Link {
		if allowed {
			return templates.Link{Text: text, Href: href}
		}
		return view
	}
	switch n.Kind {
	case connectors.NeedApproval:
		view = templates.Link{Text: i18n.T(ctx, "Open call"), Href: "/approvals/" + n.Call.String()}
		row.Name, row.Mono, row.Since = shell.ShortenText(shell.CleanText(n.Tool), shell.MaxName), true, i18n.T(ctx, "asked")
		row.Line = i18n.T(ctx, "%s via %s", n.Agent, n.Connector)
		row.Action = choose(can.Sync, i18n.T(ctx, "Review call"), view.Href)
	case connectors.NeedAccess:
		row.Line, row.Since = i18n.T(ctx, "%s asks for %s", n.Asker, n.Agent), i18n.T(ctx, "asked")
		row.Action = templates.Link{Text: i18n.T(ctx, "Review request"), Href: connectors.AccessRequestPath(n.Request)}
	case connectors.NeedAuthorization:
		row.When = shell.NewSince(ctx, n.At, now)
		row.Line = i18n.TranslateKnown(ctx, n.Reason)
		if row.Line == "" {
			row.Line = i18n.T(ctx, "No working credential.")
		}
		row.Action = choose(can.Manage, authorizeWord(ctx, n), authorizePath(n))
	case connectors.NeedServer:
		row.When = shell.NewSince(ctx, n.At, now)
		row.Line, row.Action = i18n.TranslateKnown(ctx, n.Reason), templates.Link{Text: i18n.T(ctx, "See why"), Href: view.Href}
	case connectors.NeedTools:
		row.When = shell.NewSince(ctx, n.At, now)
		row.Line, row.Action = shell.VanishedText(ctx, n.Vanished), view
	case connectors.NeedRenewal:
		row.Line, row.Since = i18n.T(ctx, "Shared account"), i18n.T(ctx, "ends")
		if n.Agent != "" {
			row.Line = i18n.T(ctx, "%s's account", n.Agent)
		}
		if name := connectors.GivenName(n.Account); name != "" {
			row.Line += " · " + name
		}
		if n.At.Before(now) {
			row.Since = i18n.T(ctx, "expired")
		}
		row.Action = choose(can.Manage, i18n.T(ctx, "Reconnect"), shell.AccountPath(n.ConnectorSlug, n.AgentSlug, n.Account))
	default:
		view = templates.Link{Text: i18n.T(ctx, "Open change"), Href: shell.ReviewedPath(n.ConnectorSlug, n.Tool) + "/changes"}
		row.Name, row.Mono, row.Since = shell.CleanText(toolpages.ChangedName(ctx, n.Tool)), n.Tool != connectors.InstructionsTool, i18n.T(ctx, "seen")
		row.Line = reviewLine(ctx, n)
		row.Action = choose(can.Manage, i18n.T(ctx, "Review change"), view.Href)
	}
	return row
}

func reviewLine(ctx context.Context, n connectors.Need) string {
	risk := i18n.T(ctx, riskNames[n.Risk])
	if n.Again {
		return i18n.T(ctx, "Changed in %s · %s", n.Connector, risk)
	}
	return i18n.T(ctx, "New in %s · %s", n.Connector, risk)
}

var riskNames = map[string]i18n.Key{"high": "high risk", "low": "low risk", "none": "no risk"}

func authorizeWord(ctx context.Context, n connectors.Need) string {
	switch {
	case n.Auth != connectors.AuthOAuth2:
		return i18n.T(ctx, "Set credential")
	case n.Again:
		return i18n.T(ctx, "Reconnect")
	default:
		return i18n.T(ctx, "Connect")
	}
}

func authorizePath(n connectors.Need) string {
	if n.Mode == connectors.CredentialPerAgent {
		return shell.CredentialsPath(n.ConnectorSlug)
	}
	return shell.AccountPath(n.ConnectorSlug, "", "")
}
