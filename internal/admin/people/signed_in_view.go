package people

import (
	"cmp"
	"context"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// ownPrograms are the programs that the person authorized, for their account's page.
func (h *Handler) ownPrograms(ctx context.Context, a auth.Actor) ([]templates.SignedInRow, error) {
	list, err := h.AuthServer.PersonClients(ctx, a, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	rows := make([]templates.SignedInRow, len(list.Items))
	for i, c := range list.Items {
		rows[i] = shell.SignedInRow(ctx, c, h.Now())
		if c.AgentID != nil {
			rows[i].Agent = &templates.Link{Text: c.AgentName, Href: shell.AgentPath(c.AgentSlug) + "/connect"}
		}
		rows[i].End = "/account/programs/" + c.ID.String() + "/revoke"
	}
	return rows, nil
}

// memberPrograms are the programs that act as members, for owners.
func (h *Handler) memberPrograms(ctx context.Context, person auth.Actor) ([]templates.SignedInRow, error) {
	if !person.Role.May(connectors.PermOwn) {
		return nil, nil
	}
	list, err := h.AuthServer.MemberClients(ctx, person, nil, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	rows := make([]templates.SignedInRow, len(list.Items))
	for i, c := range list.Items {
		rows[i] = shell.SignedInRow(ctx, c, h.Now())
		rows[i].Who = cmp.Or(c.Person, c.Email)
		rows[i].End = "/members/" + c.UserID.String() + "/programs/" + c.ID.String() + "/revoke"
	}
	return rows, nil
}

func programEndedText(ctx context.Context) string {
	return i18n.T(ctx, "Access removed.")
}
