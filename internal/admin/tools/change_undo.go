package tools

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// maxUndone bounds the decisions that a message offers to undo: its form is in the session.
const maxUndone = 100

// newUndo is the form that undoes decisions just taken. It is nil if one was replaced meanwhile, or there are too many.
func (h *Handler) newUndo(r *http.Request, verdicts []manage.ChangeVerdict, returnTo string) *respond.Undo {
	if len(verdicts) > maxUndone {
		return nil
	}
	refs, tools := make([]connectors.Ref, len(verdicts)), make([]string, len(verdicts))
	for i, v := range verdicts {
		refs[i], tools[i] = v.Connector, v.Tool
	}
	decided, err := h.TenantStore(r).Tools().Decided(r.Context(), refs, tools)
	if err != nil {
		h.Log.WarnContext(r.Context(), "decisions not read", "error", err)
		return nil
	}
	form := url.Values{"return_to": {returnTo}}
	for _, v := range verdicts {
		for _, d := range decided {
			if d.Connector == v.Connector && d.Tool == v.Tool && d.State == v.State() && d.After == *v.Hash {
				form.Add("decision", decisionValue(d.Decision))
			}
		}
	}
	if len(form["decision"]) != len(verdicts) {
		return nil
	}
	return &respond.Undo{Action: "/changes/undo", Form: form}
}

// decisionValue is a decision in a form, see readDecisions.
func decisionValue(d store.Decision) string {
	return d.Change.String() + "@" + strconv.FormatInt(d.DecidedAt.UnixMicro(), 10)
}

func readDecisions(f shell.PostedForm) ([]store.Decision, error) {
	var decisions []store.Decision
	for _, value := range f.Values["decision"] {
		id, at, _ := strings.Cut(value, "@")
		change, ok := connectors.Ref(id).UUID()
		micro, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil {
			return nil, fault.Errorf(fault.Malformed, "Invalid form. Reload the page.")
		}
		decisions = append(decisions, store.Decision{Change: connectors.ToolChangeID{UUID: change}, DecidedAt: time.UnixMicro(micro)})
	}
	return decisions, nil
}

// changeUndo undoes decisions just taken.
func (h *Handler) changeUndo(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	decisions, err := readDecisions(f)
	if err != nil {
		return err
	}
	undone, err := h.Registry.UndoDecisions(r.Context(), shell.Actor(r), decisions)
	if err != nil {
		return h.backToChanges(w, r, f, err)
	}
	return h.Respond.Back(w, r, readReturnList(f.Text("return_to")), respond.Flash{Kind: respond.Notice, Text: undoneText(r.Context(), undone)})
}

func undoneText(ctx context.Context, undone []connectors.ToolChange) string {
	if len(undone) > 1 {
		return i18n.N(ctx, len(undone), "Undid %s decision.", "Undid %s decisions.")
	}
	return fmt.Sprintf(i18n.T(ctx, "Undid the decision on %s of %s."), ChangedName(ctx, undone[0].Tool), undone[0].ConnectorName)
}
