package admin

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

const factorPath = "/account/second-factor"

// redirectToEnrolment redirects a person that must set up a second factor. Other errors get the usual response.
func (h *Handler) redirectToEnrolment(w http.ResponseWriter, r *http.Request, err error) {
	if f := fault.As(err); f == nil || f.Type != auth.TypeMustEnrolSecondFactor {
		h.respond.Failure(w, r, err)
		return
	}
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Redirect", factorPath)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	_ = respond.See(w, r, factorPath)
}

// factorShow is the page of the second factor.
func (h *Handler) factorShow(w http.ResponseWriter, r *http.Request) error {
	return h.factorPage(w, r, http.StatusOK, templates.SecondFactorPage{})
}

// factorStart creates a key that is not active yet.
func (h *Handler) factorStart(w http.ResponseWriter, r *http.Request) error {
	err := h.auth.BeginSecondFactor(r.Context(), actor(r))
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.respond.Back(w, r, factorPath, respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return respond.See(w, r, factorPath)
}

// factorConfirm activates the second factor, and shows the recovery codes on the response page alone.
func (h *Handler) factorConfirm(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	codes, err := h.auth.ConfirmSecondFactor(r.Context(), actor(r), f.text("code"))
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.factorPage(w, r, respond.Status(problem.Kind), templates.SecondFactorPage{Confirm: f.toForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.factorPage(w, r, http.StatusOK, templates.SecondFactorPage{New: revealCodes(codes)})
}

// factorCodes replaces the recovery codes.
func (h *Handler) factorCodes(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	codes, err := h.auth.RenewRecoveryCodes(r.Context(), actor(r), f.text("code"))
	if problem, ok := asFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.factorPage(w, r, respond.Status(problem.Kind), templates.SecondFactorPage{Renew: f.toForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.factorPage(w, r, http.StatusOK, templates.SecondFactorPage{New: revealCodes(codes)})
}

// factorRemove removes the person's own second factor.
func (h *Handler) factorRemove(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	err = h.auth.RemoveSecondFactor(r.Context(), actor(r), f.text("code"))
	if problem, ok := asFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.factorPage(w, r, respond.Status(problem.Kind), templates.SecondFactorPage{Remove: f.toForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/account", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The second factor is taken away.")})
}

func revealCodes(codes []secret.Text) []string {
	texts := make([]string, len(codes))
	for i, c := range codes {
		texts[i] = c.Reveal()
	}
	return texts
}

func (h *Handler) factorPage(w http.ResponseWriter, r *http.Request, status int, page templates.SecondFactorPage) error {
	a := actor(r)
	page.Elsewhere = a.BySSO
	if !a.BySSO {
		f, err := h.auth.SecondFactor(r.Context(), a)
		if err != nil {
			return err
		}
		page.On, page.Left = f.On, codesLeftText(r.Context(), f.CodesLeft)
		if !f.Key.Empty() {
			if page.Code, err = qrCode(f.URI.Reveal()); err != nil {
				return err
			}
			page.Key, page.URI = groupByFour(f.Key.Reveal()), f.URI.Reveal()
		}
	}
	title := i18n.T(r.Context(), "Second factor")
	if a.MustEnrolSecondFactor { // nothing of the tenant but its name
		page.Tenant, page.Frame = a.Tenant.Name, h.signedOutFrame(r, title)
		for _, m := range a.Memberships {
			if m.Tenant.ID != a.Tenant.ID {
				page.Others = append(page.Others, templates.TenantChoice{Slug: m.Tenant.Slug, Name: m.Tenant.Name})
			}
		}
	} else {
		page.Frame = h.newFrame(r, templates.NavAccount, newCrumb(i18n.T(r.Context(), "Account"), "/account"), newCrumb(title, ""))
	}
	return h.respond.Page(w, r, status, templates.SecondFactor(page))
}

// groupByFour inserts a space after every four characters.
func groupByFour(key string) string {
	var b strings.Builder
	for i, c := range key {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func codesLeftText(ctx context.Context, n int) string {
	return i18n.N(ctx, n, "%s recovery code was not used.", "%s recovery codes were not used.")
}

// factorFact is the account page's line about the second factor.
func (h *Handler) factorFact(r *http.Request) (templates.Fact, error) {
	fact := templates.Fact{Label: i18n.T(r.Context(), "Second factor"), Href: factorPath}
	if actor(r).BySSO {
		fact.Value = i18n.T(r.Context(), "Your organisation's provider asks for it")
		return fact, nil
	}
	f, err := h.auth.SecondFactor(r.Context(), actor(r))
	switch {
	case err != nil:
	case f.On:
		fact.Value = i18n.T(r.Context(), "On")
	default:
		fact.Value = i18n.T(r.Context(), "Set it up")
	}
	return fact, err
}
