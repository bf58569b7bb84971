package admin

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// agentConnect says how a program comes to the gateway as an agent.
func (h *Handler) agentConnect(w http.ResponseWriter, r *http.Request) error {
	return h.connectPageOf(w, r, http.StatusOK, templates.Form{}, nil)
}

// tokenCreate makes a token. It is shown on the page that answers, and nowhere else: a redirect would carry it through the session
// or the address.
func (h *Handler) tokenCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	made, err := h.issueToken(r, f)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.connectPageOf(w, r, respond.Status(problem.Kind), f.again(problem), nil)
	}
	if err != nil {
		return err
	}
	return h.connectPageOf(w, r, http.StatusOK, templates.Form{}, made)
}

func (h *Handler) issueToken(r *http.Request, f form) (*templates.NewAPIKey, error) {
	expires, err := f.lastDay("expires_at")
	if err != nil {
		return nil, err
	}
	token, text, err := h.registry.IssueToken(r.Context(), actor(r), ref(r, "id"), registry.TokenRequest{Name: f.text("name"), ExpiresAt: expires})
	if err != nil {
		return nil, err
	}
	return &templates.NewAPIKey{Name: tokenName(r.Context(), token), Token: text.Reveal()}, nil
}

// tokenRevoke ends a token.
func (h *Handler) tokenRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := tokenID(r)
	if err != nil {
		return err
	}
	if err := h.registry.RevokeToken(r.Context(), actor(r), ref(r, "id"), id); err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(string(ref(r, "id")))+"/connect", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The token is revoked.")})
}

func (h *Handler) connectPageOf(w http.ResponseWriter, r *http.Request, status int, f templates.Form, made *templates.NewAPIKey) error {
	tenant := h.tenant(r)
	a, err := tenant.Agent(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	tokens, err := tenant.AgentTokens(r.Context(), a.ID, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return err
	}
	granted, err := tenant.AgentGrants(r.Context(), a.ID, store.Page{Limit: maxAddresses})
	if err != nil {
		return err
	}
	programs, err := h.programsOf(r.Context(), actor(r), a)
	if err != nil {
		return err
	}
	text := ""
	if made != nil {
		text = made.Token
	}
	page := templates.AgentConnectPage{
		Frame:     h.agentFrame(r, a, words.T(r.Context(), "Connect")),
		Head:      agentHead(r.Context(), a, templates.AgentConnectTab),
		Addresses: gatewayAddresses(r.Context(), h.baseURL, granted.Items),
		Count:     words.N(r.Context(), len(tokens.Items), "%s token", "%s tokens"),
		Form:      f,
		New:       made,
		Programs:  programs,
		Snippets:  snippets(r.Context(), h.baseURL+"/mcp", cmp.Or(text, tokenPlaceholder)),
	}
	for _, t := range tokens.Items {
		page.Tokens = append(page.Tokens, tokenRow(r.Context(), a, t, h.now()))
	}
	return h.respond.Page(w, r, status, templates.AgentConnect(page))
}

func tokenName(ctx context.Context, t connectors.AgentToken) string {
	return cmp.Or(t.Name, words.T(ctx, "Unnamed"))
}

func tokenRow(ctx context.Context, a connectors.Agent, t connectors.AgentToken, now time.Time) templates.AgentTokenRow {
	row := templates.AgentTokenRow{
		Name:     tokenName(ctx, t),
		Prefix:   t.Prefix,
		State:    templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Active")},
		Created:  when(ctx, t.CreatedAt, now),
		LastUsed: whenOrNever(ctx, t.LastUsedAt, now),
		Expires:  whenOrNever(ctx, t.ExpiresAt, now),
		Revoke:   agentPath(a.Slug) + "/tokens/" + t.ID.String() + "/revoke",
	}
	if t.ExpiresAt != nil && !t.ExpiresAt.After(now) {
		row.State = templates.State{Kind: templates.StateOff, Text: words.T(ctx, "Expired")}
	}
	return row
}
