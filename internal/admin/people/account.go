package people

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

func (h *Handler) accountShow(w http.ResponseWriter, r *http.Request) error {
	return h.accountPage(w, r, shell.PostedForm{}, nil)
}

// passwordSave changes the person's own password.
func (h *Handler) passwordSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	err = h.Auth.ChangePassword(r.Context(), shell.Actor(r), f.Secret("current_password"), f.Secret("new_password"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.accountPage(w, r, f, problem)
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/account", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Password changed.")})
}

func (h *Handler) accountPage(w http.ResponseWriter, r *http.Request, f shell.PostedForm, problem *fault.Error) error {
	status := http.StatusOK
	if problem != nil {
		respond.SetRetryAfter(w.Header(), problem)
		status = respond.Status(problem.Kind)
	}
	sessions, err := h.Auth.ListSessions(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	factor, err := h.SigninPages.FactorFact(r)
	if err != nil {
		return err
	}
	programs, err := h.ownPrograms(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	mail, err := h.mailPanel(r)
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, status, templates.Account(templates.AccountPage{
		Frame: h.NewFrame(r, templates.NavAccount, shell.NewCrumb(i18n.T(r.Context(), "Account"), "")),
		Facts: append(accountFacts(r.Context(), shell.Actor(r)), factor),
		Form:  f.ToForm(problem),

		Files:    shell.FilesPager("/account"),
		Sessions: sessionRows(r.Context(), sessions, shell.Actor(r).Session, h.Now()),
		Limits:   sessionLimits(r.Context(), h.Auth),
		Programs: programs,
		Mail:     mail,
	}))
}

func accountFacts(ctx context.Context, a auth.Actor) []templates.Fact {
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Name"), Value: a.Name},
		{Label: i18n.T(ctx, "Email"), Value: a.Email},
	}
	for _, m := range a.Memberships {
		facts = append(facts, templates.Fact{Label: m.Tenant.Name, Value: shell.RoleName(ctx, m.Role)})
	}
	return facts
}
