package people

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// maxInvitations bounds the open invitations on the page.
const maxInvitations = 200

// memberList lists the tenant's members and open invitations.
func (h *Handler) memberList(w http.ResponseWriter, r *http.Request) error {
	return h.membersPage(w, r, http.StatusOK, membersPageState{})
}

// membersPageState is the result of an action on the page.
type membersPageState struct {
	invite  templates.Form
	add     templates.Form
	created *templates.NewInvitation
}

func (n membersPageState) withRoles() membersPageState {
	for _, f := range []*templates.Form{&n.invite, &n.add} {
		if f.Values == nil {
			f.Values = map[string]string{"role": string(connectors.RoleViewer), "mail": "true"}
		}
	}
	return n
}

func (h *Handler) membersPage(w http.ResponseWriter, r *http.Request, status int, n membersPageState) error {
	var list store.List[connectors.Member]
	var invited store.List[connectors.Invitation]
	total := 0
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if list, err = tx.People().Members(r.Context(), shell.ReadPage(r)); err != nil {
			return err
		}
		if total, err = tx.Lists().Members(r.Context()); err != nil {
			return err
		}
		invited, err = tx.People().Invitations(r.Context(), store.Page{Limit: maxInvitations})
		return err
	})
	if err != nil {
		return err
	}
	programs, err := h.memberPrograms(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	n = n.withRoles()
	pager := shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), total)
	page := templates.MembersPage{
		Frame:        h.NewFrame(r, templates.NavMembers, shell.NewCrumb(i18n.T(r.Context(), "Members"), "")),
		Count:        shell.FormatCount(r.Context(), len(list.Items), pager, "%s member", "%s members"),
		InvitedCount: i18n.T(r.Context(), "%s open", i18n.Number(r.Context(), len(invited.Items))),
		New:          n.created,
		Roles:        shell.RoleOptions(r.Context()),
		Names:        shell.RoleNames(r.Context()),
		Invite:       n.invite,
		Form:         n.add,
		Mails:        h.Mailing.Enabled(),
		Pager:        pager,
		Programs:     programs,
	}
	for _, m := range list.Items {
		page.Rows = append(page.Rows, memberRow(r.Context(), m, shell.Actor(r), h.Now()))
	}
	for _, i := range invited.Items {
		page.Invited = append(page.Invited, invitationRow(r.Context(), i, h.Now()))
	}
	return h.Respond.Page(w, r, status, templates.Members(page))
}

func memberRow(ctx context.Context, m connectors.Member, viewer auth.Actor, now time.Time) templates.MemberRow {
	return templates.MemberRow{
		Name:     m.DisplayName(),
		Email:    m.Email,
		Initial:  shell.InitialLetter(m.DisplayName()),
		Self:     viewer.UserID != nil && *viewer.UserID == m.UserID,
		Role:     string(m.Role),
		RoleName: shell.RoleName(ctx, m.Role),
		State:    memberState(ctx, m, now),
		Since:    shell.NewWhen(ctx, m.CreatedAt, now),
		Seen:     shell.NewWhenOrNever(ctx, m.Seen, now),
		Action:   "/members/" + m.UserID.String(),
		Factor:   m.SecondFactor,
	}
}

// inactiveAfter is the inactivity after which a member counts as away.
const inactiveAfter = 30 * 24 * time.Hour

func memberState(ctx context.Context, m connectors.Member, now time.Time) templates.State {
	switch {
	case m.Seen == nil && m.SignedIn == nil:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Never signed in")}
	case m.Seen == nil || now.Sub(*m.Seen) > inactiveAfter:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Inactive")}
	}
	return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Active")}
}

func invitationRow(ctx context.Context, i connectors.Invitation, now time.Time) templates.InvitationRow {
	row := templates.InvitationRow{
		Email:  i.Email,
		Role:   shell.RoleName(ctx, i.Role),
		By:     i.InvitedBy,
		State:  templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Waiting")},
		Sent:   shell.NewWhen(ctx, i.SentAt, now),
		Ends:   shell.NewWhen(ctx, i.ExpiresAt, now),
		Action: "/invitations/" + i.ID.String(),
	}
	if i.State(now) == connectors.InvitationLapsed {
		row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Expired")}
	}
	return row
}

var memberColumns = []export.Column[connectors.Member]{
	{Name: "user_id", Of: func(m connectors.Member) any { return m.UserID.String() }},
	{Name: "email", Of: func(m connectors.Member) any { return m.Email }},
	{Name: "name", Of: func(m connectors.Member) any { return m.Name }},
	{Name: "role", Of: func(m connectors.Member) any { return m.Role }},
	{Name: "created_at", Of: func(m connectors.Member) any { return m.CreatedAt }},
	{Name: "signed_in_at", Of: func(m connectors.Member) any { return m.SignedIn }},
}

func (h *Handler) memberFile(w http.ResponseWriter, r *http.Request) error {
	return shell.TableFile[connectors.Member]{Name: "members", Columns: memberColumns, List: h.TenantStore(r).People().Members}.Serve(h.Shell, w, r)
}
