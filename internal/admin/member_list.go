package admin

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/words"
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
	list, err := h.tenant(r).Members(r.Context(), pageOf(r))
	if err != nil {
		return err
	}
	invited, err := h.tenant(r).Invitations(r.Context(), store.Page{Limit: mostInvited})
	if err != nil {
		return err
	}
	programs, err := h.memberPrograms(r.Context(), actor(r))
	if err != nil {
		return err
	}
	n = n.withRoles()
	page := templates.MembersPage{
		Frame:        h.frame(r, templates.NavMembers, crumb(words.T(r.Context(), "Members"), "")),
		Count:        countOf(r.Context(), len(list.Items), pager(r, list.Next), "%s member", "%s members"),
		InvitedCount: words.T(r.Context(), "%s open", words.Number(r.Context(), len(invited.Items))),
		New:          n.made,
		Roles:        roleOptions(r.Context()),
		Names:        roleNames(r.Context()),
		Invite:       n.invite,
		Form:         n.add,
		Adding:       n.adding,
		Pager:        pager(r, list.Next),
		Programs:     programs,
	}
	for _, m := range list.Items {
		page.Rows = append(page.Rows, memberRow(r.Context(), m, actor(r), h.now()))
	}
	for _, i := range invited.Items {
		page.Invited = append(page.Invited, invitationRow(r.Context(), i, h.now()))
	}
	return h.respond.Page(w, r, status, templates.Members(page))
}

// memberRow is one person in the list.
func memberRow(ctx context.Context, m connectors.Member, viewer auth.Actor, now time.Time) templates.MemberRow {
	return templates.MemberRow{
		Name:     m.DisplayName(),
		Email:    m.Email,
		Initial:  initial(m.DisplayName()),
		Self:     viewer.UserID != nil && *viewer.UserID == m.UserID,
		Role:     string(m.Role),
		RoleName: roleName(ctx, m.Role),
		State:    memberState(ctx, m, now),
		Since:    when(ctx, m.CreatedAt, now),
		Seen:     whenOrNever(ctx, m.Seen, now),
		Action:   "/members/" + m.UserID.String(),
		Factor:   m.SecondFactor,
	}
}

// away is after how long without a visit a member is said to be away.
const away = 30 * 24 * time.Hour

func memberState(ctx context.Context, m connectors.Member, now time.Time) templates.State {
	switch {
	case m.Seen == nil && m.SignedIn == nil:
		return templates.State{Kind: templates.StateOff, Text: words.T(ctx, "Never signed in")}
	case m.Seen == nil || now.Sub(*m.Seen) > away:
		return templates.State{Kind: templates.StateOff, Text: words.T(ctx, "Away")}
	}
	return templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Active")}
}

// invitationRow is one open invitation in the list.
func invitationRow(ctx context.Context, i connectors.Invitation, now time.Time) templates.InvitationRow {
	row := templates.InvitationRow{
		Email:  i.Email,
		Role:   roleName(ctx, i.Role),
		By:     i.InvitedBy,
		State:  templates.State{Kind: templates.StateBusy, Text: words.T(ctx, "Waiting")},
		Sent:   when(ctx, i.SentAt, now),
		Ends:   when(ctx, i.ExpiresAt, now),
		Action: "/invitations/" + i.ID.String(),
	}
	if i.State(now) == connectors.InvitationLapsed {
		row.State = templates.State{Kind: templates.StateWarn, Text: words.T(ctx, "Lapsed")}
	}
	return row
}
