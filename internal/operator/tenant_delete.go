package operator

import (
	"context"

	"patchbay/internal/fault"
)

type tenantDeleteCommand struct {
	databaseCommand
	Tenant string `arg:"" help:"Its slug or id."`
	Really bool   `name:"really" help:"Do it. Without this the command says what it would delete."`
}

func (tenantDeleteCommand) Help() string {
	return "Deletes, in one transaction, the tenant with its connectors, credentials, agents, members' places, history and audit log, and the key that sealed its secrets; calls of more than 30 days go before it. " +
		"What is left of those secrets elsewhere no longer opens, but by a backup that has the key, too, together with PATCHBAY_KEYSET. Export the audit log before: patchbay audit export."
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
		return fault.Errorf(fault.Invalid, "This permanently deletes the tenant %q (%s), its data and the key of its secrets. Add --really to confirm.", tenant.Name, tenant.Slug)
	}
	if err := d.Store.System().DeleteTenant(ctx, tenant.ID); err != nil {
		return err
	}
	p.printLine("Deleted %s and the key of its secrets. Running servers forget the key within seconds.", tenant.Slug)
	return nil
}
