package main

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
)

type tenantLimitCommand struct {
	databaseCommand
	Tenant         string `arg:"" placeholder:"SLUG" help:"Slug or id of the tenant."`
	CallsPerMinute *int   `placeholder:"N" help:"Tool calls a minute of all its agents together; 0: without a limit. Unset: as it is."`
	CallsPerDay    *int   `placeholder:"N" help:"Tool calls a day (UTC), likewise."`
}

// Help is shown under the flags.
func (tenantLimitCommand) Help() string {
	return "The tenant's owner may set less, and never more. Running servers know of it at once. It stands in the tenant's audit log. Without a flag it says what there is."
}

// Run says how many tools a tenant may call at most.
func (c tenantLimitCommand) Run(ctx context.Context, p program) error {
	d, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer d.close()
	tenant, err := findTenant(ctx, d.store, c.Tenant)
	if err != nil {
		return err
	}
	most := tenant.Most
	if c.CallsPerMinute != nil {
		most.PerMinute = *c.CallsPerMinute
	}
	if c.CallsPerDay != nil {
		most.PerDay = *c.CallsPerDay
	}
	if most != tenant.Most {
		if err := d.auth().LimitTenant(ctx, auth.Operator(tenant), most); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.stdout, "%s may call tools at most: %s a minute, %s a day. Its owner set %s and %s.\n", tenant.Slug,
		bounded(most.PerMinute), bounded(most.PerDay), bounded(tenant.Quota.PerMinute), bounded(tenant.Quota.PerDay))
	return err
}

// bounded is a bound in words.
func bounded(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%d", n)
}
