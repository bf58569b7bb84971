package admin

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

func (h *Handler) accountShow(w http.ResponseWriter, r *http.Request) error {
	return h.accountPage(w, r, postedForm{}, nil)
}

// passwordSave changes the person's own password.
func (h *Handler) passwordSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	if err = f.checkSecretsRetyped(r.Context()); err == nil {
		err = h.auth.ChangePassword(r.Context(), actor(r), f.secret("current_password"), f.secret("new_password"))
	}
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.accountPage(w, r, f, problem)
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/account", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The password is changed.")})
}

func (h *Handler) accountPage(w http.ResponseWriter, r *http.Request, f postedForm, problem *fault.Error) error {
	status := http.StatusOK
	if problem != nil {
		respond.SetRetryAfter(w.Header(), problem)
		status = respond.Status(problem.Kind)
	}
	sessions, err := h.auth.ListSessions(r.Context(), actor(r))
	if err != nil {
		return err
	}
	factor, err := h.factorFact(r)
	if err != nil {
		return err
	}
	programs, err := h.ownPrograms(r.Context(), actor(r))
	if err != nil {
		return err
	}
	return h.respond.Page(w, r, status, templates.Account(templates.AccountPage{
		Frame: h.newFrame(r, templates.NavAccount, newCrumb(i18n.T(r.Context(), "Account"), "")),
		Facts: append(accountFacts(r.Context(), actor(r)), factor),
		Form:  f.toForm(problem),

		Sessions: sessionRows(r.Context(), sessions, actor(r).Session, h.now()),
		Limits:   sessionLimits(r.Context(), h.auth),
		Programs: programs,
	}))
}

func accountFacts(ctx context.Context, a auth.Actor) []templates.Fact {
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Name"), Value: a.Name},
		{Label: i18n.T(ctx, "E-mail"), Value: a.Email},
	}
	for _, m := range a.Memberships {
		facts = append(facts, templates.Fact{Label: m.Tenant.Name, Value: roleName(ctx, m.Role)})
	}
	return facts
}
