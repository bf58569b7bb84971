package signin

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// joinShow is the page of an invitation's link. A GET does not use the link up, because mail programs load
// links. The page does not reveal whether the address has an account.
func (h *Handler) joinShow(w http.ResponseWriter, r *http.Request) error {
	return h.joinPage(w, r, secret.Text(r.URL.Query().Get("token")), shell.PostedForm{}, nil)
}

// joinFinish accepts the invitation, and signs the new member in.
func (h *Handler) joinFinish(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	token := f.Secret("token")
	if f.Checked("sign_out") {
		if err := h.signOut(r); err != nil {
			return err
		}
		return respond.See(w, r, auth.InvitationPath(token))
	}
	tenant, m, err := h.acceptInvitation(r, token, f)
	switch refused := respond.LocalizedFault(r.Context(), err); {
	case err == nil:
	case refused.Kind == fault.NotFound:
		return h.renderJoinError(w, r, err)
	case refused.Kind == fault.Internal:
		return err
	default:
		return h.joinPage(w, r, token, f, refused)
	}
	h.Respond.Say(r.Context(), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Welcome to %s.", tenant.Name)})
	return h.continueSignIn(w, r, h.Auth.StartSessionIn(r.Context(), m.UserID, tenant.ID, auth.NewBrowser(r)), "/")
}

// signOut ends the browser's session, before another person signs in.
func (h *Handler) signOut(r *http.Request) error {
	ctx, _, err := h.Auth.IdentifyEnrolling(r)
	if fault.Is(err, fault.Unauthenticated) {
		return h.Auth.EndSession(r.Context())
	}
	if err != nil {
		return err
	}
	a, _ := auth.ActorFrom(ctx)
	return h.Auth.SignOut(r.Context(), a)
}

func (h *Handler) acceptInvitation(r *http.Request, token secret.Text, f shell.PostedForm) (connectors.Tenant, connectors.Member, error) {
	if a, err := h.Auth.FromSession(r.Context()); err == nil {
		return h.Auth.JoinAs(r.Context(), a, token, auth.Address(r))
	}
	p := auth.Person{Name: f.Text("name"), Password: f.Secret("password"), Separate: f.Checked("separate")}
	return h.Auth.AcceptInvitation(r.Context(), token, p, auth.Address(r))
}

func (h *Handler) joinPage(w http.ResponseWriter, r *http.Request, token secret.Text, f shell.PostedForm, problem *fault.Error) error {
	i, err := h.Auth.Invitation(r.Context(), token, auth.Address(r))
	if err != nil {
		return h.renderJoinError(w, r, err)
	}
	page := templates.JoinPage{
		Frame:  h.SignedOutFrame(r, i18n.T(r.Context(), "Join %s", i.Tenant.Name)),
		Form:   f.ToForm(problem),
		Token:  token.Reveal(),
		Tenant: i.Tenant.Name,
		Email:  i.Email,
		Role:   shell.RoleAbility(r.Context(), i.Role),
		By:     i.InvitedBy,
		Ends:   shell.NewWhen(r.Context(), i.ExpiresAt, h.Now()),
	}
	status := http.StatusOK
	if problem != nil {
		respond.SetRetryAfter(w.Header(), problem)
		status = respond.Status(problem.Kind)
	}
	if a, err := h.Auth.FromSession(r.Context()); err == nil {
		page.Who = auth.NormalizeEmail(a.Email)
		if a.Issued {
			page.Issuer = a.Tenant.Name
		}
	}
	return h.Respond.Page(w, r, status, templates.Join(page))
}

// renderJoinError says why an invitation's link is not valid.
func (h *Handler) renderJoinError(w http.ResponseWriter, r *http.Request, err error) error {
	f := respond.LocalizedFault(r.Context(), err)
	if f.Kind != fault.NotFound && f.Kind != fault.RateLimited {
		return err
	}
	respond.SetRetryAfter(w.Header(), f)
	return h.Respond.Page(w, r, respond.Status(f.Kind), templates.Error(templates.ErrorPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Invitation")), Status: respond.Status(f.Kind), Title: joinHeadline(r.Context(), f), Text: f.Message,
		Links: []templates.Link{{Text: i18n.T(r.Context(), "Sign in"), Href: "/login"}},
	}))
}

func joinHeadline(ctx context.Context, f *fault.Error) string {
	switch f.Type {
	case auth.TypeInvitationLapsed:
		return i18n.T(ctx, "Invitation expired")
	case auth.TypeInvitationUsed:
		return i18n.T(ctx, "Invitation already used")
	case auth.TypeInvitationRevoked:
		return i18n.T(ctx, "Invitation revoked")
	}
	if f.Kind == fault.RateLimited {
		return i18n.T(ctx, "Too many attempts")
	}
	return i18n.T(ctx, "Invalid link")
}
