package gateway

import (
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// A client of 2025-11-25 gets an error with the page where a person connects a missing account. Once it is
// connected, the session gets a notification and repeats the call.

const (
	codeElicit     = -32042     // URLElicitationRequiredError (2025-11-25, "Elicitation")
	accountMailbox = "account " // followed by the agent's id
)

// urlElicitationSince is the first revision with URL elicitation.
const urlElicitationSince = "2025-11-25"

// supportsURLElicitation reports whether a legacy client can be sent to a page.
func supportsURLElicitation(p *serve.Client) bool {
	return p != nil && !p.Modern && p.Session != "" && p.Version >= urlElicitationSince && p.Can("elicitation.url")
}

// newElicitationError returns the error with the page's URL. It has no link that works without a sign-in,
// because clients show errors to models.
func newElicitationError(r *toolcall.RefusalError) error {
	type page struct {
		Mode    string `json:"mode"`
		ID      string `json:"elicitationId"`
		URL     string `json:"url"`
		Message string `json:"message"`
	}
	why := newReason(r, noPageURL)
	why.ConnectURL = r.Elicit.URL
	data, err := json.Marshal(map[string]any{
		"elicitations": []page{{Mode: "url", ID: r.Elicit.ID.String(), URL: r.Elicit.URL, Message: r.Elicit.Message}},
		reasonMember:   why,
	})
	if err != nil {
		return err
	}
	return &serve.RPCError{Code: codeElicit, Message: appendPageURL(r, func(*toolcall.RefusalError) string { return r.Elicit.URL }), Data: data}
}

// watchAccounts signals, at once and after each change, that an account of the agent may be connected; nil for
// other clients.
func (b *backend) watchAccounts(p *serve.Client) (<-chan struct{}, func()) {
	if !supportsURLElicitation(p) {
		return nil, func() {}
	}
	return b.h.router.watchMailbox(accountMailbox + b.view.Agent.ID.String())
}

// notifyAccounts sends one notification per connected account and stream. A new stream repeats them; clients
// ignore known ones.
func (b *backend) notifyAccounts(ctx context.Context, session string, sent map[connectors.AccountRequestID]bool, notify func(string, json.RawMessage)) {
	ids, err := b.h.router.store.Tenant(b.view.Tenant.ID).Accounts().ConnectedRequests(ctx, b.view.Agent.ID, session)
	if err != nil {
		return // the person can still continue by hand
	}
	for _, id := range ids {
		if params, err := json.Marshal(map[string]string{"elicitationId": id.String()}); err == nil && !sent[id] {
			sent[id] = true
			notify("notifications/elicitation/complete", params)
		}
	}
}
