package gateway

import (
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// A client of 2025-11-25 is told by an error of the page on which a person connects the account that a call misses. When the account is there, its
// session hears so on its stream, and it makes the call again.

const (
	codeElicit = -32042     // URLElicitationRequiredError (2025-11-25, "Elicitation")
	accountBox = "account " // and the agent
)

// urlsSince is the first revision whose clients are sent to pages.
const urlsSince = "2025-11-25"

// opensPages tells whether a client of the handshake era is sent to a page.
func opensPages(p *serve.Peer) bool {
	return p != nil && !p.Modern && p.Session != "" && p.Version >= urlsSince && p.Can("elicitation.url")
}

// elicited is the error that names the page, and nothing that opens without a sign-in: clients show models what an error holds.
func elicited(r *toolcall.Refusal) error {
	type page struct {
		Mode    string `json:"mode"`
		ID      string `json:"elicitationId"`
		URL     string `json:"url"`
		Message string `json:"message"`
	}
	why := reasonOf(r)
	why.ConnectURL = r.Elicit.URL
	data, err := json.Marshal(map[string]any{
		"elicitations": []page{{Mode: "url", ID: r.Elicit.ID.String(), URL: r.Elicit.URL, Message: r.Elicit.Message}},
		reasonMember:   why,
	})
	if err != nil {
		return err
	}
	return &serve.RPCError{Code: codeElicit, Message: withPage(r, func() string { return r.Elicit.URL }), Data: data}
}

// accounts tells when an account of the agent's may be there that a call of the session missed, and first at once; nil: it hears of none.
func (b *backend) accounts(p *serve.Peer) (<-chan struct{}, func()) {
	if !opensPages(p) {
		return nil, func() {}
	}
	return b.h.router.await(accountBox + b.view.Agent.ID.String())
}

// tellAccounts tells of accounts that are there, each once on a stream. On the next stream they are told again: clients leave out what they know.
func (b *backend) tellAccounts(ctx context.Context, session string, told map[connectors.AccountRequestID]bool, hear func(string, json.RawMessage)) {
	ids, err := b.h.router.store.Tenant(b.view.Tenant.ID).ConnectedRequests(ctx, b.view.Agent.ID, session)
	if err != nil {
		return // the client can still be told to go on
	}
	for _, id := range ids {
		if params, err := json.Marshal(map[string]string{"elicitationId": id.String()}); err == nil && !told[id] {
			told[id] = true
			hear("notifications/elicitation/complete", params)
		}
	}
}
