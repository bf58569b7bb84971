package tools

import (
	"encoding/hex"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/toolchange"
	"patchbay/web/templates"
)

// The form's field for high-risk changes that stay undecided.
const (
	exceptField = "except"
	exceptRisky = "risky"
)

// decidesNothingRisky reports whether the form accepts no high-risk change.
func decidesNothingRisky(r *http.Request) (bool, error) {
	f, err := shell.ReadForm(r)
	return !f.IsSure() || f.Text(exceptField) == exceptRisky, err
}

// changeDecideMany accepts or rejects the checked changes, all or none. High-risk ones are accepted only after a question.
func (h *Handler) changeDecideMany(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	verdicts, err := readVerdicts(f)
	if err != nil {
		return h.backToChanges(w, r, f, err)
	}
	var left int
	if f.Text("do") == "accept" {
		risky, err := h.TenantStore(r).Tools().Risky(r.Context(), verdictHashes(verdicts))
		if err != nil {
			return err
		}
		others := withoutRisky(verdicts, risky)
		switch left = len(verdicts) - len(others); {
		case left > 0 && f.Text(exceptField) == exceptRisky:
			verdicts = others
		case left > 0 && !f.IsSure():
			return h.AskPage(w, r, askRisky(r, verdicts, others, risky))
		default:
			left = 0
		}
	}
	if err := h.Registry.DecideChanges(r.Context(), shell.Actor(r), verdicts); err != nil {
		return h.backToChanges(w, r, f, err)
	}
	text := i18n.N(r.Context(), len(verdicts), "Rejected %s change.", "Rejected %s changes.")
	if f.Text("do") == "accept" {
		text = i18n.N(r.Context(), len(verdicts), "Accepted %s change.", "Accepted %s changes.")
	}
	if left > 0 {
		text += " " + i18n.N(r.Context(), left, "%s high-risk change still waits.", "%s high-risk changes still wait.")
	}
	returnTo := readReturnList(f.Text("return_to"))
	return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Notice, Text: text, Undo: h.newUndo(r, verdicts, returnTo)})
}

func (h *Handler) backToChanges(w http.ResponseWriter, r *http.Request, f shell.PostedForm, err error) error {
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, readReturnList(f.Text("return_to")), respond.Flash{Kind: respond.Alert, Text: faultText(problem)})
	}
	return err
}

// readVerdicts reads the checked changes, each as verdictValue wrote it.
func readVerdicts(f shell.PostedForm) ([]manage.ChangeVerdict, error) {
	do := f.Text("do")
	if do != "accept" && do != "reject" {
		return nil, fault.Errorf(fault.Invalid, "Choose an action.")
	}
	var verdicts []manage.ChangeVerdict
	for _, value := range f.Values["change"] {
		slug, rest, _ := strings.Cut(value, ":")
		text, tool, ok := strings.Cut(rest, ":")
		var hash connectors.Hash
		if n, err := hex.Decode(hash[:], []byte(text)); !ok || err != nil || n != len(hash) || len(text) != hex.EncodedLen(n) {
			return nil, fault.Errorf(fault.Malformed, "This form has no definition. Reload the page.")
		}
		verdicts = append(verdicts, manage.ChangeVerdict{
			Connector: connectors.Ref(slug), ToolVerdict: manage.ToolVerdict{Tool: tool, Accept: do == "accept", Hash: &hash},
		})
	}
	return verdicts, nil
}

// verdictValue is the checkbox of a change that waits; empty if it cannot be decided.
func verdictValue(c connectors.ToolChange) string {
	if c.State != connectors.ChangeWaiting || c.After == nil {
		return ""
	}
	return c.ConnectorSlug + ":" + c.After.String() + ":" + c.Tool
}

func verdictHashes(verdicts []manage.ChangeVerdict) []connectors.Hash {
	hashes := make([]connectors.Hash, len(verdicts))
	for i, v := range verdicts {
		hashes[i] = *v.Hash
	}
	return hashes
}

// withoutRisky compares hashes alone, because the store knows connector and tool by other spellings than a form may have.
func withoutRisky(verdicts []manage.ChangeVerdict, risky []connectors.ToolChange) []manage.ChangeVerdict {
	isRisky := map[connectors.Hash]bool{}
	for _, c := range risky {
		isRisky[*c.After] = true
	}
	var others []manage.ChangeVerdict
	for _, v := range verdicts {
		if !isRisky[*v.Hash] {
			others = append(others, v)
		}
	}
	return others
}

// askRisky asks before high-risk changes are accepted among others.
func askRisky(r *http.Request, all, others []manage.ChangeVerdict, risky []connectors.ToolChange) templates.AskPage {
	ctx := r.Context()
	ask := templates.AskPage{
		Title: i18n.N(ctx, len(all), "Accept %s change?", "Accept %s changes?"), Danger: true,
		Text: i18n.N(ctx, len(all)-len(others), "%s of them is high risk: agents follow the texts of their tools.", "%s of them are high risk: agents follow the texts of their tools."),
		Yes:  i18n.N(ctx, len(all), "Accept %s change, high risk included", "Accept all %s changes, high risk included"),
	}
	if len(others) > 0 {
		ask.Other = &templates.AskOther{Text: i18n.N(ctx, len(others), "Accept the other one only", "Accept the %s others only"), Name: exceptField, Value: exceptRisky}
	}
	list := templates.AskList{Label: i18n.T(ctx, "High risk")}
	for _, c := range risky {
		list.Items = append(list.Items, i18n.T(ctx, "%s of %s: %s", ChangedName(ctx, c.Tool), c.ConnectorName, riskyKinds(r, c.Kinds)))
	}
	ask.Lists = []templates.AskList{list}
	return ask
}

// riskyKinds names the kinds of difference that make a change risky.
func riskyKinds(r *http.Request, kinds []toolchange.Kind) string {
	var names []string
	for _, k := range kinds {
		if k.Risk() == toolchange.High {
			names = append(names, changeName(r.Context(), k))
		}
	}
	return strings.Join(names, ", ")
}
