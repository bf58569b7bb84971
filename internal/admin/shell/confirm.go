package shell

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
	ConfirmPassword    = "confirm_password"
	ConfirmCode        = "confirm_code"
	confirmSecretNames = "confirm_dropped" // names of the fields with dropped secrets
)

// requireConfirmation wraps a dangerous action. Unless the person confirmed lately, it shows a form that holds
// the action without its secrets and runs it after the confirmation.
func (h *Shell) requireConfirmation(route string, act respond.HandlerFunc) respond.HandlerFunc {
	d, known := ConfirmRules[route]
	if known && !d.Confirms {
		return act
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case d.StartPage != "":
			return h.requireConfirmationByLink(w, r, act, startPage(r, d.StartPage))
		case r.Method != http.MethodPost:
			return h.requireConfirmationByLink(w, r, act, r.URL.RequestURI())
		}
		f, err := ReadForm(r)
		if err != nil {
			return err
		}
		fields := hiddenFields(f)
		if err := h.checkConfirmation(r, f); err != nil {
			problem := respond.LocalizedFault(r.Context(), err)
			if problem.Code == auth.CodeReauthenticate {
				return h.ConfirmPage(w, r, http.StatusForbidden, templates.ConfirmPage{Action: r.URL.RequestURI(), Held: fields})
			}
			if problem, ok := AsFormFault(r.Context(), err); ok {
				respond.SetRetryAfter(w.Header(), problem)
				return h.ConfirmPage(w, r, respond.Status(problem.Kind), templates.ConfirmPage{Action: r.URL.RequestURI(), Held: fields, Form: PostedForm{}.ToForm(problem)})
			}
			return err
		}
		dropped := f.Values[confirmSecretNames]
		for _, name := range []string{ConfirmPassword, ConfirmCode, confirmSecretNames} {
			r.PostForm.Del(name)
			r.Form.Del(name)
		}
		if len(dropped) > 0 && !d.retypesSecrets {
			return fault.Errorf(fault.Malformed, "Invalid form. Reload the page.")
		}
		return act(w, r.WithContext(context.WithValue(r.Context(), droppedSecretsKey{}, dropped)))
	}
}

// startPage returns the page that an action starts on: the form's return_to if it is that page or one below, else the
// route's.
func startPage(r *http.Request, route string) string {
	page := fillRoute(r, route)
	if f, err := ReadForm(r); err == nil && strings.HasPrefix(respond.OwnPath(f.Text("return_to"), ""), page+"/") {
		return respond.OwnPath(f.Text("return_to"), page)
	}
	return page
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
func (h *Shell) requireConfirmationByLink(w http.ResponseWriter, r *http.Request, act respond.HandlerFunc, to string) error {
	if h.auth.RequireRecentAuth(Actor(r)) == nil {
		return act(w, r)
	}
	return respond.See(w, r, "/confirm?"+url.Values{"return_to": {to}}.Encode())
}

// checkConfirmation is nil if the person confirmed lately, or does so with this form.
func (h *Shell) checkConfirmation(r *http.Request, f PostedForm) error {
	err := h.auth.RequireRecentAuth(Actor(r))
	if err == nil || !f.Values.Has(ConfirmPassword) {
		return err
	}
	return h.auth.Reauthenticate(r.Context(), Actor(r), f.Secret(ConfirmPassword), f.Text(ConfirmCode))
}

// ConfirmPage responds with the form that asks a person to confirm their identity.
func (h *Shell) ConfirmPage(w http.ResponseWriter, r *http.Request, status int, page templates.ConfirmPage) error {
	a := Actor(r)
	page.Frame, page.BySSO, page.Factor, page.Email = h.SignedOutFrame(r, i18n.T(r.Context(), "Confirm it's you")), a.BySSO, a.HasSecondFactor, a.Email
	page.Back = respond.CameFrom(r, "/")
	for _, field := range page.Held {
		page.Dropped = page.Dropped || field.Name == confirmSecretNames
	}
	return h.Respond.Page(w, r, status, templates.Confirm(page))
}

// hiddenFields are the form's values. Of secrets it holds the field names only.
func hiddenFields(f PostedForm) []templates.HiddenField {
	var fields []templates.HiddenField
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		for _, value := range f.Values[name] {
			switch {
			case name == ConfirmPassword, name == ConfirmCode:
			case !secretFields[name]:
				fields = append(fields, templates.HiddenField{Name: name, Value: value})
			case strings.TrimSpace(value) != "":
				fields = append(fields, templates.HiddenField{Name: confirmSecretNames, Value: name})
			}
		}
	}
	return fields
}

// MarkTypedSecrets asks again for the secrets that were typed, because a page never holds them.
func (f PostedForm) MarkTypedSecrets(ctx context.Context, form templates.Form) {
	for name := range f.Values {
		if secretFields[name] && f.Text(name) != "" {
			form.Errors[name] = i18n.T(ctx, "Enter it again; forms don't keep secrets.")
		}
	}
}

type droppedSecretsKey struct{}

// CheckSecretsRetyped returns a fault if the confirmation page dropped secrets of this form.
func (f PostedForm) CheckSecretsRetyped(ctx context.Context) error {
	dropped, _ := ctx.Value(droppedSecretsKey{}).([]string)
	var fields []fault.Field
	for _, name := range dropped {
		fields = append(fields, fault.Field{Location: name, Message: "Enter this again. Secrets aren't kept during confirmation."})
	}
	return fault.InvalidFields(fields...)
}
