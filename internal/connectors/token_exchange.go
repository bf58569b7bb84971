package connectors

// TokenExchange is how a connector's tokens come from token exchange (RFC 8693). Empty: they do not. Its values are stored.
type TokenExchange string

// The ways name the agent that acts.
const (
	ExchangeActorToken TokenExchange = "actor_token" // by a token of its own
	ExchangeActClaim   TokenExchange = "act_claim"   // by the claim act of the subject's token
)

// TokenExchanges lists the ways.
var TokenExchanges = []TokenExchange{ExchangeActorToken, ExchangeActClaim}

// checkTokenExchange checks the settings of token exchange. An MCP server must not choose the authorization server to which Patchbay
// names members, so an owner does, and nothing else overrides metadata.
func (c *validation) checkTokenExchange(d Draft) {
	const location = "auth.token_exchange"
	s := d.OAuth
	checkOneOf(c, location, s.TokenExchange, TokenExchanges...)
	if d.Transport == TransportAPI {
		c.addField(location, "Token exchange needs an MCP server.")
	}
	if d.CredentialMode != CredentialPerAgent {
		c.addField(location, "Token exchange needs a credential per agent.")
	}
	if s.Issuer == "" {
		c.addField("auth.issuer", "Enter the issuer: token exchange uses no other authorization server.")
	}
	if s.TokenEndpoint != "" || s.Resource != nil {
		c.addField(location, "With token exchange, the token endpoint and resource come from metadata. Empty these settings.")
	}
}

// EndsExchangedAccounts reports whether accounts from token exchange end when a connector changes to c: their tokens are for its former
// URL, or from former settings.
func EndsExchangedAccounts(old, c Connector) bool {
	return (old.OAuth.TokenExchange != "" || c.OAuth.TokenExchange != "") && (!old.OAuth.Equal(c.OAuth) || old.URL != c.URL)
}
