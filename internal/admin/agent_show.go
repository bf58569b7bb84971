package admin

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// callsOnOverview is how many of its last calls an agent's overview shows.
const callsOnOverview = 5

// agentShow says how an agent is.
func (h *Handler) agentShow(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenant(r)
	view, err := h.access.Fresh(r.Context(), actor(r).Tenant.ID, ref(r, "id"))
	if err != nil {
		return err
	}
	a := view.Agent
	held, err := tenant.AgentCredentials(r.Context(), a.ID)
	if err != nil {
		return err
	}
	granted, err := tenant.AgentGrants(r.Context(), a.ID, store.Page{Limit: maxGrants})
	if err != nil {
		return err
	}
	member, err := tenant.AgentMember(r.Context(), a.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	tokens, err := tenant.AgentTokens(r.Context(), a.ID, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return err
	}
	calls, err := h.calls.Calls(r.Context(), actor(r), store.CallFilter{Agent: &a.ID, Page: store.Page{Limit: callsOnOverview}})
	if err != nil {
		return err
	}
	frame := h.agentFrame(r, a, words.T(r.Context(), "Overview"))
	page := templates.AgentPage{
		Frame:       frame,
		Head:        agentHead(r.Context(), a, templates.AgentOverviewTab),
		Attention:   agentAttention(r.Context(), a, tokens.Items, frame.Can, h.now()),
		Stats:       agentStats(r.Context(), a, len(view.Tools), len(granted.Items), tokens.Items, h.now()),
		Facts:       agentFacts(r.Context(), a, member, h.now()),
		Grants:      grantRows(r.Context(), a, granted.Items, view),
		Credentials: agentCredentials(r.Context(), a, held),
		CallsHref:   "/calls?agent=" + url.QueryEscape(a.Slug),
	}
	for _, c := range calls.Items {
		page.Calls = append(page.Calls, callRow(r.Context(), c, templates.Can{}, h.now()))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Agent(page))
}

// agentFrame is the frame of an agent's tab.
func (h *Handler) agentFrame(r *http.Request, a connectors.Agent, tab string) templates.Frame {
	f := h.frame(r, templates.NavAgents, crumb(words.T(r.Context(), "Agents"), "/agents"), crumb(a.Name, ""))
	f.Title = a.Name + " · " + tab
	return f
}

// agentHead stands above the tabs of an agent.
func agentHead(ctx context.Context, a connectors.Agent, tab templates.AgentTab) templates.AgentHead {
	return templates.AgentHead{
		Slug:        a.Slug,
		Name:        a.Name,
		Initial:     initial(a.Name),
		Description: a.Description,
		Href:        agentPath(a.Slug),
		Tab:         tab,
		State:       agentState(ctx, a),
	}
}

// agentAttention is what keeps an agent from its work.
func agentAttention(ctx context.Context, a connectors.Agent, tokens []connectors.AgentToken, can templates.Can, now time.Time) []templates.Attention {
	var list []templates.Attention
	add := func(title, text, action, href string) {
		item := templates.Attention{Kind: templates.StateWarn, Title: title, Text: text}
		if can.Manage {
			item.Action = &templates.Link{Text: action, Href: agentPath(a.Slug) + href}
		}
		list = append(list, item)
	}
	if !a.Enabled {
		add(words.T(ctx, "Disabled"), words.T(ctx, "It is refused, whatever token it has."), words.T(ctx, "Enable it in the settings"), "/settings")
	}
	alive := 0
	for _, t := range tokens {
		if t.ExpiresAt == nil || t.ExpiresAt.After(now) {
			alive++
		}
	}
	if alive == 0 {
		add(words.T(ctx, "No token"), words.T(ctx, "No program can come to the gateway as this agent."), words.T(ctx, "Make a token"), "/connect")
	}
	return list
}

// agentStats are the figures of one agent.
func agentStats(ctx context.Context, a connectors.Agent, tools, grants int, tokens []connectors.AgentToken, now time.Time) []templates.Stat {
	var last *time.Time
	for _, t := range tokens {
		if t.LastUsedAt != nil && (last == nil || t.LastUsedAt.After(*last)) {
			last = t.LastUsedAt
		}
	}
	seen := whenOrNever(ctx, last, now)
	return []templates.Stat{
		{Label: words.T(ctx, "Tools that it sees"), Value: words.Number(ctx, tools), Href: agentPath(a.Slug) + "/tools"},
		{Label: words.T(ctx, "Connectors"), Value: words.Number(ctx, grants), Href: agentPath(a.Slug) + "/access"},
		{Label: words.T(ctx, "Approval"), Value: approvalName(ctx, a.Approval)},
		{Label: words.T(ctx, "Last seen"), When: &seen},
	}
}

// agentFacts are what is known of an agent. member: whose it is; the zero value: the organisation's.
func agentFacts(ctx context.Context, a connectors.Agent, member connectors.Member, now time.Time) []templates.Fact {
	created, updated := when(ctx, a.CreatedAt, now), when(ctx, a.UpdatedAt, now)
	facts := []templates.Fact{
		{Label: words.T(ctx, "Slug"), Value: a.Slug, Mono: true, Copy: true},
		{Label: words.T(ctx, "ID"), Value: a.ID.String(), Mono: true, Copy: true},
		{Label: words.T(ctx, "Longest name"), Value: words.N(ctx, a.NameLimit, "%s character", "%s characters")},
	}
	if name := member.DisplayName(); name != "" {
		facts = append([]templates.Fact{{Label: words.T(ctx, "Belongs to"), Value: name}}, facts...)
	}
	if a.CallsPerMinute > 0 {
		facts = append(facts, templates.Fact{Label: words.T(ctx, "Limit"), Value: words.N(ctx, a.CallsPerMinute, "%s call a minute", "%s calls a minute")})
	}
	return append(facts, templates.Fact{Label: words.T(ctx, "Added"), When: &created}, templates.Fact{Label: words.T(ctx, "Changed"), When: &updated})
}

// agentCredentials say where an agent can sign in.
func agentCredentials(ctx context.Context, a connectors.Agent, held []store.AgentCredential) []templates.AgentCredential {
	rows := make([]templates.AgentCredential, len(held))
	for i, c := range held {
		rows[i] = templates.AgentCredential{
			Connector: c.ConnectorName,
			Href:      accountPath(c.ConnectorSlug, a.Slug),
			State:     credentialState(ctx, c.AuthType, c.Status),
		}
	}
	return rows
}
