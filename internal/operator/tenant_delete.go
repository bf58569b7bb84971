package operator

import (
	"context"

	"patchbay/internal/fault"
)

type tenantDeleteCommand struct {
	databaseCommand
	Tenant string `arg:"" help:"The tenant's slug or id."`
	Really bool   `name:"really" help:"Confirm. Otherwise the command prints what it would delete."`
}

func (tenantDeleteCommand) Help() string {
	return "Deletes the tenant's connectors, credentials, agents, memberships, history, audit log and encryption key in one transaction, after its calls older than 30 days. " +
		"Copies of its secrets can then be decrypted only with a backup of the key and PATCHBAY_KEYSET. Export the audit log first: patchbay audit export."
}

// Run deletes the tenant.
func (c tenantDeleteCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	if !c.Really {
		return fault.Errorf(fault.Invalid, "This permanently deletes the tenant %q (%s), its data and its encryption key. Add --really to confirm.", tenant.Name, tenant.Slug)
	}
	if err := d.Store.System().DeleteTenant(ctx, tenant.ID); err != nil {
		return err
	}
	p.printLine("Deleted %s and its encryption key. Running servers drop the key within seconds.", tenant.Slug)
	return nil
}
