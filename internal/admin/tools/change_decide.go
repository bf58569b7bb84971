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
)

// changeAccept accepts the definition that the person saw.
func (h *Handler) changeAccept(w http.ResponseWriter, r *http.Request) error {
	return h.decideChange(w, r, true)
}

// changeReject hides the tool from agents.
func (h *Handler) changeReject(w http.ResponseWriter, r *http.Request) error {
	return h.decideChange(w, r, false)
}

func (h *Handler) decideChange(w http.ResponseWriter, r *http.Request, accept bool) error {
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
	err = h.submitVerdict(r, manage.ToolVerdict{Tool: tool, Accept: accept, Hash: &hash})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok { // the tool changed again, or another person decided first
		return h.Respond.Back(w, r, withReturnTo(shell.ReviewedPath(c.Slug, tool)+"/changes", readReturnList(f.Text("return_to"))), respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, readReturnList(f.Text("return_to")), respond.Flash{
		Kind: respond.Notice, Text: fmt.Sprintf(decidedText(r.Context(), tool, accept), ChangedName(r.Context(), tool), c.Name),
	})
}

func (h *Handler) submitVerdict(r *http.Request, v manage.ToolVerdict) (err error) {
	if v.Tool == connectors.InstructionsTool {
		_, err = h.Registry.DecideInstructions(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), v)
	} else {
		_, err = h.Registry.DecideTool(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), v)
	}
	return err
}

// decidedText is the message after a decision. It has placeholders for the names of tool and connector.
func decidedText(ctx context.Context, tool string, accept bool) string {
	switch {
	case accept && tool == connectors.InstructionsTool:
		return i18n.T(ctx, "Accepted: %s of %s. Agents now get the new version.")
	case accept:
		return i18n.T(ctx, "Accepted: %s of %s. Agents now get the new version.")
	case tool == connectors.InstructionsTool:
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
