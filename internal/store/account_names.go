package store

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// maxAccounts bounds the accounts of one owner at a connector.
const maxAccounts = 50

// TypeAccountRequired is the problem type of a request that does not say which of several accounts is meant.
const TypeAccountRequired = "account-required"

// SeveralAccountsError is the cause of a fault of type [TypeAccountRequired].
type SeveralAccountsError struct{ Names []string }

// Error implements error.
func (e SeveralAccountsError) Error() string {
	return "several accounts: " + strings.Join(e.Names, ", ")
}

// newSeveralAccounts is the Conflict of a look-up that found several accounts where one is needed.
func newSeveralAccounts(names []string) error {
	f := fault.Errorf(fault.Conflict, "There are several accounts: %s. Say which one.", strings.Join(names, ", ")).WithType(TypeAccountRequired)
	f.Err = SeveralAccountsError{Names: names}
	return f
}

// sealedAccount returns an owner's account by its name, or its only account if the name is empty. Several accounts without a name are an
// error: none of them is chosen.
func (v *Vault) sealedAccount(
	ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string,
) (dbgen.Credential, error) {
	p := dbgen.SealedCredentialsParams{TenantID: v.id, ConnectorID: id, AgentID: agent, MaxRows: maxAccounts}
	if name != "" {
		p.Name = &name
	}
	rows, err := v.q.SealedCredentials(ctx, p)
	switch {
	case err != nil:
		return dbgen.Credential{}, err
	case len(rows) == 0:
		return dbgen.Credential{}, newNotFound("credential")
	case len(rows) > 1:
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = r.Name
		}
		return dbgen.Credential{}, newSeveralAccounts(names)
	default:
		return rows[0], nil
	}
}

// ChooseSyncAccount makes syncs of a connector use an agent's account with a name, empty: its only one. agent nil: a shared one.
func (t Connectors) ChooseSyncAccount(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) error {
	name, err := t.chooseAccountName(ctx, id, agent, name)
	if err != nil {
		return err
	}
	return t.asTenant().Tx(ctx, func(tx *Tenant) error {
		if err := tx.q.ReleaseSyncAccount(ctx, t.id, id, agent == nil); err != nil {
			return err
		}
		n, err := tx.q.ChooseSyncAccount(ctx, dbgen.ChooseSyncAccountParams{TenantID: t.id, ConnectorID: id, AgentID: agent, Name: name})
		return affectedError(n, err, "account")
	})
}

// chooseAccountName returns the name of the account that a stored secret replaces or adds: the given name, else that of the only account, else
// the default one.
func (t *tenant) chooseAccountName(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) (string, error) {
	if name != "" && !connectors.ValidSlug(name) {
		return "", fault.InvalidFields(fault.Field{Location: "account", Message: slugRule})
	}
	names, err := t.q.AccountNames(ctx, dbgen.AccountNamesParams{TenantID: t.id, ConnectorID: id, AgentID: agent, MaxRows: maxAccounts})
	switch {
	case err != nil:
		return "", err
	case name != "" && len(names) == maxAccounts && !slices.Contains(names, name):
		return "", fault.Errorf(fault.Conflict, "At most %d accounts. Disconnect one first.", maxAccounts)
	case name != "":
		return name, nil
	case len(names) == 0:
		return connectors.DefaultAccount, nil
	case len(names) > 1:
		return "", newSeveralAccounts(names)
	default:
		return names[0], nil
	}
}
