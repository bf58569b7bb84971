package manage

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
)

// ProposeCredentials returns the ways to sign in that a document offers for picked operations; without any, for all.
func ProposeCredentials(document *openapi.Document, keys []string) []openapi.Proposal {
	operations := document.Operations
	if len(keys) > 0 {
		operations = slices.DeleteFunc(slices.Clone(operations), func(o *openapi.Operation) bool { return !slices.Contains(keys, o.Key()) })
	}
	return document.Proposals(operations)
}

// CredentialProposals returns the ways to sign in that the document of a connector offers for its picked operations.
func (r *Registry) CredentialProposals(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (all []openapi.Proposal, err error) {
	err = r.useAPI(ctx, tenant, ref, func(api storedAPI) error {
		if api.parsed != nil {
			all = ProposeCredentials(api.parsed, keysOf(api.tools))
		}
		return nil
	})
	return all, err
}

// fillFromDocument completes the draft of an HTTP API from its document: the server that gets the credential, and the endpoints of
// OAuth. They are settings from then on: a document that changes does not change them.
func fillFromDocument(draft *connectors.Draft, document *openapi.Document, keys []string) {
	if address, err := document.Address(keys...); err == nil && draft.ServerURL == "" && connectors.Origin(address) != connectors.Origin(draft.URL) {
		draft.ServerURL = address
	}
	if draft.OAuth.OverridesServer() {
		return
	}
	for _, p := range ProposeCredentials(document, keys) {
		if p.Type != string(draft.Auth.Type) || p.TokenURL == "" && p.Issuer == "" {
			continue
		}
		draft.OAuth.Issuer, draft.OAuth.AuthorizationEndpoint, draft.OAuth.TokenEndpoint = p.Issuer, p.AuthorizationURL, p.TokenURL
		return
	}
}

// setScopes sets the scopes that picked operations need.
func setScopes(document *openapi.Document, tools []connectors.APITool) {
	if document == nil {
		return
	}
	for _, o := range document.Operations {
		for i := range tools {
			if tools[i].Endpoint == nil && tools[i].Key == o.Key() {
				tools[i].Scopes = document.Scopes(o)
			}
		}
	}
}
