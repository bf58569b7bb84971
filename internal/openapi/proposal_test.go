package openapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/openapi"
)

const schemesDocument = `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com/v1"}],
	"security":[{"key":[]},{"oauth":["read"]}],
	"paths":{"/a":{"get":{"responses":{}},"put":{"security":[{"oauth":["write","read"]},{"oidc":["all"]}],"responses":{}},
		"post":{"security":[{"key":[],"sid":[]}],"responses":{}},"delete":{"security":[],"responses":{}}}},
	"components":{"securitySchemes":{
		"key":{"type":"apiKey","in":"query","name":"api_key"},"sid":{"type":"apiKey","in":"cookie","name":"sid"},
		"head":{"type":"apiKey","in":"header","name":"X-Key"},"body":{"type":"apiKey","in":"body","name":"x"},
		"basic":{"type":"http","scheme":"Basic"},"token":{"type":"http","scheme":"bearer"},"digest":{"type":"http","scheme":"digest"},"tls":{"type":"mutualTLS"},
		"oidc":{"type":"openIdConnect","openIdConnectUrl":"https://id.example.com/t/.well-known/openid-configuration"},
		"elsewhere":{"type":"openIdConnect","openIdConnectUrl":"https://id.example.com/metadata.json"},
		"oauth":{"type":"oauth2","flows":{"implicit":{"authorizationUrl":"https://id.example.com/a","scopes":{}},
			"authorizationCode":{"authorizationUrl":"/authorize","tokenUrl":"https://id.example.com/token","scopes":{"read":"","write":""}},
			"clientCredentials":{"tokenUrl":"https://id.example.com/machine","scopes":{}}}}}}}`

func TestProposals_OfEachScheme(t *testing.T) {
	t.Parallel()
	d, err := openapi.Read([]byte(schemesDocument), openapi.Options{URL: "https://docs.example.com/openapi.json"})
	if err != nil {
		t.Fatal(err)
	}
	want := []openapi.Proposal{
		{Scheme: "oauth", Type: "oauth2", Operations: 2, AuthorizationURL: "https://docs.example.com/authorize", TokenURL: "https://id.example.com/token", Scopes: []string{"read", "write"}},
		{Scheme: "oauth", Type: "client_credentials", Operations: 2, TokenURL: "https://id.example.com/machine", Scopes: []string{"read", "write"}},
		{Scheme: "key", Type: "api_key", In: "query", Name: "api_key", Operations: 1},
		{Scheme: "oidc", Type: "oauth2", Issuer: "https://id.example.com/t", Operations: 1, Scopes: []string{"all"}},
		{Scheme: "sid", Type: "api_key", In: "cookie", Name: "sid"},
		{Scheme: "head", Type: "api_key", In: "header", Name: "X-Key"},
		{Scheme: "basic", Type: "basic"},
		{Scheme: "token", Type: "bearer"},
	}
	if diff := cmp.Diff(want, d.Proposals(d.Operations)); diff != "" {
		t.Error(diff)
	}
	if at, err := d.Address(); at != "https://api.example.com/v1" || err != nil {
		t.Errorf("the address is %s, %v", at, err)
	}
}
