package signin

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

const factorPath = "/account/second-factor"

// RedirectToEnrolment redirects a person that must set up a second factor. The form of an ended session is kept. Other
// errors get the usual response.
func (h *Handler) RedirectToEnrolment(w http.ResponseWriter, r *http.Request, err error) {
	if h.HoldUnsent(r, err) {
		_ = respond.See(w, r, "/login?"+url.Values{"return_to": {shell.UnsentPath}, "unsent": {"kept"}}.Encode())
		return
	}
	if f := fault.As(err); f == nil || f.Type != auth.TypeMustEnrolSecondFactor {
		h.Respond.Failure(w, r, err)
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
	err := h.Auth.BeginSecondFactor(r.Context(), shell.Actor(r))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, factorPath, respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return respond.See(w, r, factorPath)
}

// factorConfirm activates the second factor, and shows the recovery codes on the response page alone.
func (h *Handler) factorConfirm(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	codes, err := h.Auth.ConfirmSecondFactor(r.Context(), shell.Actor(r), f.Text("code"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.factorPage(w, r, respond.Status(problem.Kind), templates.SecondFactorPage{Confirm: f.ToForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.factorPage(w, r, http.StatusOK, templates.SecondFactorPage{New: revealCodes(codes)})
}

// factorCodes replaces the recovery codes.
func (h *Handler) factorCodes(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	codes, err := h.Auth.RenewRecoveryCodes(r.Context(), shell.Actor(r), f.Text("code"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.factorPage(w, r, respond.Status(problem.Kind), templates.SecondFactorPage{Renew: f.ToForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.factorPage(w, r, http.StatusOK, templates.SecondFactorPage{New: revealCodes(codes)})
}

// factorRemove removes the person's own second factor.
func (h *Handler) factorRemove(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	err = h.Auth.RemoveSecondFactor(r.Context(), shell.Actor(r), f.Text("code"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		return h.factorPage(w, r, respond.Status(problem.Kind), templates.SecondFactorPage{Remove: f.ToForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/account", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Second factor removed.")})
}

func revealCodes(codes []secret.Text) []string {
	texts := make([]string, len(codes))
	for i, c := range codes {
		texts[i] = c.Reveal()
	}
	return texts
}

func (h *Handler) factorPage(w http.ResponseWriter, r *http.Request, status int, page templates.SecondFactorPage) error {
	a := shell.Actor(r)
	page.Elsewhere = a.BySSO
	if !a.BySSO {
		f, err := h.Auth.SecondFactor(r.Context(), a)
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
		page.Tenant, page.Frame = a.Tenant.Name, h.SignedOutFrame(r, title)
		for _, m := range a.Memberships {
			if m.Tenant.ID != a.Tenant.ID {
				page.Others = append(page.Others, templates.TenantChoice{Slug: m.Tenant.Slug, Name: m.Tenant.Name})
			}
		}
	} else {
		page.Frame = h.NewFrame(r, templates.NavAccount, shell.NewCrumb(i18n.T(r.Context(), "Account"), "/account"), shell.NewCrumb(title, ""))
	}
	return h.Respond.Page(w, r, status, templates.SecondFactor(page))
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
	return i18n.N(ctx, n, "%s recovery code left.", "%s recovery codes left.")
}

// FactorFact is the account page's line about the second factor.
func (h *Handler) FactorFact(r *http.Request) (templates.Fact, error) {
	fact := templates.Fact{Label: i18n.T(r.Context(), "Second factor"), Href: factorPath}
	if shell.Actor(r).BySSO {
		fact.Value = i18n.T(r.Context(), "Managed by your provider")
		return fact, nil
	}
	f, err := h.Auth.SecondFactor(r.Context(), shell.Actor(r))
	switch {
	case err != nil:
	case f.On:
		fact.Value = i18n.T(r.Context(), "On")
	default:
		fact.Value = i18n.T(r.Context(), "Set up")
	}
	return fact, err
}
