package templates

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// SignInOffer is the authentication that the document of an HTTP API asks for.
type SignInOffer struct {
	Auth       string // of the form's auth.type
	Name       string // in words
	Header, In string // of an API key
}

// apiSources are the fields of an HTTP API with a document without a URL.
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

func keyPlaces(ctx context.Context) []Option {
	return []Option{{"", i18n.T(ctx, "Header")}, {string(connectors.KeyInQuery), i18n.T(ctx, "Query parameter")}, {string(connectors.KeyInCookie), i18n.T(ctx, "Cookie")}}
}
