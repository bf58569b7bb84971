package admin

import (
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// memberList lists the people of the tenant.
func (h *Handler) memberList(w http.ResponseWriter, r *http.Request) error {
	return h.membersPage(w, r, http.StatusOK, templates.Form{Values: map[string]string{"role": string(connectors.RoleViewer)}})
}

func (h *Handler) membersPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form) error {
	list, err := h.tenant(r).Members(r.Context(), store.Page{Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := templates.MembersPage{
		Frame: h.frame(r, templates.NavMembers, crumb("Members", "")),
		Count: countOf(len(list.Items), pager(r, list.Next), "member"),
		Roles: roleOptions(),
		Names: roleNames(),
		Form:  f,
		Pager: pager(r, list.Next),
	}
	for _, m := range list.Items {
		page.Rows = append(page.Rows, memberRow(m, actor(r), h.now()))
	}
	return h.respond.Page(w, r, status, templates.Members(page))
}

// memberRow is one person in the list.
func memberRow(m connectors.Member, viewer auth.Actor, now time.Time) templates.MemberRow {
	name := m.Name
	if name == "" {
		name = m.Email
	}
	return templates.MemberRow{
		Name:     name,
		Email:    m.Email,
		Initial:  initial(name),
		Self:     viewer.UserID != nil && *viewer.UserID == m.UserID,
		Role:     string(m.Role),
		RoleName: roleName(m.Role),
		SignedIn: whenOrNever(m.SignedIn, now),
		Action:   "/members/" + m.UserID.String(),
	}
}
