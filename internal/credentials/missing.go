package credentials

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Why a grant is dead, as it is stored with it and shown beside a Connect button.
const (
	again = " Connect again."

	becauseEnded      = "The authorization server ended the access." + again
	becauseLost       = "An answer of the authorization server was lost when the access was renewed, and the access ended with it." + again
	becauseForgotten  = "The authorization server does not know our client any more." + again
	becauseConfigured = "The authorization server does not accept the connector's own client. Check its client id and secret, and connect again."
	becauseSecret     = "The authorization server does not know this client or its secret. Enter a new one."
	becauseKey        = "The authorization server does not know this client or its key. Enter a new one."
	becauseNoMachine  = "The authorization server does not let this client sign in for itself. Allow it the grant client_credentials there, then enter its secret again."
	becauseNoRefresh  = "The authorization server does not let our client renew the access." + again
	becauseScopes     = "The server asks for more access than was granted." + again
	becauseInsists    = "The server keeps asking for more access than it was granted. Ask its operator which scopes it needs, set them on the connector, and connect again."
	becauseExpired    = "The access has ended and cannot be renewed." + again
)

// ErrInsists is the cause of a missing credential that to connect again does not mend: a server was granted twice what it asked for,
// and asks for more.
var ErrInsists = errors.New("the server keeps asking for more scopes")

// Missing is the Conflict that tells a caller to connect an account or to set the credential of the connector; agent nil is the
// shared one, or, per agent, that of any agent.
func Missing(c connectors.Connector, agent *connectors.AgentID) error {
	var message string
	switch w := wordsFor(c.Auth.Type); {
	case c.CredentialMode != connectors.CredentialPerAgent:
		message = "The connector %q has no " + w.thing + ". " + w.mend + " on its Credentials page."
	case agent != nil:
		message = "This agent has no " + w.thing + " for the connector %q. " + w.mend + " on the connector's Credentials page."
	default:
		message = "The connector %q asks for " + w.aThing + ", and no agent has one yet. " + w.mend + " on its Credentials page."
	}
	return required(message, c.Name)
}

// WhyMissing is Missing, and, where there is a credential that has died, what it died of.
func (r *Resolver) WhyMissing(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent *connectors.AgentID,
) error {
	owner, ok := ownerOf(c, agent)
	if !ok || !hasToken(c.Auth.Type) {
		return Missing(c, agent)
	}
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, owner)
	switch {
	case fault.Is(err, fault.NotFound):
		return Missing(c, agent)
	case err != nil:
		return err
	}
	cause := r.causeOf(c, g)
	switch {
	case g.Type != c.Auth.Type, g.Origin != connectors.Origin(c.URL):
		return Missing(c, agent)
	case cause == "": // somebody has mended it while it was missed
		return notRenewed(c, store.Grant{Tokens: g.Tokens}, nil)
	case isMachine(c.Auth.Type):
		return required("The connector %q cannot sign in: %s", c.Name, asClause(cause))
	}
	format := "The account of the connector %q must be connected again: %s"
	if owner != nil {
		format = "The agent's account of the connector %q must be connected again: %s"
	}
	f := required(format, c.Name, asClause(cause))
	if cause == becauseInsists {
		f.Err = ErrInsists
	}
	return f
}

// causeOf is the sentence that says why a stored grant serves nobody; empty where it does.
func (r *Resolver) causeOf(c connectors.Connector, g store.Grant) string {
	switch {
	case !alive(c, g.Credential):
		return cmp.Or(g.Error, becauseEnded)
	case !lives(g, r.now(), 0) && !r.renewable(g):
		return becauseExpired
	default:
		return ""
	}
}

// asClause writes a stored sentence as the end of another one, which says already what to do.
func asClause(sentence string) string {
	s := strings.TrimSuffix(sentence, again)
	for _, article := range []string{"The ", "An "} {
		if rest, ok := strings.CutPrefix(s, article); ok {
			return strings.ToLower(article) + rest
		}
	}
	return s
}

func required(format string, args ...any) *fault.Error {
	return fault.Errorf(fault.Conflict, format, args...).WithType("credential-required")
}

// words are how people speak of what authenticates a connector.
type words struct{ thing, aThing, mend string }

func wordsFor(t connectors.AuthType) words {
	switch t {
	case connectors.AuthOAuth2:
		return words{"connected account", "an account", "Connect one"}
	case connectors.AuthClientCredentials:
		return words{"client secret", "a client secret", "Set it"}
	case connectors.AuthPrivateKeyJWT:
		return words{"private key", "a private key", "Set it"}
	default:
		return words{"usable credential", "a credential", "Set one"}
	}
}

// notRenewed is the Unavailable of a token that could not be had just now. It accuses nobody: nothing is wrong that a person
// could mend by connecting again.
func notRenewed(c connectors.Connector, g store.Grant, cause error) error {
	format := "The access of the connector %q could not be renewed just now. %s"
	if g.Tokens.AccessToken.Empty() {
		format = "The connector %q could not get an access token just now. %s"
	}
	hint := "Try again in a moment."
	if g.Status == connectors.CredentialRefreshFailed && g.Error != "" {
		hint = g.Error
	}
	f := fault.Errorf(fault.Unavailable, format, c.Name, hint)
	f.Code, f.Err, f.RetryAfter = CodeNotRenewed, cause, int(longestWait.Seconds())
	return f
}

// CodeNotRenewed is the code of the fault that says that a token could not be renewed just now.
const CodeNotRenewed = "refresh_failed"
