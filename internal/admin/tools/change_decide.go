package tools

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

// changeAccept accepts the definition that the person saw. A risky one needs an answer to the page's question.
func (h *Handler) changeAccept(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	if !f.IsSure() {
		if asked, err := h.askBeforeAccept(w, r, f); asked || err != nil {
			return err
		}
	}
	return h.decideChange(w, r, manage.ToolVerdict{Accept: true})
}

// askBeforeAccept asks if the newest change is risky, and is the one that the person saw.
func (h *Handler) askBeforeAccept(w http.ResponseWriter, r *http.Request, f shell.PostedForm) (asked bool, err error) {
	tool := shell.PathValue(r, "tool")
	among, err := h.Registry.ToolChange(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"), tool, nil, store.Page{Limit: 1})
	if err != nil {
		return false, err // a wrong path is not found, whatever the form has
	}
	hash, err := readSeenHash(f)
	if err != nil || among.Shown == nil || !among.Shown.State.IsDecidable() || among.Shown.Risk != toolchange.High || among.Shown.After == nil || *among.Shown.After != hash {
		return false, err
	}
	view := h.newChangePage(r, among, tool)
	fillChange(r.Context(), &view, *among.Shown, h.Now())
	return true, h.AskPage(w, r, *acceptQuestion(r.Context(), view, among))
}

// changeReject hides the tool from agents.
func (h *Handler) changeReject(w http.ResponseWriter, r *http.Request) error {
	return h.decideChange(w, r, manage.ToolVerdict{})
}

// changeKeep serves agents the accepted definition, and asks no more until the next change.
func (h *Handler) changeKeep(w http.ResponseWriter, r *http.Request) error {
	return h.decideChange(w, r, manage.ToolVerdict{Keep: true})
}

// changeRestore serves agents an earlier definition.
func (h *Handler) changeRestore(w http.ResponseWriter, r *http.Request) error {
	return h.submitDecision(w, r, i18n.T(r.Context(), "%s of %s is back at its earlier version."), nil, func(hash connectors.Hash) error {
		return h.Registry.RestoreTool(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), shell.PathValue(r, "tool"), hash)
	})
}

func (h *Handler) decideChange(w http.ResponseWriter, r *http.Request, v manage.ToolVerdict) error {
	v.Tool = shell.PathValue(r, "tool")
	return h.submitVerdict(w, r, decidedText(r.Context(), v), v)
}

// submitVerdict is submitDecision of a verdict.
func (h *Handler) submitVerdict(w http.ResponseWriter, r *http.Request, done string, v manage.ToolVerdict) error {
	return h.submitDecision(w, r, done, &v, func(hash connectors.Hash) (err error) {
		v.Hash = &hash
		if uri, isSkill := connectors.SkillOfTool(v.Tool); isSkill {
			_, err = h.Registry.DecideSkill(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), uri, v)
		} else if v.Tool == connectors.InstructionsTool {
			_, err = h.Registry.DecideInstructions(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), v)
		} else {
			_, err = h.Registry.DecideTool(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), v)
		}
		return err
	})
}

// submitDecision runs one decision about the definition in the form. done has placeholders for the names of tool and connector. A verdict
// can be undone.
func (h *Handler) submitDecision(w http.ResponseWriter, r *http.Request, done string, v *manage.ToolVerdict, decide func(connectors.Hash) error) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	tool := shell.PathValue(r, "tool")
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	hash, err := readSeenHash(f)
	if err != nil {
		return err
	}
	err = decide(hash)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok { // the tool changed again, or another person decided first
		return h.Respond.Back(w, r, withReturnTo(shell.ReviewedPath(c.Slug, tool)+"/changes", readReturnList(f.Text("return_to"))), respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	flash, returnTo := respond.Flash{Kind: respond.Notice, Text: fmt.Sprintf(done, ChangedName(r.Context(), tool), c.Name)}, readReturnList(f.Text("return_to"))
	if v != nil {
		flash.Undo = h.newUndo(r, []manage.ChangeVerdict{{Connector: connectors.Ref(c.Slug), ToolVerdict: *v}}, returnTo)
	}
	return h.Respond.Back(w, r, returnTo, flash)
}

// keepsAccepted reports whether a rejected change leaves agents what was accepted: they keep instructions and skills.
func keepsAccepted(tool string) bool {
	_, isSkill := connectors.SkillOfTool(tool)
	return isSkill || tool == connectors.InstructionsTool
}

// decidedText is the message after a decision. It has placeholders for the names of tool and connector.
func decidedText(ctx context.Context, v manage.ToolVerdict) string {
	switch {
	case v.Accept:
		return i18n.T(ctx, "Accepted: %s of %s. Agents now get the new version.")
	case v.Keep:
		return i18n.T(ctx, "Kept: %s of %s. Agents keep the accepted version.")
	case keepsAccepted(v.Tool):
		return i18n.T(ctx, "Rejected: %s of %s. Agents keep the accepted version.")
	}
	return i18n.T(ctx, "Rejected: %s of %s. Agents can't see it.")
}

// readSeenHash reads the hash of the definition that the person saw. Without it a newer definition could be
// accepted unseen.
func readSeenHash(f shell.PostedForm) (hash connectors.Hash, err error) {
	n, err := hex.Decode(hash[:], []byte(f.Text("hash")))
	if err != nil || n != len(hash) {
		return hash, fault.Errorf(fault.Malformed, "This form has no definition. Reload the page.")
	}
	return hash, nil
}
