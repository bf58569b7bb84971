package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// changeAccept has agents served the definition that the person saw.
func (h *Handler) changeAccept(w http.ResponseWriter, r *http.Request) error {
	return h.decideChange(w, r, true)
}

// changeReject takes the tool from agents.
func (h *Handler) changeReject(w http.ResponseWriter, r *http.Request) error {
	return h.decideChange(w, r, false)
}

func (h *Handler) decideChange(w http.ResponseWriter, r *http.Request, accept bool) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	tool := pathValue(r, "tool")
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	hash, err := seenHash(f)
	if err != nil {
		return err
	}
	err = h.decideChanged(r, registry.ToolVerdict{Tool: tool, Accept: accept, Hash: &hash})
	if problem, ok := mendable(r.Context(), err); ok { // it changed meanwhile, or somebody was faster
		return h.respond.Back(w, r, leadingBack(reviewedPath(c.Slug, tool)+"/changes", changesLeft(f.text("return_to"))), respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, changesLeft(f.text("return_to")), respond.Flash{
		Kind: respond.Notice, Text: fmt.Sprintf(decidedWords(r.Context(), tool, accept), changedName(r.Context(), tool), c.Name),
	})
}

func (h *Handler) decideChanged(r *http.Request, v registry.ToolVerdict) (err error) {
	if v.Tool == connectors.OfInstructions {
		_, err = h.registry.DecideInstructions(r.Context(), actor(r), ref(r, "id"), v)
	} else {
		_, err = h.registry.DecideTool(r.Context(), actor(r), ref(r, "id"), v)
	}
	return err
}

// decidedWords say what was decided; the names of what changed and of its connector go into them.
func decidedWords(ctx context.Context, tool string, accept bool) string {
	switch {
	case accept && tool == connectors.OfInstructions:
		return words.T(ctx, "Accepted: %s of %s. Agents are given them as they are now.")
	case accept:
		return words.T(ctx, "Accepted: %s of %s. Agents are served it as it is now.")
	case tool == connectors.OfInstructions:
		return words.T(ctx, "Rejected: %s of %s. Agents are given what was accepted before.")
	}
	return words.T(ctx, "Rejected: %s of %s. Agents do not see it.")
}

// seenHash is the definition that the person saw: without it, one could be accepted that came a moment ago.
func seenHash(f form) (hash connectors.Hash, err error) {
	n, err := hex.Decode(hash[:], []byte(f.text("hash")))
	if err != nil || n != len(hash) {
		return hash, fault.Errorf(fault.Malformed, "This form does not say which definition it is about. Load the page again.")
	}
	return hash, nil
}
