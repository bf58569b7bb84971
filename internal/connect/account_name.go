package connect

import (
	"context"
	"slices"

	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// checkAccountName returns the name of the account to connect. It fails before a person is sent to a server if the account could not be
// stored: the owner has several and none is named, or has one named default beside which no other may stand.
func (b *Broker) checkAccountName(ctx context.Context, p target, name string) (string, error) {
	return b.tenantStore(p.tenant).Accounts().FullName(ctx, p.connector.ID, p.agentID(), name)
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
