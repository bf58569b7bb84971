package agents

import (
	"context"
	"net/http"
	"net/url"
	"time"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// callsOnOverview is the number of recent calls on an agent's overview.
const callsOnOverview = 5

// agentOverview is what an agent's overview combines.
type agentOverview struct {
	view        *agentview.View
	credentials []store.AgentCredential
	granted     []store.ConnectorReach
	connectors  int               // of which granted has the first
	member      connectors.Member // zero if the agent belongs to the organisation
	tokens      store.List[connectors.AgentToken]
	calls       callpages.MarkedCalls
	allowances  agentAllowances
}

func (h *Handler) loadAgentOverview(r *http.Request, tx *store.Tenant) (o agentOverview, err error) {
	a, err := tx.Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return o, err
	}
	if o.view, err = h.Access.LoadFrom(r.Context(), tx.Agents(), a.ID); err != nil {
		return o, err
	}
	if o.credentials, err = tx.Connectors().AgentCredentials(r.Context(), a.ID); err != nil {
		return o, err
	}
	if o.granted, o.connectors, err = tx.Lists().AgentAccess(r.Context(), a.ID, store.AccessFilter{Access: store.AccessGranted, Window: store.Window{Limit: maxGrants}}); err != nil {
		return o, err
	}
	if o.member, err = tx.Accounts().AgentMember(r.Context(), a.ID); err != nil && !fault.Is(err, fault.NotFound) {
		return o, err
	}
	if o.tokens, err = tx.Agents().Tokens(r.Context(), a.ID, store.Page{Limit: store.MaxLimit}); err != nil {
		return o, err
	}
	if o.allowances, err = loadAllowances(r.Context(), tx, shell.Actor(r), a.ID); err != nil {
		return o, err
	}
	calls, err := h.Calls.CallsIn(r.Context(), tx, shell.Actor(r), store.CallFilter{Agent: &a.ID, Page: store.Page{Limit: callsOnOverview}})
	if err != nil {
		return o, err
	}
	o.calls, err = callpages.ReadMarked(r.Context(), h.Shell, tx, calls)
	return o, err
}

// agentShow shows an agent's overview.
func (h *Handler) agentShow(w http.ResponseWriter, r *http.Request) error {
	var o agentOverview
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		o, err = h.loadAgentOverview(r, tx)
		return err
	})
	if err != nil {
		return err
	}
	a := o.view.Agent
	frame := h.agentFrame(r, a, i18n.T(r.Context(), "Overview"))
	page := templates.AgentPage{
		Frame:       frame,
		Head:        agentHead(r.Context(), a, templates.AgentOverviewTab),
		Attention:   append(agentAttention(r.Context(), a, o.tokens.Items, frame.Can, h.Now()), skillAttention(r.Context(), a, o.view)...),
		Stats:       agentStats(r.Context(), a, len(o.view.Tools), o.connectors, o.tokens.Items, h.Now()),
		Facts:       agentFacts(r.Context(), a, o.member, h.Now()),
		Grants:      h.accessRows(r.Context(), a, o.granted, o.view),
		Allowances:  h.allowanceRows(r.Context(), a, o.allowances),
		Credentials: agentCredentials(r.Context(), a, o.credentials),
		CallsHref:   "/calls?agent=" + url.QueryEscape(a.Slug),
	}
	for _, c := range o.calls.Items {
		page.Calls = append(page.Calls, o.calls.Row(r.Context(), c, templates.Permissions{}, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Agent(page))
}

func (h *Handler) agentFrame(r *http.Request, a connectors.Agent, tab string) templates.Frame {
	f := h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(a.Name, ""))
	f.Title = a.Name + " · " + tab
	return f
}

// agentHead is the head above an agent's tabs.
func agentHead(ctx context.Context, a connectors.Agent, tab templates.AgentTab) templates.AgentHead {
	return templates.AgentHead{
		Slug:        a.Slug,
		Name:        a.Name,
		Initial:     shell.InitialLetter(a.Name),
		Description: a.Description,
		Href:        shell.AgentPath(a.Slug),
		Tab:         tab,
		State:       agentState(ctx, a),
	}
}

// agentAttention lists what prevents an agent from working.
func agentAttention(ctx context.Context, a connectors.Agent, tokens []connectors.AgentToken, can templates.Permissions, now time.Time) []templates.Attention {
	var list []templates.Attention
	add := func(title, text, action, href string) {
		item := templates.Attention{Kind: templates.StateWarn, Title: title, Text: text}
		if can.Manage {
			item.Action = &templates.Link{Text: action, Href: shell.AgentPath(a.Slug) + href}
		}
		list = append(list, item)
	}
	if !a.Enabled {
		add(i18n.T(ctx, "Disabled"), i18n.T(ctx, "All its calls are refused."), i18n.T(ctx, "Enable in settings"), "/settings")
	}
	alive := 0
	for _, t := range tokens {
		if t.ExpiresAt == nil || t.ExpiresAt.After(now) {
			alive++
		}
	}
	if alive == 0 {
		add(i18n.T(ctx, "No token"), i18n.T(ctx, "Nothing can connect as this agent yet."), i18n.T(ctx, "Create token"), "/connect")
	}
	return list
}

// skillAttention says how many skills are over the agent's limit.
func skillAttention(ctx context.Context, a connectors.Agent, view *agentview.View) []templates.Attention {
	over := view.SkillsOverLimit()
	if over == 0 {
		return nil
	}
	return []templates.Attention{{
		Kind: templates.StateWarn, Title: i18n.N(ctx, over, "%s skill isn't served", "%s skills aren't served"),
		Text:   i18n.T(ctx, "An agent gets at most %s skills of %s in all.", i18n.Number(ctx, store.MaxServedSkills), shell.FormatBytes(ctx, store.MaxServedSkillBytes)),
		Action: &templates.Link{Text: i18n.T(ctx, "Open access"), Href: shell.AgentPath(a.Slug) + "/access"},
	}}
}

func agentStats(ctx context.Context, a connectors.Agent, tools, grants int, tokens []connectors.AgentToken, now time.Time) []templates.Stat {
	var last *time.Time
	for _, t := range tokens {
		if t.LastUsedAt != nil && (last == nil || t.LastUsedAt.After(*last)) {
			last = t.LastUsedAt
		}
	}
	lastUsed := shell.NewWhenOrNever(ctx, last, now)
	return []templates.Stat{
		{Label: i18n.T(ctx, "Tools available"), Value: i18n.Number(ctx, tools), Href: shell.AgentPath(a.Slug) + "/tools"},
		{Label: i18n.T(ctx, "Connectors"), Value: i18n.Number(ctx, grants), Href: shell.AgentPath(a.Slug) + "/access"},
		{Label: i18n.T(ctx, "Approval"), Value: shell.ApprovalName(ctx, a.Approval)},
		{Label: i18n.T(ctx, "Last seen"), When: &lastUsed},
	}
}

// agentFacts describes an agent. A zero member means that the agent belongs to the organisation.
func agentFacts(ctx context.Context, a connectors.Agent, member connectors.Member, now time.Time) []templates.Fact {
	created, updated := shell.NewWhen(ctx, a.CreatedAt, now), shell.NewWhen(ctx, a.UpdatedAt, now)
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Slug"), Value: a.Slug, Mono: true, Copy: true},
		{Label: i18n.T(ctx, "ID"), Value: a.ID.String(), Mono: true, Copy: true},
		{Label: i18n.T(ctx, "Name limit"), Value: i18n.N(ctx, a.NameLimit, "%s character", "%s characters")},
	}
	if name := member.DisplayName(); name != "" {
		facts = append([]templates.Fact{{Label: i18n.T(ctx, "Belongs to"), Value: name}}, facts...)
	}
	if a.CallsPerMinute > 0 {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Limit"), Value: i18n.N(ctx, a.CallsPerMinute, "%s call per minute", "%s calls per minute")})
	}
	return append(facts, templates.Fact{Label: i18n.T(ctx, "Added"), When: &created}, templates.Fact{Label: i18n.T(ctx, "Changed"), When: &updated})
}

// agentCredentials lists the connectors for which an agent has a credential.
func agentCredentials(ctx context.Context, a connectors.Agent, credentials []store.AgentCredential) []templates.AgentCredential {
	rows := make([]templates.AgentCredential, len(credentials))
	for i, c := range credentials {
		rows[i] = templates.AgentCredential{
			Connector: c.ConnectorName,
			Account:   connectors.GivenName(c.Name),
			Href:      shell.AccountPath(c.ConnectorSlug, a.Slug, c.Name),
			State:     shell.CredentialState(ctx, c.AuthType, c.Status),
		}
	}
	return rows
}
