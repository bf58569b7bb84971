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
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// What the form that asks who somebody is sends besides the act that it holds.
const (
	confirmPassword = "confirm_password"
	confirmCode     = "confirm_code"
	confirmDropped  = "confirm_dropped" // the secrets that were typed, by their fields' names
)

// guarded asks before a dangerous act, where the person has not confirmed lately who they are. The act is held in the form that asks, but for
// its secrets, and done after that.
func (h *Handler) guarded(route string, act respond.HandlerFunc) respond.HandlerFunc {
	d, known := dangers[route]
	if known && !d.asks {
		return act
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case d.afresh != "":
			return h.guardedLink(w, r, act, filled(r, d.afresh))
		case r.Method != http.MethodPost:
			return h.guardedLink(w, r, act, r.URL.RequestURI())
		}
		f, err := readForm(r)
		if err != nil {
			return err
		}
		held := holdForm(f)
		if err := h.proven(r, f); err != nil {
			problem := respond.Told(r.Context(), err)
			if problem.Code == auth.CodeConfirm {
				return h.confirmPage(w, r, http.StatusForbidden, templates.ConfirmPage{Action: r.URL.RequestURI(), Held: held})
			}
			if problem, ok := mendable(r.Context(), err); ok {
				respond.SetRetryAfter(w.Header(), problem)
				return h.confirmPage(w, r, respond.Status(problem.Kind), templates.ConfirmPage{Action: r.URL.RequestURI(), Held: held, Form: form{}.again(problem)})
			}
			return err
		}
		dropped := f.values[confirmDropped]
		for _, name := range []string{confirmPassword, confirmCode, confirmDropped} {
			r.PostForm.Del(name)
			r.Form.Del(name)
		}
		if len(dropped) > 0 && !d.retypes {
			return fault.Errorf(fault.Malformed, "This form is damaged. Load the page again.")
		}
		return act(w, r.WithContext(context.WithValue(r.Context(), droppedKey{}, dropped)))
	}
}

// filled is a route with the values that its names have in the request's.
func filled(r *http.Request, route string) string {
	params := chi.RouteContext(r.Context()).URLParams
	for i, name := range params.Keys {
		route = strings.ReplaceAll(route, "{"+name+"}", url.PathEscape(params.Values[i]))
	}
	return route
}

// guardedLink asks on a page of its own that leads to another: to what is handed out, or to the form.
func (h *Handler) guardedLink(w http.ResponseWriter, r *http.Request, act respond.HandlerFunc, to string) error {
	if h.auth.RequireConfirmed(actor(r)) == nil {
		return act(w, r)
	}
	return respond.See(w, r, "/confirm?"+url.Values{"return_to": {to}}.Encode())
}

// proven is nil where the person has confirmed lately who they are, or does so with this form.
func (h *Handler) proven(r *http.Request, f form) error {
	err := h.auth.RequireConfirmed(actor(r))
	if err == nil || !f.values.Has(confirmPassword) {
		return err
	}
	return h.auth.Confirm(r.Context(), actor(r), f.secret(confirmPassword), f.text(confirmCode))
}

// confirmShow asks who somebody is, and leads on.
func (h *Handler) confirmShow(w http.ResponseWriter, r *http.Request) error {
	returnTo := respond.OwnPath(r.URL.Query().Get("return_to"), "/")
	return h.confirmPage(w, r, http.StatusOK, templates.ConfirmPage{Action: "/confirm", Held: []templates.HeldField{{Name: "return_to", Value: returnTo}}})
}

// confirmSave takes the password, and leads on.
func (h *Handler) confirmSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.text("return_to"), "/")
	err = h.auth.RequireConfirmed(actor(r))
	if err != nil && !actor(r).BySSO {
		err = h.auth.Confirm(r.Context(), actor(r), f.secret(confirmPassword), f.text(confirmCode))
	}
	page := templates.ConfirmPage{Action: "/confirm", Held: []templates.HeldField{{Name: "return_to", Value: returnTo}}}
	if problem, ok := mendable(r.Context(), err); ok {
		respond.SetRetryAfter(w.Header(), problem)
		page.Form = form{}.again(problem)
		return h.confirmPage(w, r, respond.Status(problem.Kind), page)
	}
	if f := fault.As(err); f != nil && f.Code == auth.CodeConfirm {
		return h.confirmPage(w, r, http.StatusForbidden, page)
	}
	if err != nil {
		return err
	}
	return respond.See(w, r, returnTo)
}

// confirmSSO sends whoever came by single sign-on to the provider again, which is to ask for the password whatever it remembers.
func (h *Handler) confirmSSO(w http.ResponseWriter, r *http.Request) error {
	browser := h.ssoBrowser(r)
	waitLong(w)
	to, err := h.sso.Confirm(r.Context(), actor(r), browser)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.confirmPage(w, r, respond.Status(problem.Kind), templates.ConfirmPage{Form: templates.Form{Problem: problem.Message}})
	}
	if err != nil {
		return err
	}
	h.keepBrowser(w, browser)
	return h.leaveToSignIn(w, r, to, "/")
}

// confirmedBySSO ends in the tab that went to the provider. The act waits in the one where it was begun.
func (h *Handler) confirmedBySSO(w http.ResponseWriter, r *http.Request, person auth.Actor) error {
	if err := h.auth.ConfirmBySSO(r.Context(), person); err != nil {
		return err
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Said(templates.SaidPage{
		Frame: h.door(r, words.T(r.Context(), "Confirmed")), Title: words.T(r.Context(), "Confirmed"),
		Text: words.T(r.Context(), "Close this tab, and go on in the one where you began."),
	}))
}

// notConfirmed says in that tab why the provider's word does not do.
func (h *Handler) notConfirmed(w http.ResponseWriter, r *http.Request, err error) error {
	f := respond.Told(r.Context(), err)
	if f.Kind == fault.Internal {
		return err
	}
	return h.respond.Page(w, r, respond.Status(f.Kind), templates.Said(templates.SaidPage{
		Frame: h.door(r, words.T(r.Context(), "Not confirmed")), Title: words.T(r.Context(), "Not confirmed"), Text: f.Message,
	}))
}

func (h *Handler) confirmPage(w http.ResponseWriter, r *http.Request, status int, page templates.ConfirmPage) error {
	a := actor(r)
	page.Frame, page.BySSO, page.Factor, page.Email = h.door(r, words.T(r.Context(), "Confirm that it is you")), a.BySSO, a.Proves, a.Email
	page.Back = respond.CameFrom(r, "/")
	for _, held := range page.Held {
		page.Dropped = page.Dropped || held.Name == confirmDropped
	}
	return h.respond.Page(w, r, status, templates.Confirm(page))
}

// holdForm is what was typed, but for secrets: of those the names of the fields are held.
func holdForm(f form) []templates.HeldField {
	var held []templates.HeldField
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		for _, value := range f.values[name] {
			switch {
			case name == confirmPassword, name == confirmCode:
			case !secretFields[name]:
				held = append(held, templates.HeldField{Name: name, Value: value})
			case strings.TrimSpace(value) != "":
				held = append(held, templates.HeldField{Name: confirmDropped, Value: name})
			}
		}
	}
	return held
}

type droppedKey struct{}

// retype is a fault where secrets were typed into the form that were not kept while its person confirmed who they are.
func (f form) retype(ctx context.Context) error {
	dropped, _ := ctx.Value(droppedKey{}).([]string)
	var fields []fault.Field
	for _, name := range dropped {
		fields = append(fields, fault.Field{Location: name, Message: "Type this again: secrets are not kept while you confirm who you are."})
	}
	return fault.InvalidFields(fields...)
}
