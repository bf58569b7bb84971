package shell

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// Sure is the form field by which a person says yes to an AskPage.
const Sure = "sure"

// IsSure reports whether the person was asked and said yes.
func (f PostedForm) IsSure() bool { return f.Values.Get(Sure) != "" }

// IsUnsure reports whether a form has no answer to an AskPage yet, so that the action asks or has no need to.
func IsUnsure(r *http.Request) (bool, error) {
	f, err := ReadForm(r)
	return !f.IsSure(), err
}

// AskPage asks before an action, on a page that holds its form. The form must have no secrets.
func (h *Shell) AskPage(w http.ResponseWriter, r *http.Request, page templates.AskPage) error {
	f, err := ReadForm(r)
	if err != nil {
		return err
	}
	page.Frame, page.Action, page.Back = h.SignedOutFrame(r, page.Title), r.URL.RequestURI(), respond.CameFrom(r, "/")
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		for _, value := range f.Values[name] {
			page.Held = append(page.Held, templates.HiddenField{Name: name, Value: value})
		}
	}
	page.Held = append(page.Held, templates.HiddenField{Name: Sure, Value: "yes"})
	return h.Respond.Page(w, r, http.StatusUnprocessableEntity, templates.Ask(page))
}

// maxAskedTools bounds the tools that a question names.
const maxAskedTools = 20

// AskBroadGrants asks before several grants that reach far; asked is false if err is another one.
func (h *Shell) AskBroadGrants(w http.ResponseWriter, r *http.Request, err error) (asked bool, _ error) {
	broad, ok := errors.AsType[*manage.BroadGrantsError](err)
	if !ok {
		return false, err
	}
	ctx := r.Context()
	page := templates.AskPage{Yes: i18n.T(ctx, "Grant access")}
	if n := len(broad.Destructive); n > 0 {
		names := make([]string, n)
		for i, t := range broad.Destructive {
			names[i] = t.Connector + ": " + CleanText(t.Tool)
		}
		page.Title = i18n.T(ctx, "Grant all tools?")
		page.Text = i18n.N(ctx, n, "%s of them is destructive. New tools are included as they appear.", "%s of them are destructive. New tools are included as they appear.")
		page.Lists = []templates.AskList{{Label: i18n.T(ctx, "Destructive"), Items: ShortenAsked(r, names)}}
	}
	if broad.NeverAsks > 0 {
		if page.Title == "" {
			page.Title, page.Yes = i18n.T(ctx, "Never ask for approval?"), i18n.T(ctx, "Never ask")
		}
		page.Text = strings.TrimSpace(page.Text + " " + i18n.N(ctx, broad.NeverAsks, "Calls to %s connector will run without approval, destructive ones included.", "Calls to %s connectors will run without approval, destructive ones included."))
	}
	return true, h.AskPage(w, r, page)
}

// ShortenAsked cuts the names of a question, and counts the rest.
func ShortenAsked(r *http.Request, names []string) []string {
	if more := len(names) - maxAskedTools; more > 0 {
		return append(names[:maxAskedTools:maxAskedTools], i18n.N(r.Context(), more, "%s more", "%s more"))
	}
	return names
}
