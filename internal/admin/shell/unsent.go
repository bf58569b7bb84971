package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// UnsentPath is the page of the form that was sent after its session had ended.
const UnsentPath = "/unsent"

const (
	maxUnsent      = 64 << 10 // bytes of a form that is kept
	maxUnsentField = 100      // characters of a field that are shown
	unsentQuery    = "unsent" // in the address of an action: send the kept form
	formType       = "application/x-www-form-urlencoded"
)

// HoldUnsent keeps the form of a session that has ended until its person signs in, and reports whether it did. A script
// keeps the form on its page.
func (h *Shell) HoldUnsent(r *http.Request, refusal error) bool {
	ended, ok := errors.AsType[*auth.EndedSession](refusal)
	if !ok || r.Method != http.MethodPost || r.Header.Get("Content-Type") != formType || r.Header.Get("HX-Request") != "" || IsAsked(r) {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxUnsent+1))
	if err != nil || len(body)+len(r.URL.RequestURI()) > maxUnsent {
		return false
	}
	f := auth.UnsentForm{URI: r.URL.RequestURI(), Back: respond.CameFrom(r, "/"), Body: string(body)}
	if err := h.auth.HoldForm(r.Context(), ended, f); err != nil {
		h.Log.WarnContext(r.Context(), "form of an ended session not kept", "error", err)
		return false
	}
	return true
}

// UnsentPage asks whether to send the form that waits.
func (h *Shell) UnsentPage(w http.ResponseWriter, r *http.Request) error {
	ctx, a := r.Context(), Actor(r)
	f, tenant, err := h.auth.HeldForm(ctx, a)
	if err != nil {
		return err
	}
	if tenant.ID != a.Tenant.ID {
		title := i18n.T(ctx, "Switch to %s?", tenant.Name)
		return h.Respond.Page(w, r, http.StatusOK, templates.Ask(templates.AskPage{
			Frame: h.SignedOutFrame(r, title), Title: title, Text: i18n.T(ctx, "Your unsent form is for %s.", tenant.Name),
			Action: "/tenant", Held: []templates.HiddenField{{Name: "tenant", Value: tenant.Slug}, {Name: "return_to", Value: UnsentPath}},
			Yes: i18n.T(ctx, "Switch"), Back: "/",
		}))
	}
	action, err := url.ParseRequestURI(f.URI)
	if err != nil {
		return fmt.Errorf("parse address of a form: %w", err)
	}
	query := action.Query()
	query.Set(unsentQuery, "1")
	action.RawQuery = query.Encode()
	title := i18n.T(ctx, "Send your form?")
	return h.Respond.Page(w, r, http.StatusOK, templates.Ask(templates.AskPage{
		Frame: h.SignedOutFrame(r, title), Title: title, Text: i18n.T(ctx, "You were signed out before it was sent. Nothing was changed."),
		Lists: []templates.AskList{{Label: i18n.T(ctx, "From %s", f.Back), Items: unsentFields(ctx, f.Body)}}, Action: action.RequestURI(),
		Yes: i18n.T(ctx, "Send form"), Back: f.Back,
	}))
}

// unsentFields lists what was typed, without secrets.
func unsentFields(ctx context.Context, body string) (items []string) {
	values, _ := url.ParseQuery(body) // the action refuses a malformed form
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			switch {
			case value == "" || name == "return_to":
				continue
			case secretFields[name] || name == ConfirmPassword || name == ConfirmCode || name == confirmHeld:
				value = "••••••"
			}
			if short := []rune(CleanText(value)); len(short) > maxUnsentField {
				value = string(short[:maxUnsentField]) + "…"
			}
			items = append(items, unsentLabel(ctx, name)+": "+CleanText(value))
		}
	}
	return items
}

// unsentLabels are the labels of common fields.
var unsentLabels = map[string]i18n.Key{
	"name": "Name", "url": "URL", "description": "Description", "tags": "Tags", "email": "Email", "role": "Role", "transport": "Transport",
	"auth": "Authentication", "calls_per_minute": "Calls per minute", "calls_per_day": "Calls per day", "connector": "Connector", "agent": "Agent",
	"tool": "Tool", "slug": "Slug", "scopes": "Scopes", "client_id": "Client ID", "client_secret": "Client secret", "events": "Events",
	"password": "Password", "token": "Token", "headers": "Headers", "method": "Method", "path": "Path",
}

// unsentLabel is the label of a field, or its name as words.
func unsentLabel(ctx context.Context, name string) string {
	if label, ok := unsentLabels[name]; ok {
		return i18n.T(ctx, label)
	}
	words := strings.ReplaceAll(CleanText(name), "_", " ")
	if words == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:]
}

// restoreUnsent lets an action read the form that waits instead of the request's own. If the action fails, the form goes on
// waiting.
func (h *Shell) restoreUnsent(act respond.HandlerFunc) respond.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !r.URL.Query().Has(unsentQuery) {
			return act(w, r)
		}
		f, tenant, err := h.auth.HeldForm(r.Context(), Actor(r))
		if err != nil {
			return err
		}
		u, err := url.ParseRequestURI(f.URI)
		if err != nil || u.EscapedPath() != r.URL.EscapedPath() || tenant.ID != Actor(r).Tenant.ID {
			return fault.Errorf(fault.NotFound, "This form has expired. Nothing was changed.")
		}
		r.URL.RawQuery = u.RawQuery
		heldForm{contentType: formType, body: []byte(f.Body)}.restoreForm(r)
		if IsAsked(r) {
			return act(w, r)
		}
		h.auth.DropForm(r.Context())
		if err = act(w, r); err != nil {
			h.auth.PutForm(r.Context(), f)
		}
		return err
	}
}
