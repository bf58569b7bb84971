package admin

import (
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// mostInvited is how many open invitations the page shows.
const mostInvited = 200

// memberList lists the people of the tenant, and those who were asked.
func (h *Handler) memberList(w http.ResponseWriter, r *http.Request) error {
	return h.membersPage(w, r, http.StatusOK, membersNews{})
}

// membersNews is what the page shows of what was just done.
type membersNews struct {
	invite templates.Form
	add    templates.Form
	adding bool
	made   *templates.NewInvitation
}

func (n membersNews) withRoles() membersNews {
	for _, f := range []*templates.Form{&n.invite, &n.add} {
		if f.Values == nil {
			f.Values = map[string]string{"role": string(connectors.RoleViewer)}
		}
	}
	return n
}

func (h *Handler) membersPage(w http.ResponseWriter, r *http.Request, status int, n membersNews) error {
	list, err := h.tenant(r).Members(r.Context(), store.Page{Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	invited, err := h.tenant(r).Invitations(r.Context(), store.Page{Limit: mostInvited})
	if err != nil {
		return err
	}
	n = n.withRoles()
	page := templates.MembersPage{
		Frame:        h.frame(r, templates.NavMembers, crumb("Members", "")),
		Count:        countOf(len(list.Items), pager(r, list.Next), "member"),
		InvitedCount: number(len(invited.Items)) + " open",
		New:          n.made,
		Roles:        roleOptions(),
		Names:        roleNames(),
		Invite:       n.invite,
		Form:         n.add,
		Adding:       n.adding,
		Pager:        pager(r, list.Next),
	}
	for _, m := range list.Items {
		page.Rows = append(page.Rows, memberRow(m, actor(r), h.now()))
	}
	for _, i := range invited.Items {
		page.Invited = append(page.Invited, invitationRow(i, h.now()))
	}
	return h.respond.Page(w, r, status, templates.Members(page))
}

// memberRow is one person in the list.
func memberRow(m connectors.Member, viewer auth.Actor, now time.Time) templates.MemberRow {
	return templates.MemberRow{
		Name:     m.DisplayName(),
		Email:    m.Email,
		Initial:  initial(m.DisplayName()),
		Self:     viewer.UserID != nil && *viewer.UserID == m.UserID,
		Role:     string(m.Role),
		RoleName: roleName(m.Role),
		State:    memberState(m, now),
		Since:    when(m.CreatedAt, now),
		Seen:     whenOrNever(m.Seen, now),
		Action:   "/members/" + m.UserID.String(),
	}
}

// away is after how long without a visit a member is said to be away.
const away = 30 * 24 * time.Hour

func memberState(m connectors.Member, now time.Time) templates.State {
	switch {
	case m.Seen == nil && m.SignedIn == nil:
		return templates.State{Kind: templates.StateOff, Text: "Never signed in"}
	case m.Seen == nil || now.Sub(*m.Seen) > away:
		return templates.State{Kind: templates.StateOff, Text: "Away"}
	}
	return templates.State{Kind: templates.StateOK, Text: "Active"}
}

// invitationRow is one open invitation in the list.
func invitationRow(i connectors.Invitation, now time.Time) templates.InvitationRow {
	row := templates.InvitationRow{
		Email:  i.Email,
		Role:   roleName(i.Role),
		By:     i.InvitedBy,
		State:  templates.State{Kind: templates.StateBusy, Text: "Waiting"},
		Sent:   when(i.SentAt, now),
		Ends:   when(i.ExpiresAt, now),
		Action: "/invitations/" + i.ID.String(),
	}
	if i.State(now) == connectors.InvitationLapsed {
		row.State = templates.State{Kind: templates.StateWarn, Text: "Lapsed"}
	}
	return row
}
