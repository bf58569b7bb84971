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

// Reasons of a dead grant, stored with it and shown beside a Connect button.
const (
	connectAgain = " Connect again."

	reasonEnded               = "The authorization server ended access." + connectAgain
	reasonLost                = "The authorization server's response to a token refresh was lost, which ended access." + connectAgain
	reasonUnknownClient       = "The authorization server no longer knows our client." + connectAgain
	reasonConfiguredClient    = "The authorization server rejects the connector's client. Check its ID and secret, then reconnect."
	reasonSecret              = "The authorization server rejects this client or secret. Enter a new one."
	reasonKey                 = "The authorization server rejects this client or key. Enter a new one."
	reasonNoClientCredentials = "The authorization server doesn't allow client_credentials for this client. Allow it there, then re-enter the secret."
	reasonNoRefresh           = "The authorization server doesn't let our client refresh its token." + connectAgain
	reasonScopes              = "The server needs more access than was granted." + connectAgain
	reasonTooManyStepUps      = "The server keeps needing more access. Ask its operator for the scopes, set them on the connector, then reconnect."
	reasonOtherAccount        = "The authorization server answered a token refresh with another account." + connectAgain
	reasonExpired             = "The access has expired." + connectAgain
)

// formerTooManyStepUps is reasonTooManyStepUps in rows that earlier versions stored. A row has no code for its reason,
// and its count of step-ups does not tell this reason from reasonScopes.
const formerTooManyStepUps = "The server keeps asking for more access than it was granted. Ask its operator which scopes it needs, set them on the connector, and connect again."

// errOtherAccount means that a refresh brought a token of another account (OpenID Connect Core section 12.2). It is not stored or used.
var errOtherAccount = errors.New("the refreshed token is of another account")

// ErrTooManyStepUps is the cause of a missing credential that reconnecting does not fix: maxStepUps was
// reached.
var ErrTooManyStepUps = errors.New("the server keeps asking for more scopes")

// NewMissingError is the Conflict that asks for an account or a credential of the connector. agent nil: the shared one,
// or that of any agent.
func NewMissingError(c connectors.Connector, agent *connectors.AgentID) error {
	var message string
	switch w := wordingFor(c.Auth.Type); {
	case c.CredentialMode != connectors.CredentialPerAgent:
		message = "The connector %q has no " + w.thing + ". " + w.action + " on its Credentials page."
	case agent != nil:
		message = "This agent has no " + w.thing + " for the connector %q. " + w.action + " on the Credentials page."
	default:
		message = "The connector %q needs " + w.aThing + ", and no agent has one. " + w.action + " on its Credentials page."
	}
	return newCredentialRequired(message, c.Name)
}

// ExplainMissing is NewMissingError or, for a dead credential, the reason.
func (r *Resolver) ExplainMissing(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account) error {
	agent := of.Agent
	owner, ok := credentialOwner(c, agent)
	missing := NewMissingError(c, agent)
	if of.Name != "" {
		missing = fault.Errorf(fault.Conflict, "The grant of the connector %q is for the account %q, which isn't usable. Connect it, or choose another one in the grant.", c.Name, of.Name).
			WithType(store.TypeAccountRequired)
	}
	if strings.Contains(of.Name, ",") { // of connectors.Grant.Account
		missing = fault.Errorf(fault.Conflict, "The grant of the connector %q binds several accounts: %s. Call a tool of one of them as the agent.", c.Name, strings.ReplaceAll(of.Name, ",", ", ")).
			WithType(store.TypeAccountRequired)
	}
	switch {
	case !ok:
		return missing
	case of == Account{}:
		return r.ExplainMissingForSync(ctx, tenant, c)
	case !hasToken(c.Auth.Type):
		return missing
	}
	g, err := r.store.Vault(tenant).NamedGrant(ctx, c.ID, owner, of.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		return missing
	case err != nil:
		return explainSeveral(c, owner, err)
	}
	return r.explainGrant(c, agent, g)
}

// ExplainUnusable is ExplainMissing for a credential that was used.
func (r *Resolver) ExplainUnusable(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, u *Credential) error {
	if !hasToken(c.Auth.Type) {
		return NewMissingError(c, u.Agent)
	}
	g, err := r.store.Vault(tenant).GrantByID(ctx, u.ID)
	switch {
	case fault.Is(err, fault.NotFound) && u.Agent == nil: // replaced or deleted
		return NewMissingError(c, nil)
	case fault.Is(err, fault.NotFound):
		return r.ExplainMissing(ctx, tenant, c, Account{Agent: u.Agent})
	case err != nil:
		return err
	}
	return r.explainGrant(c, u.Agent, g)
}

// ExplainByID is ExplainMissing for an account that is found by its id. It fails with NotFound if there is none.
func (r *Resolver) ExplainByID(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, id connectors.CredentialID, agent *connectors.AgentID) error {
	if !hasToken(c.Auth.Type) {
		return fault.Errorf(fault.NotFound, "The account is gone.")
	}
	g, err := r.store.Vault(tenant).GrantByID(ctx, id)
	if err != nil {
		return err
	}
	return r.explainGrant(c, agent, g)
}

// ExplainMissingForSync is ExplainMissing for the credential that syncs use.
func (r *Resolver) ExplainMissingForSync(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) error {
	isShared := c.CredentialMode == connectors.CredentialShared
	cred, _, err := r.store.Vault(tenant).SyncSecret(ctx, c.ID, isShared)
	switch {
	case fault.Is(err, fault.NotFound) && !isShared && c.OAuth.TokenExchange != "":
		return newCredentialRequired("The connector %q has no account for syncs. Only calls of a member request tokens in its name: choose the account of an agent without a member for syncs.", c.Name)
	case fault.Is(err, fault.NotFound):
		return NewMissingError(c, nil)
	case err != nil:
		return explainSeveralForSync(c, err)
	case isShared && hasToken(c.Auth.Type):
		return r.ExplainUnusable(ctx, tenant, c, &Credential{ID: cred.ID})
	case cred.Syncs && (!isShared || connectors.GivenName(cred.Name) != ""):
		return newCredentialRequired("Syncs of the connector %q use the account %s, which can't be used. Replace it, or choose another one for syncs.", c.Name, cmp.Or(cred.AgentSlug, cred.Name))
	default:
		return NewMissingError(c, nil)
	}
}

// explainSeveral adds to the error of a call's look-up that found several accounts what to do.
func explainSeveral(c connectors.Connector, owner *connectors.AgentID, err error) error {
	if owner == nil {
		return explainSeveralWith("The connector %q has several accounts: %s. Choose one in the agent's grant.", c, err)
	}
	return explainSeveralWith("The agent has several accounts at the connector %q: %s. Choose one in its grant.", c, err)
}

// explainSeveralForSync is explainSeveral for a sync of a connector with a shared credential.
func explainSeveralForSync(c connectors.Connector, err error) error {
	return explainSeveralWith("The connector %q has several accounts: %s. Choose the one that syncs use.", c, err)
}

func explainSeveralWith(format string, c connectors.Connector, err error) error {
	several, ok := errors.AsType[store.SeveralAccountsError](err)
	if !ok {
		return err
	}
	f := fault.Errorf(fault.Conflict, format, c.Name, listNames(several.Names)).WithType(store.TypeAccountRequired)
	f.Err = several
	return f
}

// listNames shows at most ten names.
func listNames(names []string) string {
	const shown = 10
	if len(names) > shown {
		return strings.Join(names[:shown], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (r *Resolver) explainGrant(c connectors.Connector, agent *connectors.AgentID, g store.Grant) error {
	cause := r.unusableReason(c, g)
	switch {
	case g.Type != c.Auth.Type, g.Origin != c.CredentialOrigin():
		return NewMissingError(c, agent)
	case cause == "" && namesMember(g):
		return newCredentialRequired("The agent's account at %q has no valid token now. Only calls of its member and the agent's own programs request one.", c.Name)
	case cause == "": // reconnected meanwhile
		return newNotRenewed(c, store.Grant{Tokens: g.Tokens}, nil)
	case isIssued(g):
		return addGrantSaid(newCredentialRequired("The agent's account at %q can't be used: %s", c.Name, toClause(cause)), g)
	case isMachine(c.Auth.Type):
		return addGrantSaid(newCredentialRequired("The connector %q can't sign in: %s", c.Name, toClause(cause)), g)
	}
	format := "Reconnect the account for %q: %s"
	if g.AgentID != nil {
		format = "Reconnect the agent's account for %q: %s"
	}
	f := addGrantSaid(newCredentialRequired(format, c.Name, toClause(cause)), g)
	if cause == reasonTooManyStepUps || cause == formerTooManyStepUps {
		f.Err = ErrTooManyStepUps
	}
	return f
}

// unusableReason is why a stored grant is unusable; empty: it is usable.
func (r *Resolver) unusableReason(c connectors.Connector, g store.Grant) string {
	switch {
	case !isUsable(c, g.Credential):
		return cmp.Or(g.Error, reasonEnded)
	case !isTokenValid(g, r.now(), 0) && !r.canRefresh(g):
		return reasonExpired
	default:
		return ""
	}
}

// toClause turns a stored sentence into the end of another one, which already says what to do.
func toClause(sentence string) string {
	s := strings.TrimSuffix(sentence, connectAgain)
	for _, article := range []string{"The ", "An "} {
		if rest, ok := strings.CutPrefix(s, article); ok {
			return strings.ToLower(article) + rest
		}
	}
	return s
}

// addGrantSaid adds to a failure of a grant what the server said when it failed or ended, for admins.
func addGrantSaid(f *fault.Error, g store.Grant) *fault.Error {
	if u := g.Upstream; u != nil {
		f.Remote = &fault.Remote{Phase: "auth", HTTPStatus: u.Status, Said: u.Said, Retryable: g.Status == connectors.CredentialRefreshFailed}
	}
	return f
}

func newCredentialRequired(format string, args ...any) *fault.Error {
	return fault.Errorf(fault.Conflict, format, args...).WithType("credential-required")
}

// credentialWording is the wording for a type of credential.
type credentialWording struct{ thing, aThing, action string }

func wordingFor(t connectors.AuthType) credentialWording {
	switch t {
	case connectors.AuthOAuth2:
		return credentialWording{"connected account", "an account", "Connect one"}
	case connectors.AuthClientCredentials:
		return credentialWording{"client secret", "a client secret", "Set it"}
	case connectors.AuthPrivateKeyJWT:
		return credentialWording{"private key", "a private key", "Set it"}
	default:
		return credentialWording{"usable credential", "a credential", "Set one"}
	}
}

// newNotRenewed is the Unavailable fault of a failed refresh. It does not ask a person to reconnect.
func newNotRenewed(c connectors.Connector, g store.Grant, cause error) error {
	format := "The connector %q couldn't refresh its access. %s"
	if g.Tokens.AccessToken.Empty() {
		format = "The connector %q couldn't get an access token. %s"
	}
	hint := "Try again in a moment."
	if errors.Is(cause, errLate) {
		hint = "Another process takes longer than the connector's timeout. Try again in a moment."
	}
	if g.Status == connectors.CredentialRefreshFailed && g.Error != "" {
		hint = g.Error
	}
	f := fault.Errorf(fault.Unavailable, format, c.Name, hint)
	f.Code, f.Err, f.RetryAfter = CodeNotRenewed, cause, int(maxRetryDelay.Seconds())
	return addGrantSaid(f, g)
}

// CodeNotRenewed is the code of a fault after a failed refresh.
const CodeNotRenewed = "refresh_failed"
