package admin

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// Form fields of the confirmation page besides the held form.
const (
	confirmPassword    = "confirm_password"
	confirmCode        = "confirm_code"
	confirmSecretNames = "confirm_dropped" // names of the fields with dropped secrets
)

// requireConfirmation wraps a dangerous action. Unless the person confirmed lately, it shows a form that holds
// the action without its secrets and runs it after the confirmation.
func (h *Handler) requireConfirmation(route string, act respond.HandlerFunc) respond.HandlerFunc {
	d, known := confirmRules[route]
	if known && !d.confirms {
		return act
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case d.startPage != "":
			return h.requireConfirmationByLink(w, r, act, fillRoute(r, d.startPage))
		case r.Method != http.MethodPost:
			return h.requireConfirmationByLink(w, r, act, r.URL.RequestURI())
		}
		f, err := readForm(r)
		if err != nil {
			return err
		}
		fields := hiddenFields(f)
		if err := h.checkConfirmation(r, f); err != nil {
			problem := respond.LocalizedFault(r.Context(), err)
			if problem.Code == auth.CodeReauthenticate {
				return h.confirmPage(w, r, http.StatusForbidden, templates.ConfirmPage{Action: r.URL.RequestURI(), Held: fields})
			}
			if problem, ok := asFormFault(r.Context(), err); ok {
				respond.SetRetryAfter(w.Header(), problem)
				return h.confirmPage(w, r, respond.Status(problem.Kind), templates.ConfirmPage{Action: r.URL.RequestURI(), Held: fields, Form: postedForm{}.toForm(problem)})
			}
			return err
		}
		dropped := f.values[confirmSecretNames]
		for _, name := range []string{confirmPassword, confirmCode, confirmSecretNames} {
			r.PostForm.Del(name)
			r.Form.Del(name)
		}
		if len(dropped) > 0 && !d.retypesSecrets {
			return fault.Errorf(fault.Malformed, "This form is damaged. Load the page again.")
		}
		return act(w, r.WithContext(context.WithValue(r.Context(), droppedSecretsKey{}, dropped)))
	}
}

// fillRoute replaces the route's parameters with the request's values.
func fillRoute(r *http.Request, route string) string {
	params := chi.RouteContext(r.Context()).URLParams
	for i, name := range params.Keys {
		route = strings.ReplaceAll(route, "{"+name+"}", url.PathEscape(params.Values[i]))
	}
	return route
}

// requireConfirmationByLink asks on a page of its own that leads to another: a download, or the page of the
// form.
func (h *Handler) requireConfirmationByLink(w http.ResponseWriter, r *http.Request, act respond.HandlerFunc, to string) error {
	if h.auth.RequireRecentAuth(actor(r)) == nil {
		return act(w, r)
	}
	return respond.See(w, r, "/confirm?"+url.Values{"return_to": {to}}.Encode())
}

// checkConfirmation is nil if the person confirmed lately, or does so with this form.
func (h *Handler) checkConfirmation(r *http.Request, f postedForm) error {
	err := h.auth.RequireRecentAuth(actor(r))
	if err == nil || !f.values.Has(confirmPassword) {
		return err
	}
	return h.auth.Reauthenticate(r.Context(), actor(r), f.secret(confirmPassword), f.text(confirmCode))
}

// confirmShow asks for the password, and leads on.
func (h *Handler) confirmShow(w http.ResponseWriter, r *http.Request) error {
	returnTo := respond.OwnPath(r.URL.Query().Get("return_to"), "/")
	return h.confirmPage(w, r, http.StatusOK, templates.ConfirmPage{Action: "/confirm", Held: []templates.HiddenField{{Name: "return_to", Value: returnTo}}})
}

// confirmSave checks the password, and leads on.
func (h *Handler) confirmSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.text("return_to"), "/")
	err = h.auth.RequireRecentAuth(actor(r))
	if err != nil && !actor(r).BySSO {
		err = h.auth.Reauthenticate(r.Context(), actor(r), f.secret(confirmPassword), f.text(confirmCode))
	}
	page := templates.ConfirmPage{Action: "/confirm", Held: []templates.HiddenField{{Name: "return_to", Value: returnTo}}}
	if problem, ok := asFormFault(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		page.Form = postedForm{}.toForm(problem)
		return h.confirmPage(w, r, respond.Status(problem.Kind), page)
	}
	if f := fault.As(err); f != nil && f.Code == auth.CodeReauthenticate {
		return h.confirmPage(w, r, http.StatusForbidden, page)
	}
	if err != nil {
		return err
	}
	return respond.See(w, r, returnTo)
}

// confirmSSO redirects a person with single sign-on to the provider again, with a demand for a new sign-in
// there.
func (h *Handler) confirmSSO(w http.ResponseWriter, r *http.Request) error {
	browser := h.ensureSSOBrowser(r)
	clearWriteDeadline(w)
	to, err := h.sso.Confirm(r.Context(), actor(r), browser)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.confirmPage(w, r, respond.Status(problem.Kind), templates.ConfirmPage{Form: templates.Form{Problem: problem.Message}})
	}
	if err != nil {
		return err
	}
	h.setSSOCookie(w, browser)
	return h.redirectToProvider(w, r, to, "/")
}

// confirmedBySSO ends in the tab of the provider. The action waits in the tab where it began.
func (h *Handler) confirmedBySSO(w http.ResponseWriter, r *http.Request, person auth.Actor) error {
	if err := h.auth.ConfirmBySSO(r.Context(), person); err != nil {
		return err
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Said(templates.SaidPage{
		Frame: h.signedOutFrame(r, i18n.T(r.Context(), "Confirmed")), Title: i18n.T(r.Context(), "Confirmed"),
		Text: i18n.T(r.Context(), "Close this tab, and go on in the one where you began."),
	}))
}

// showUnconfirmed says in that tab why the provider's response is not enough.
func (h *Handler) showUnconfirmed(w http.ResponseWriter, r *http.Request, err error) error {
	f := respond.LocalizedFault(r.Context(), err)
	if f.Kind == fault.Internal {
		return err
	}
	return h.respond.Page(w, r, respond.Status(f.Kind), templates.Said(templates.SaidPage{
		Frame: h.signedOutFrame(r, i18n.T(r.Context(), "Not confirmed")), Title: i18n.T(r.Context(), "Not confirmed"), Text: f.Message,
	}))
}

func (h *Handler) confirmPage(w http.ResponseWriter, r *http.Request, status int, page templates.ConfirmPage) error {
	a := actor(r)
	page.Frame, page.BySSO, page.Factor, page.Email = h.signedOutFrame(r, i18n.T(r.Context(), "Confirm that it is you")), a.BySSO, a.HasSecondFactor, a.Email
	page.Back = respond.CameFrom(r, "/")
	for _, field := range page.Held {
		page.Dropped = page.Dropped || field.Name == confirmSecretNames
	}
	return h.respond.Page(w, r, status, templates.Confirm(page))
}

// hiddenFields are the form's values. Of secrets it holds the field names only.
func hiddenFields(f postedForm) []templates.HiddenField {
	var fields []templates.HiddenField
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		for _, value := range f.values[name] {
			switch {
			case name == confirmPassword, name == confirmCode:
			case !secretFields[name]:
				fields = append(fields, templates.HiddenField{Name: name, Value: value})
			case strings.TrimSpace(value) != "":
				fields = append(fields, templates.HiddenField{Name: confirmSecretNames, Value: name})
			}
		}
	}
	return fields
}

type droppedSecretsKey struct{}

// checkSecretsRetyped returns a fault if the confirmation page dropped secrets of this form.
func (f postedForm) checkSecretsRetyped(ctx context.Context) error {
	dropped, _ := ctx.Value(droppedSecretsKey{}).([]string)
	var fields []fault.Field
	for _, name := range dropped {
		fields = append(fields, fault.Field{Location: name, Message: "Type this again: secrets are not kept while you confirm who you are."})
	}
	return fault.InvalidFields(fields...)
}
