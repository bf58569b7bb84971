package toolcall

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"patchbay/internal/access"
)

// because adds to the refusal of a held tool what is different in it, and where a person decides. That is one statement, of a call that
// goes nowhere; where it fails, the refusal stands as it is.
func (a *attempt) because(ctx context.Context, err error) error {
	refusal, ok := err.(*Refusal) //nolint:errorlint // it is ours, and at the top
	if !ok || refusal.Code != CodeHeld {
		return err
	}
	tool, connector := a.order.Tool, &a.reach.Connector
	switch tool.Held {
	case access.HeldDisabled, access.HeldRemoved, access.HeldRejected, access.HeldMalformed:
		return err
	}
	kinds, lost := a.o.Store.Tenant(a.order.View.Tenant.ID).WaitingKinds(ctx, connector.ID, tool.Name)
	if lost != nil {
		return err
	}
	explained := *refusal
	if len(kinds) > 0 {
		words := make([]string, len(kinds))
		for i, k := range kinds {
			words[i] = k.Words()
		}
		explained.Sentence += fmt.Sprintf(" What is different: %s.", strings.Join(words, ", "))
	}
	explained.Sentence += fmt.Sprintf(" An admin decides at %s/connectors/%s/tools/%s/changes.",
		a.o.BaseURL, url.PathEscape(connector.Slug), url.PathEscape(tool.Name))
	return &explained
}
