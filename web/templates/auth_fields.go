package templates

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

func authOptions(ctx context.Context) []Option {
	return []Option{
		{string(connectors.AuthNone), i18n.T(ctx, "None")},
		{string(connectors.AuthOAuth2), i18n.T(ctx, "Account (OAuth)")},
		{string(connectors.AuthBearer), i18n.T(ctx, "Bearer token")},
		{string(connectors.AuthAPIKey), i18n.T(ctx, "API key in a header")},
		{string(connectors.AuthBasic), i18n.T(ctx, "User name and password (Basic)")},
		{string(connectors.AuthClientCredentials), i18n.T(ctx, "Client credentials (machine)")},
		{string(connectors.AuthPrivateKeyJWT), i18n.T(ctx, "Private key (machine)")},
	}
}

func algorithmOptions(ctx context.Context) []Option {
	return append([]Option{{"", i18n.T(ctx, "Default for the key")}}, optionsFor(connectors.KeyAlgorithms)...)
}

func methodOptions(ctx context.Context) []Option {
	return append([]Option{{"", i18n.T(ctx, "As advertised")}}, optionsFor(connectors.TokenAuthMethods)...)
}

func exchangeOptions(ctx context.Context) []Option {
	return []Option{
		{"", i18n.T(ctx, "A person connects each account")},
		{string(connectors.ExchangeActorToken), i18n.T(ctx, "Token exchange, actor token")},
		{string(connectors.ExchangeActClaim), i18n.T(ctx, "Token exchange, act claim")},
	}
}

func optionsFor(values []string) []Option {
	options := make([]Option, len(values))
	for i, v := range values {
		options[i] = Option{v, v}
	}
	return options
}

// Auth types that share fields, for data-auth.
const (
	oauthTypes   = string(connectors.AuthOAuth2 + " " + connectors.AuthClientCredentials + " " + connectors.AuthPrivateKeyJWT)
	machineTypes = string(connectors.AuthClientCredentials + " " + connectors.AuthPrivateKeyJWT)
	secretTypes  = string(connectors.AuthOAuth2 + " " + connectors.AuthClientCredentials)
)

var (
	clientNames   = []string{"auth.client_id", "auth.client_secret", "auth.private_key", "auth.algorithm", "auth.scopes", "auth.issuer", "auth.token_exchange"}
	endpointNames = []string{
		"auth.authorization_endpoint", "auth.token_endpoint", "auth.resource", "auth.no_resource", "auth.token_endpoint_auth_method",
		"auth.allow_missing_pkce_metadata",
	}
)

// hasValue reports whether one of the fields has a value or an error.
func (p connectorFormProps) hasValue(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return p.Form.Value(name) != "" || p.Form.Error(name) != "" })
}

func (p connectorFormProps) isMachine() bool {
	return slices.Contains(strings.Fields(machineTypes), p.Form.Value("auth.type"))
}

func (p connectorFormProps) clientOpen() bool {
	return p.isAPI() || p.isMachine() || p.hasValue(clientNames) || p.hasValue(endpointNames)
}

// foldedClient lists the types with a client that is folded away.
func (p connectorFormProps) foldedClient() string {
	if p.isAPI() {
		return ""
	}
	return string(connectors.AuthOAuth2)
}

// foldedEndpoints lists the types with endpoints that are folded away on their own.
func (p connectorFormProps) foldedEndpoints() string {
	if p.isAPI() {
		return oauthTypes
	}
	return machineTypes
}

// accountSentence says what is left to do when accounts are connected by OAuth.
func (p connectorFormProps) accountSentence(ctx context.Context) string {
	if p.isAPI() {
		return i18n.T(ctx, "Register an app with the API's provider, using the OAuth redirect URI shown in Settings, then enter its client ID.")
	}
	if p.New {
		return i18n.T(ctx, "Nothing to fill in. Add the connector, then press Connect.")
	}
	return i18n.T(ctx, "Nothing to fill in. Connect accounts on the Credentials page.")
}

// clientSecret is the secret of a machine, or of the OAuth client that an admin registered. The latter has a
// help text of its own, since such a connector's stored credentials are accounts.
func (p connectorFormProps) clientSecret(ctx context.Context) fieldProps {
	f := p.newSecretField(ctx, "auth.client_secret", i18n.T(ctx, "Client secret"), i18n.T(ctx, "If the client has one."))
	if p.Form.Is("auth.type", string(connectors.AuthOAuth2)) && !p.New {
		f.Placeholder, f.Help = "", i18n.T(ctx, "If the client has one. Leave empty to keep the stored one.")
	}
	return f
}

func (p connectorFormProps) privateKey(ctx context.Context) fieldProps {
	f := p.newSecretField(ctx, "auth.private_key", i18n.T(ctx, "Private key"), i18n.T(ctx, "PEM without a passphrase. The server knows the public key."))
	f.Rows, f.Mono, f.Autocomplete = 4, true, "off"
	if f.Placeholder == "" {
		f.Placeholder = "-----BEGIN PRIVATE KEY-----"
	}
	return f
}
