package api

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/openapi"
)

// signInMethods are the ways to sign in that a document offers.
type signInMethods struct {
	Items []signInMethod `json:"items" nullable:"false"`
}

// signInMethod is a way to sign in, in the words of a connector's auth.
type signInMethod struct {
	Scheme                string   `json:"scheme" doc:"Its name in the document."`
	Description           string   `json:"description,omitempty"`
	Type                  string   `json:"type" enum:"bearer,api_key,basic,oauth2,client_credentials"`
	In                    string   `json:"in,omitempty" enum:"header,query,cookie" doc:"For api_key: where it is sent."`
	Header                string   `json:"header,omitempty" doc:"For api_key: the name of the header, query parameter or cookie."`
	Issuer                string   `json:"issuer,omitempty" doc:"Of OpenID Connect, in place of the endpoints."`
	AuthorizationEndpoint string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint         string   `json:"token_endpoint,omitempty"`
	Scopes                []string `json:"scopes" nullable:"false" doc:"Scopes that the operations need."`
	Operations            int      `json:"operations" doc:"Number of operations that accept it alone."`
}

func (h *Handler) listSignInMethods(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*response[signInMethods], error) {
	proposals, err := h.registry.CredentialProposals(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	return &response[signInMethods]{Body: signInMethods{viewSignInMethods(proposals)}}, nil
}

func viewSignInMethods(proposals []openapi.Proposal) []signInMethod {
	out := make([]signInMethod, len(proposals))
	for i, p := range proposals {
		out[i] = signInMethod{
			Scheme: p.Scheme, Description: p.Description, Type: p.Type, In: p.In, Header: p.Name, Issuer: p.Issuer,
			AuthorizationEndpoint: p.AuthorizationURL, TokenEndpoint: p.TokenURL, Scopes: append([]string{}, p.Scopes...), Operations: p.Operations,
		}
	}
	return out
}
