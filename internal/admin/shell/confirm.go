package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// Form fields of the confirmation.
const (
	ConfirmPassword = "confirm_password"
	ConfirmCode     = "confirm_code"
	confirmHeld     = "confirm_held" // the form of the action, sealed
)

// askHeader is in the request of a script that asks, with the action's own form, whether the action may be sent. Its value
// is the identity of the page. Nothing is done: 204 means yes, 403 brings the dialog.
const askHeader = "Patchbay-Ask"

// PageIdentity names the person and the tenant of a page. A form is not sent on behalf of others after a sign-in elsewhere.
func PageIdentity(a auth.Actor) string { return a.Tenant.Slug + "/" + a.Email }

// IsAsked reports whether a script asks, on behalf of a form that waits on its page.
func IsAsked(r *http.Request) bool { return r.Header.Get(askHeader) != "" }

// answerAsk lets a script ask before it sends a form. harmless may be nil.
func (h *Shell) answerAsk(route string, harmless func(*http.Request) (bool, error), act respond.HandlerFunc) respond.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		identity := r.Header.Get(askHeader)
		if identity == "" {
			return act(w, r)
		}
		if a, ok := auth.ActorFrom(r.Context()); ok && PageIdentity(a) != identity {
			return fault.Errorf(fault.Conflict, "You are signed in as another person or in another organisation. Reload the page.")
		}
		if route == "POST /confirm" {
			return act(w, r)
		}
		rule, known := ConfirmRules[route]
		if known && !rule.Confirms || h.auth.RequireRecentAuth(Actor(r)) == nil {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		if err := readUpload(r); err != nil {
			return err
		}
		if harmless != nil {
			if ok, err := harmless(r); err != nil {
				return err
			} else if ok {
				w.WriteHeader(http.StatusNoContent)
				return nil
			}
		}
		return h.ConfirmPage(w, r, http.StatusForbidden, templates.ConfirmPage{Act: rule.actText(r.Context(), r.PostForm), Action: "/confirm"})
	}
}

// readUpload reads a form that may have files.
func readUpload(r *http.Request) error {
	if err := r.ParseMultipartForm(middleware.MaxBody); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return formError(err)
	}
	return nil
}

// requireConfirmation wraps a dangerous action. Unless the person confirmed lately, it shows a form that holds the action
// sealed, and runs it after the confirmation. If harmless is not nil, it tells the forms that need none.
func (h *Shell) requireConfirmation(route string, harmless func(*http.Request) (bool, error), act respond.HandlerFunc) respond.HandlerFunc {
	rule, known := ConfirmRules[route]
	if known && !rule.Confirms {
		return act
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodPost {
			return h.requireConfirmationByLink(w, r, act, r.URL.RequestURI())
		}
		held, err := h.readHeldForm(w, r)
		if err != nil {
			return err
		}
		if harmless != nil {
			if ok, err := harmless(held.restoreForm(r)); err != nil {
				return err
			} else if ok {
				return act(w, held.restoreForm(r))
			}
		}
		if err := h.checkConfirmation(r, held); err != nil {
			return h.askToConfirm(w, r, rule, held, err)
		}
		return act(w, held.restoreForm(r))
	}
}

// heldForm is the form of an action that may have to wait for a confirmation.
type heldForm struct {
	contentType string
	body        []byte
	answer      PostedForm // of the confirmation; without values if this is the action's own request
}

// restoreForm returns the request of the action, with its form unread.
func (held heldForm) restoreForm(r *http.Request) *http.Request {
	r.Header.Set("Content-Type", held.contentType)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(held.body)), int64(len(held.body))
	r.Form, r.PostForm, r.MultipartForm = nil, nil, nil
	return r
}

// readHeldForm reads the action's form: from the request, or from the confirmation that holds it.
func (h *Shell) readHeldForm(w http.ResponseWriter, r *http.Request) (heldForm, error) {
	middleware.SetBodyLimit(w, r, 2*middleware.MaxBody) // a sealed form is a third longer
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return heldForm{}, formError(err)
	}
	held := heldForm{contentType: r.Header.Get("Content-Type"), body: body}
	if !bytes.Contains(body, []byte(confirmHeld)) {
		if len(body) > middleware.MaxBody {
			return heldForm{}, &http.MaxBytesError{Limit: middleware.MaxBody}
		}
		return held, nil
	}
	f, err := ReadForm(held.restoreForm(r))
	if err != nil || !f.Values.Has(confirmHeld) {
		return held, err
	}
	plain, err := h.store.OpenHandle(confirmHeld, heldOwner(r), f.Values.Get(confirmHeld))
	if err != nil {
		return heldForm{}, fault.Wrap(fault.Malformed, err, "Invalid form. Reload the page.")
	}
	contentType, form, _ := bytes.Cut(plain, []byte("\n"))
	return heldForm{contentType: string(contentType), body: form, answer: f}, nil
}

// heldOwner binds a held form to the session and to the action.
func heldOwner(r *http.Request) string { return Actor(r).Session.String() + " " + r.URL.RequestURI() }

// checkConfirmation is nil if the person confirmed lately, or does so with this form.
func (h *Shell) checkConfirmation(r *http.Request, held heldForm) error {
	err := h.auth.RequireRecentAuth(Actor(r))
	if err == nil || !held.answer.Values.Has(ConfirmPassword) {
		return err
	}
	return h.auth.Reauthenticate(r.Context(), Actor(r), held.answer.Secret(ConfirmPassword), held.answer.Text(ConfirmCode))
}

// askToConfirm shows the form of the confirmation, which holds the action's.
func (h *Shell) askToConfirm(w http.ResponseWriter, r *http.Request, rule ConfirmRule, held heldForm, err error) error {
	page, status := templates.ConfirmPage{Action: r.URL.RequestURI()}, http.StatusForbidden
	if fault.As(err) == nil || fault.As(err).Code != auth.CodeReauthenticate {
		problem, ok := AsFormFault(r.Context(), err)
		if !ok {
			return err
		}
		respond.SetRetryAfter(w.Header(), problem)
		page.Form, status = PostedForm{}.ToForm(problem), respond.Status(problem.Kind)
	}
	sealed, err := h.store.SealHandle(confirmHeld, heldOwner(r), append([]byte(held.contentType+"\n"), held.body...))
	if err != nil {
		return err
	}
	if err := readUpload(held.restoreForm(r)); err != nil {
		return err
	}
	page.Act, page.Held = rule.actText(r.Context(), r.PostForm), []templates.HiddenField{{Name: confirmHeld, Value: sealed}}
	return h.ConfirmPage(w, r, status, page)
}

// requireConfirmationByLink asks on a page of its own that leads to a download.
func (h *Shell) requireConfirmationByLink(w http.ResponseWriter, r *http.Request, act respond.HandlerFunc, to string) error {
	if h.auth.RequireRecentAuth(Actor(r)) == nil {
		return act(w, r)
	}
	return respond.See(w, r, "/confirm?"+url.Values{"return_to": {to}}.Encode())
}

// ConfirmPage responds with the form that asks a person to confirm their identity: a page, or the content of a dialog for
// a script.
func (h *Shell) ConfirmPage(w http.ResponseWriter, r *http.Request, status int, page templates.ConfirmPage) error {
	a := Actor(r)
	page.Frame, page.BySSO, page.Factor, page.Email = h.SignedOutFrame(r, i18n.T(r.Context(), "Confirm it's you")), a.BySSO, a.HasSecondFactor, a.Email
	if IsAsked(r) {
		return h.Respond.Page(w, r, status, templates.ConfirmDialog(page))
	}
	page.Back = respond.CameFrom(r, "/")
	return h.Respond.Page(w, r, status, templates.Confirm(page))
}

// ConfirmAct words the action behind a link that asks for a confirmation: "export the audit log".
func ConfirmAct(ctx context.Context, returnTo string) string {
	path, _, _ := strings.Cut(returnTo, "?")
	return ConfirmRules["GET "+path].actText(ctx, nil)
}

// MarkTypedSecrets asks again for the secrets that were typed, because a page never holds them.
func (f PostedForm) MarkTypedSecrets(ctx context.Context, form templates.Form) {
	for name := range f.Values {
		if secretFields[name] && f.Text(name) != "" {
			form.Errors[name] = i18n.T(ctx, "Enter it again; forms don't keep secrets.")
		}
	}
}
