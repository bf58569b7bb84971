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
