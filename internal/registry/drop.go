package registry

import (
	"context"
	"reflect"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// dropped is what a change of a connector took from it.
type dropped struct {
	credentials  int  // entered secrets, or grants
	clientSecret bool // of a client that was registered by hand
	environment  bool // of a program
}

func (d dropped) total() int {
	n := d.credentials
	for _, gone := range []bool{d.clientSecret, d.environment} {
		if gone {
			n++
		}
	}
	return n
}

// drop deletes the stored secrets that were given for something else than what the connector is now:
//
//	what changed                            credentials and grants   the client's secret
//	the URL's origin, the type              go                       goes
//	the credential mode                     go                       stays: it belongs to the connector
//	the client id                           go                       goes
//	the issuer or its token endpoint        go                       goes: it would be shown to another
//	the authorization endpoint, resource    go                       stays
//
// A program's environment goes with its command, its arguments and its folder.
func drop(ctx context.Context, tx *store.Tenant, old, now connectors.Connector) (d dropped, err error) {
	moved := originMoved(old, now) || old.Auth.Type != now.Auth.Type || clientChanged(old, now) || !old.OAuth.SameKeeper(now.OAuth)
	if moved || old.CredentialMode != now.CredentialMode || serverChanged(old, now) { // before the client's secret, which revokes them
		if d.credentials, err = tx.DeleteCredentials(ctx, now.ID); err != nil {
			return d, err
		}
	}
	if moved {
		if d.clientSecret, err = tx.DeleteClientSecret(ctx, now.ID); err != nil {
			return d, err
		}
	}
	if !old.Command.Equal(now.Command) {
		if d.environment, err = tx.DeleteEnvironment(ctx, now.ID); err != nil {
			return d, err
		}
	}
	if serverChanged(old, now) { // what people are about to bring back from the one before would be stored as if it were the new one's
		if err = tx.DeleteFlows(ctx, now.ID); err != nil {
			return d, err
		}
	}
	return d, err
}

func originMoved(old, now connectors.Connector) bool {
	return connectors.Origin(old.URL) != connectors.Origin(now.URL)
}

// clientChanged tells whether what is stored belongs to another client. Where a machine's connector had no client id, each of its
// agents' secrets says whose it is.
func clientChanged(old, now connectors.Connector) bool {
	return old.OAuth.ClientID != now.OAuth.ClientID && (old.OAuth.ClientID != "" || old.Auth.Type == connectors.AuthOAuth2)
}

// serverChanged tells whether grants came from somebody else, or are for something else.
func serverChanged(old, now connectors.Connector) bool {
	return !old.OAuth.SameKeeper(now.OAuth) || old.OAuth.AuthorizationEndpoint != now.OAuth.AuthorizationEndpoint ||
		!reflect.DeepEqual(old.OAuth.Resource, now.OAuth.Resource)
}

// notices say what was deleted, why, and what to do about it.
func (d dropped) notices(old, now connectors.Connector, entered connectors.Secret) []string {
	var all []string
	if d.environment && len(now.EnvNames) == 0 { // none was given with the change
		notice := "The stored environment was deleted, because another program gets none of it."
		if now.Transport == connectors.TransportStdio {
			notice = "The stored environment was deleted, because the command, its arguments or its folder changed. Set it again."
		}
		all = append(all, notice)
	}
	oauth := old.Auth.Type == connectors.AuthOAuth2
	perAgent := old.CredentialMode == connectors.CredentialPerAgent
	// A secret that was entered with the change takes the place of the shared one; never that of a grant.
	if d.credentials > 0 && (entered.Empty() || perAgent || oauth) {
		notice := lost(oauth, perAgent) + ", because " + because(old, now) + "."
		if entered.Empty() || now.Auth.Type == connectors.AuthOAuth2 {
			notice += again(old, now, perAgent)
		}
		all = append(all, notice)
	}
	if d.clientSecret && entered.ClientSecret.Empty() {
		notice := "The client secret was deleted, because " + because(old, now) + "."
		if now.Auth.Type == connectors.AuthOAuth2 && now.OAuth.ClientID != "" {
			notice += " Set it again, if the client has one."
		}
		all = append(all, notice)
	}
	return all
}

func lost(oauth, perAgent bool) string {
	switch {
	case oauth && perAgent:
		return "The accounts of the agents were disconnected"
	case oauth:
		return "The account was disconnected"
	case perAgent:
		return "The stored secrets of the agents were deleted"
	default:
		return "The stored secret was deleted"
	}
}

func because(old, now connectors.Connector) string {
	switch {
	case old.CredentialMode != now.CredentialMode && old.CredentialMode == connectors.CredentialPerAgent:
		return "one credential serves all agents now"
	case old.CredentialMode != now.CredentialMode:
		return "each agent has its own now"
	case originMoved(old, now):
		return "the URL moved to another origin"
	case now.Auth.Type == connectors.AuthNone && old.Auth.Type != connectors.AuthNone:
		return "the connector needs none any more"
	case old.Auth.Type != now.Auth.Type:
		return "the authentication changed"
	case clientChanged(old, now):
		return "the client id changed"
	default:
		return "the authorization server's settings changed"
	}
}

// again is the advice, with a space before it; empty where there is nothing to do.
func again(old, now connectors.Connector, perAgent bool) string {
	connect := now.Auth.Type == connectors.AuthOAuth2
	modeChanged := old.CredentialMode != now.CredentialMode
	many := perAgent != modeChanged
	switch {
	case now.Auth.Type == connectors.AuthNone:
		return ""
	case connect && many:
		return " Connect each agent's."
	case connect:
		return " Connect the account."
	case many && modeChanged:
		return " Set them."
	case modeChanged:
		return " Set it."
	case many:
		return " Set them again."
	default:
		return " Set it again."
	}
}
