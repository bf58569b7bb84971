package agents

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// agentConnect explains how a program reaches the gateway as an agent.
func (h *Handler) agentConnect(w http.ResponseWriter, r *http.Request) error {
	return h.agentConnectPage(w, r, http.StatusOK, connectForms{}, nil)
}

// connectForms are the forms of the page, as they were posted.
type connectForms struct{ token, workload templates.Form }

// tokenCreate creates a token and shows it on the response page alone. A redirect would carry it through the
// session or the address.
func (h *Handler) tokenCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	created, err := h.issueToken(r, f)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.agentConnectPage(w, r, respond.Status(problem.Kind), connectForms{token: f.ToForm(problem)}, nil)
	}
	if err != nil {
		return err
	}
	return h.agentConnectPage(w, r, http.StatusOK, connectForms{}, created)
}

func (h *Handler) issueToken(r *http.Request, f shell.PostedForm) (*templates.NewAPIKey, error) {
	expires, err := f.ReadLastDay("expires_at")
	if err != nil {
		return nil, err
	}
	token, text, err := h.Registry.IssueToken(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), manage.TokenRequest{Name: f.Text("name"), ExpiresAt: expires})
	if err != nil {
		return nil, err
	}
	return &templates.NewAPIKey{Name: tokenName(r.Context(), token), Token: text.Reveal()}, nil
}

// tokenRevoke revokes a token.
func (h *Handler) tokenRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := shell.TokenID(r)
	if err != nil {
		return err
	}
	if err := h.Registry.RevokeToken(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), id); err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(string(shell.PathRef(r, "id")))+"/connect", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Token revoked.")})
}

func (h *Handler) agentConnectPage(w http.ResponseWriter, r *http.Request, status int, f connectForms, created *templates.NewAPIKey) error {
	var (
		a        connectors.Agent
		tokens   store.List[connectors.AgentToken]
		granted  store.List[store.GrantedConnector]
		programs []templates.SignedInRow
		jobs     []connectors.Workload
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if a, err = tx.Agents().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if tokens, err = tx.Agents().Tokens(r.Context(), a.ID, store.Page{Limit: store.MaxLimit}); err != nil {
			return err
		}
		if granted, err = tx.Agents().Grants(r.Context(), a.ID, store.Page{Limit: maxAddresses}); err != nil {
			return err
		}
		if jobs, err = tx.Workloads().List(r.Context(), a.ID); err != nil {
			return err
		}
		programs, err = h.agentPrograms(r.Context(), tx.Agents(), shell.Actor(r), a)
		return err
	})
	if err != nil {
		return err
	}
	text := ""
	if created != nil {
		text = created.Token
	}
	page := templates.AgentConnectPage{
		Frame:     h.agentFrame(r, a, i18n.T(r.Context(), "Connect")),
		Head:      agentHead(r.Context(), a, templates.AgentConnectTab),
		Addresses: gatewayAddresses(r.Context(), h.BaseURL, granted.Items),
		Count:     i18n.N(r.Context(), len(tokens.Items), "%s token", "%s tokens"),
		Files:     shell.FilesPager(shell.AgentPath(string(shell.PathRef(r, "id"))) + "/connect"),
		Form:      f.token,
		New:       created,
		Programs:  programs,
		Snippets:  clientSnippets(r.Context(), h.BaseURL+"/mcp", cmp.Or(text, tokenPlaceholder)),
	}
	h.addWorkloads(r.Context(), &page, a, jobs, f.workload)
	for _, t := range tokens.Items {
		page.Tokens = append(page.Tokens, tokenRow(r.Context(), a, t, h.Now()))
	}
	return h.Respond.Page(w, r, status, templates.AgentConnect(page))
}

func tokenName(ctx context.Context, t connectors.AgentToken) string {
	return cmp.Or(t.Name, i18n.T(ctx, "Unnamed"))
}

func tokenRow(ctx context.Context, a connectors.Agent, t connectors.AgentToken, now time.Time) templates.AgentTokenRow {
	row := templates.AgentTokenRow{
		Name:     tokenName(ctx, t),
		Prefix:   t.Prefix,
		State:    templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Active")},
		Created:  shell.NewWhen(ctx, t.CreatedAt, now),
		LastUsed: shell.NewWhenOrNever(ctx, t.LastUsedAt, now),
		Expires:  shell.NewWhenOrNever(ctx, t.ExpiresAt, now),
		Revoke:   shell.AgentPath(a.Slug) + "/tokens/" + t.ID.String() + "/revoke",
	}
	if t.ExpiresAt != nil && !t.ExpiresAt.After(now) {
		row.State = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Expired")}
	}
	return row
}

// agentPrograms are the programs that act as an agent.
func (h *Handler) agentPrograms(ctx context.Context, tenant store.Agents, person auth.Actor, a connectors.Agent) ([]templates.SignedInRow, error) {
	list, err := tenant.Clients(ctx, store.AgentClientFilter{Agent: &a.ID}, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	rows := make([]templates.SignedInRow, len(list.Items))
	for i, c := range list.Items {
		rows[i] = shell.SignedInRow(ctx, c, h.Now())
		rows[i].Who = cmp.Or(c.Person, c.Email)
		if person.Role.May(connectors.PermManage) {
			rows[i].End = shell.AgentPath(a.Slug) + "/programs/" + c.ID.String() + "/revoke"
		}
	}
	return rows, nil
}
