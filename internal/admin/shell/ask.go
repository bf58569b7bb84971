package shell

import (
	"maps"
	"net/http"
	"slices"

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
