package connect

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// checkAccountName returns the name of the account to connect. It fails before a person is sent to a server if the account could not be
// stored: the owner has several and none is named, or has one named default beside which no other may stand.
func (b *Broker) checkAccountName(ctx context.Context, p target, name string) (string, error) {
	return b.tenantStore(p.tenant).Accounts().FullName(ctx, p.connector.ID, p.agentID(), name)
}

// nameAccount sets the name of the account to connect, and the account that has it.
func (b *Broker) nameAccount(ctx context.Context, p *target, name string) (err error) {
	if p.account, err = b.checkAccountName(ctx, *p, name); err != nil {
		return err
	}
	stored, err := b.tenantStore(p.tenant).Agents().CredentialFor(ctx, p.connector.ID, p.agentID(), p.account)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err == nil:
		p.accountID = &stored.ID
	}
	return err
}

// isOfStart reports whether a stored account is that of the start. Flows and links of the previous release have no name.
func (t target) isOfStart(stored connectors.Credential) bool {
	return t.account == "" || t.accountID != nil && *t.accountID == stored.ID
}

// mayReplace reports whether a stored account is that of the start, or unusable.
func (t target) mayReplace(stored connectors.Credential) bool {
	return t.isOfStart(stored) || stored.Status == connectors.CredentialRevoked || stored.Status == connectors.CredentialExpired
}

// checkLinkAccount refuses a link if the account that it may replace is not the stored one.
func checkLinkAccount(ctx context.Context, tx *store.Tenant, p target) error {
	stored, err := tx.Agents().CredentialFor(ctx, p.connector.ID, p.agentID(), p.account)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err == nil && !p.mayReplace(stored):
		return fault.Errorf(fault.Conflict, "Another account was connected since the link was made. Ask for a new one.")
	}
	return err
}

// recheckLinkAccount refuses a link of a maker below admin that would add an account beside others: grants that name none would fail.
func recheckLinkAccount(ctx context.Context, tx store.Accounts, p target) error {
	names, err := tx.Names(ctx, p.connector.ID, p.agentID())
	if err != nil {
		return err
	}
	if p.account != "" && len(names) > 0 && !slices.Contains(names, p.account) {
		return fault.Errorf(fault.Conflict, "Other accounts are connected. To add one, ask an admin for a link.")
	}
	return nil
}

// hasOtherAccounts reports whether the owner has accounts of other names, one of which the browser may be signed in to.
func (b *Broker) hasOtherAccounts(ctx context.Context, p target) (bool, error) {
	if p.account == "" {
		return false, nil
	}
	names, err := b.tenantStore(p.tenant).Accounts().Names(ctx, p.connector.ID, p.agentID())
	return slices.ContainsFunc(names, func(name string) bool { return name != p.account }), err
}

// checkOtherNames refuses an account that the owner has under another name. The visitor of a link does not learn the name.
func (r callbackFlow) checkOtherNames(ctx context.Context, tx *store.Tenant, now connectors.Identity) error {
	if !now.IsKnown() || r.account == "" {
		return nil
	}
	stored, err := tx.Accounts().OfOwner(ctx, r.connector.ID, r.agentID())
	if err != nil {
		return err
	}
	for _, other := range stored {
		switch isSame := other.Type == connectors.AuthOAuth2 && other.Origin == r.flow.Origin && other.Identity.IsKnown() && !now.IsOther(other.Identity); {
		case other.Name == r.account, !isSame:
		case r.flow.StartedBy.Type == typeLink:
			return fault.Errorf(fault.Conflict, "You signed in as %s, which is connected already. Sign in to another account.", now.Label())
		default:
			return fault.Errorf(fault.Conflict, "You signed in as %s, which is connected already as the account %q. Sign in to another account.", now.Label(), other.Name)
		}
	}
	return nil
}
