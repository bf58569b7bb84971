package operator

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/installation"
)

type auditVerifyCommand struct {
	databaseCommand
	auditFileFlags
	Tenant string `placeholder:"TENANT" help:"The tenant's slug or id. Unset: all tenants."`
}

// Run recomputes the audit chains and those of the calls' outcomes, and prints a line for each chain of each
// tenant. For an export it prints one line. It fails if an entry was changed.
func (c auditVerifyCommand) Run(ctx context.Context, p IO) error {
	if c.isSet() {
		return c.verifyFile(p)
	}
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	var tenants []connectors.Tenant
	if c.Tenant != "" {
		one, err := findTenant(ctx, d.Store, c.Tenant)
		if err != nil {
			return err
		}
		tenants = append(tenants, one)
	} else if tenants, err = d.Store.System().Tenants(ctx); err != nil {
		return err
	}
	bad := false
	for _, tenant := range tenants {
		check, err := d.Store.Tenant(tenant.ID).Audit().Check(ctx)
		if err != nil {
			return fmt.Errorf("verify the audit log of %s: %w", tenant.Slug, err)
		}
		line := fmt.Sprintf("%s: %d entries are unchanged, up to %s", tenant.Slug, check.Events, hex.EncodeToString(check.Head))
		if check.Cut > 0 {
			line = fmt.Sprintf("%s: %d entries are unchanged, up to %s; %d earlier entries were removed, with a signature",
				tenant.Slug, check.Events-check.Cut, hex.EncodeToString(check.Head), check.Cut)
		}
		if check.Bad != nil {
			bad = true
			line = fmt.Sprintf("%s: entry %d of %d: %s", tenant.Slug, check.Bad.N, check.Events, check.Bad.Reason)
			if check.Bad.EventID != nil {
				line += " Its id is " + check.Bad.EventID.String() + "."
			}
		}
		if _, err := fmt.Fprintln(p.Stdout, line); err != nil {
			return err
		}
		good, err := c.verifyCalls(ctx, p, d, tenant)
		if err != nil {
			return err
		}
		bad = bad || !good
	}
	if bad {
		return SilentFailure{}
	}
	return nil
}

// verifyCalls recomputes the chain of outcomes of a tenant's calls. It prints nothing for a tenant without
// calls.
func (auditVerifyCommand) verifyCalls(ctx context.Context, p IO, d *installation.Database, tenant connectors.Tenant) (good bool, err error) {
	check, err := d.Store.Tenant(tenant.ID).Audit().CheckOutcomes(ctx, nil, time.Time{})
	if err != nil {
		return false, fmt.Errorf("verify the calls of %s: %w", tenant.Slug, err)
	}
	line := fmt.Sprintf("%s: %d calls match the record, up to %s", tenant.Slug, check.Calls, hex.EncodeToString(check.Head))
	if check.Gone > 0 {
		line += fmt.Sprintf("; %d of them are no longer stored", check.Gone)
	}
	if check.Cut > 0 {
		line += fmt.Sprintf("; %d earlier batches were removed, with a signature", check.Cut)
	}
	switch bad := check.Bad; {
	case bad != nil:
		line = fmt.Sprintf("%s: batch %d of %d: %s", tenant.Slug, bad.N, check.Places, bad.Reason)
		if bad.Call != nil {
			line += " Its id is " + bad.Call.String() + "."
		}
	case check.Places == 0:
		return true, nil
	}
	_, err = fmt.Fprintln(p.Stdout, line)
	return check.Bad == nil, err
}
