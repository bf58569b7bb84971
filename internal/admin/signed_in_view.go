package admin

import (
	"cmp"
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// ownPrograms are the programs that the person authorized, for their account's page.
func (h *Handler) ownPrograms(ctx context.Context, a auth.Actor) ([]templates.SignedInRow, error) {
	list, err := h.programs.PersonClients(ctx, a, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	rows := make([]templates.SignedInRow, len(list.Items))
	for i, c := range list.Items {
		rows[i] = signedInRow(ctx, c, h.now())
		if c.AgentID != nil {
			rows[i].Agent = &templates.Link{Text: c.AgentName, Href: agentPath(c.AgentSlug) + "/connect"}
		}
		rows[i].End = "/account/programs/" + c.ID.String() + "/revoke"
	}
	return rows, nil
}

// agentPrograms are the programs that act as an agent.
func (h *Handler) agentPrograms(ctx context.Context, tenant *store.Tenant, person auth.Actor, a connectors.Agent) ([]templates.SignedInRow, error) {
	list, err := tenant.AgentClients(ctx, store.AgentClientFilter{Agent: &a.ID}, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	rows := make([]templates.SignedInRow, len(list.Items))
	for i, c := range list.Items {
		rows[i] = signedInRow(ctx, c, h.now())
		rows[i].Who = cmp.Or(c.Person, c.Email)
		if person.Role.May(connectors.PermManage) {
			rows[i].End = agentPath(a.Slug) + "/programs/" + c.ID.String() + "/revoke"
		}
	}
	return rows, nil
}

// memberPrograms are the programs that act as members, for owners.
func (h *Handler) memberPrograms(ctx context.Context, person auth.Actor) ([]templates.SignedInRow, error) {
	if !person.Role.May(connectors.PermOwn) {
		return nil, nil
	}
	list, err := h.programs.MemberClients(ctx, person, nil, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	rows := make([]templates.SignedInRow, len(list.Items))
	for i, c := range list.Items {
		rows[i] = signedInRow(ctx, c, h.now())
		rows[i].Who = cmp.Or(c.Person, c.Email)
		rows[i].End = "/members/" + c.UserID.String() + "/programs/" + c.ID.String() + "/revoke"
	}
	return rows, nil
}

func signedInRow(ctx context.Context, c connectors.AgentClient, now time.Time) templates.SignedInRow {
	row := templates.SignedInRow{Name: c.Name, Host: c.Host, Used: newWhen(ctx, c.UsedAt, now)}
	switch c.Scope {
	case "":
		row.Opens = reachableConnectors(ctx, c.Resource)
	case connectors.ScopeAdmin:
		row.Opens = i18n.T(ctx, "acts as its person, with all that they may do")
	default:
		row.Opens = i18n.T(ctx, "acts as its person, and only reads")
	}
	return row
}

func programEndedText(ctx context.Context) string {
	return i18n.T(ctx, "The program's access is ended.")
}
