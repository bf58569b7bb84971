package toolcall

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"patchbay/internal/agentview"
)

// explainBlocked adds to the refusal of a held tool what changed and where an admin decides. If the query fails,
// the refusal stays as it is.
func (e *explainer) explainBlocked(ctx context.Context, a *activeCall, err error) error {
	refusal, ok := err.(*RefusalError) //nolint:errorlint // it is ours, and at the top
	if !ok || refusal.Code != CodeHeld {
		return err
	}
	tool, connector := a.request.Tool, &a.connector.Connector
	switch tool.BlockedBy {
	case agentview.BlockedDisabled, agentview.BlockedRemoved, agentview.HeldRejected, agentview.BlockedMalformed:
		return err
	}
	kinds, loadErr := e.o.Store.Tenant(a.request.View.Tenant.ID).Tools().WaitingKinds(ctx, connector.ID, tool.Name)
	if loadErr != nil {
		return err
	}
	explained := *refusal
	if len(kinds) > 0 {
		words := make([]string, len(kinds))
		for i, kind := range kinds {
			words[i] = kind.Words()
		}
		explained.Sentence += fmt.Sprintf(" Differences: %s.", strings.Join(words, ", "))
	}
	explained.Sentence += fmt.Sprintf(" Admins review it at %s/connectors/%s/tools/%s/changes.",
		e.o.BaseURL, url.PathEscape(connector.Slug), url.PathEscape(tool.Name))
	return &explained
}
