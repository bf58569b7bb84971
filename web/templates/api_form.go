package templates

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// SignInOffer is the authentication that the document of an HTTP API asks for.
type SignInOffer struct {
	Auth                                         string // of the form's auth.type
	Name                                         string // in words
	Header                                       string // of an API key
	AuthorizationEndpoint, TokenEndpoint, Issuer string
}

// apiSources are the fields of an HTTP API whose document has no URL.
var apiSources = []string{"document", "file", "curl", "by_hand"}

func (p connectorFormProps) isAPI() bool {
	return p.Form.Is("transport", string(connectors.TransportAPI))
}

func (p connectorFormProps) addressLabel(ctx context.Context) string {
	if p.New {
		return i18n.T(ctx, "Document URL")
	}
	return i18n.T(ctx, "Document or API URL")
}

func (p connectorFormProps) testLabel(ctx context.Context) string {
	if p.isAPI() {
		return i18n.T(ctx, "Read document")
	}
	return i18n.T(ctx, "Test connection")
}
