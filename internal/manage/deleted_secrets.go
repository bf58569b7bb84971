package manage

import (
	"context"
	"reflect"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// deletedSecrets counts what a connector's change deleted.
type deletedSecrets struct {
	credentials  int  // entered secrets, or OAuth grants
	clientSecret bool // of a manually registered client
	environment  bool // of a stdio program
}

func (d deletedSecrets) totalCount() int {
	n := d.credentials
	for _, isDeleted := range []bool{d.clientSecret, d.environment} {
		if isDeleted {
			n++
		}
	}
	return n
}

// deleteOutdatedSecrets deletes the secrets that do not fit the changed connector:
//
//	changed                                 credentials and grants   client secret
//	the URL's origin, the type              deleted                  deleted
//	the credential mode                     deleted                  kept: it belongs to the connector
//	the client id                           deleted                  deleted
//	the issuer or its token endpoint        deleted                  deleted: another server would get it
//	the authorization endpoint, resource    deleted                  kept
//
// A program's environment is deleted with its command, arguments or directory.
func deleteOutdatedSecrets(ctx context.Context, tx *store.Tenant, old, now connectors.Connector) (d deletedSecrets, err error) {
	hasMoved := originMoved(old, now) || old.Auth.Type != now.Auth.Type || clientChanged(old, now) || !old.OAuth.SameAuthServer(now.OAuth)
	if hasMoved || old.CredentialMode != now.CredentialMode || serverChanged(old, now) { // before the client secret, which revokes them
		if d.credentials, err = tx.Connectors().DeleteCredentials(ctx, now.ID); err != nil {
			return d, err
		}
	}
	if hasMoved {
		if d.clientSecret, err = tx.Connectors().DeleteClientSecret(ctx, now.ID); err != nil {
			return d, err
		}
	}
	if !old.Command.Equal(now.Command) {
		if d.environment, err = tx.Connectors().DeleteEnvironment(ctx, now.ID); err != nil {
			return d, err
		}
	}
	if serverChanged(old, now) { // a callback from the old server would store its grant for the new one
		if err = tx.Accounts().DeleteFlows(ctx, now.ID); err != nil {
			return d, err
		}
	}
	return d, err
}

func originMoved(old, now connectors.Connector) bool {
	return old.CredentialOrigin() != now.CredentialOrigin()
}

// clientChanged reports whether the secrets belong to another client. A machine connector without a client id
// had it in each agent's secret.
func clientChanged(old, now connectors.Connector) bool {
	return old.OAuth.ClientID != now.OAuth.ClientID && (old.OAuth.ClientID != "" || old.Auth.Type == connectors.AuthOAuth2)
}

// serverChanged reports whether grants come from another server or are for another resource.
func serverChanged(old, now connectors.Connector) bool {
	return !old.OAuth.SameAuthServer(now.OAuth) || old.OAuth.AuthorizationEndpoint != now.OAuth.AuthorizationEndpoint ||
		!reflect.DeepEqual(old.OAuth.Resource, now.OAuth.Resource)
}

// buildNotices says what was deleted, why, and what to do.
func (d deletedSecrets) buildNotices(old, now connectors.Connector, entered connectors.Secret) []string {
	var all []string
	if d.environment && len(now.EnvNames) == 0 { // the change has no new one
		notice := "Stored environment deleted: the connector no longer runs that program."
		if now.Transport == connectors.TransportStdio {
			notice = "Stored environment deleted: command, arguments or folder changed. Set it again."
		}
		all = append(all, notice)
	}
	oauth := old.Auth.Type == connectors.AuthOAuth2
	perAgent := old.CredentialMode == connectors.CredentialPerAgent
	// A secret in the change replaces the shared one, but not an OAuth grant.
	if d.credentials > 0 && (entered.Empty() || perAgent || oauth) {
		notice := deletionText(oauth, perAgent) + ", because " + deletionReason(old, now) + "."
		if entered.Empty() || now.Auth.Type == connectors.AuthOAuth2 {
			notice += nextStepText(old, now, perAgent)
		}
		all = append(all, notice)
	}
	if d.clientSecret && entered.ClientSecret.Empty() {
		notice := "Client secret deleted, because " + deletionReason(old, now) + "."
		if now.Auth.Type == connectors.AuthOAuth2 && now.OAuth.ClientID != "" {
			notice += " Set it again if needed."
		}
		all = append(all, notice)
	}
	return all
}

func deletionText(oauth, perAgent bool) string {
	switch {
	case oauth && perAgent:
		return "Agents' accounts disconnected"
	case oauth:
		return "Account disconnected"
	case perAgent:
		return "Agents' stored secrets deleted"
	default:
		return "Stored secret deleted"
	}
}

func deletionReason(old, now connectors.Connector) string {
	switch {
	case old.CredentialMode != now.CredentialMode && old.CredentialMode == connectors.CredentialPerAgent:
		return "agents now share one credential"
	case old.CredentialMode != now.CredentialMode:
		return "each agent has its own now"
	case originMoved(old, now):
		return "the URL moved to another origin"
	case now.Auth.Type == connectors.AuthNone && old.Auth.Type != connectors.AuthNone:
		return "the connector no longer needs one"
	case old.Auth.Type != now.Auth.Type:
		return "the authentication changed"
	case clientChanged(old, now):
		return "the client ID changed"
	default:
		return "the authorization server's settings changed"
	}
}

// nextStepText returns the advice with a leading space, or "".
func nextStepText(old, now connectors.Connector, perAgent bool) string {
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
