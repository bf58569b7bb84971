package operator

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
)

type tenantLimitCommand struct {
	databaseCommand
	Tenant         string `arg:"" placeholder:"SLUG" help:"The tenant's slug or id."`
	CallsPerMinute *int   `placeholder:"N" help:"Tool calls per minute of all agents together. 0: no limit. Unset: unchanged."`
	CallsPerDay    *int   `placeholder:"N" help:"Tool calls per UTC day. 0: no limit. Unset: unchanged."`
}

func (tenantLimitCommand) Help() string {
	return "The tenant's owner can only set lower limits. Applies at once and is audited. Without flags, prints the current limits."
}

// Run limits a tenant's calls.
func (c tenantLimitCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	most := tenant.MaxQuota
	if c.CallsPerMinute != nil {
		most.PerMinute = *c.CallsPerMinute
	}
	if c.CallsPerDay != nil {
		most.PerDay = *c.CallsPerDay
	}
	if most != tenant.MaxQuota {
		if err := newAuthService(d).LimitTenant(ctx, auth.Operator(tenant), most); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.Stdout, "Tool call limits of %s: %s per minute, %s per day. Its owner set %s and %s.\n", tenant.Slug,
		formatLimit(most.PerMinute), formatLimit(most.PerDay), formatLimit(tenant.Quota.PerMinute), formatLimit(tenant.Quota.PerDay))
	return err
}

// formatLimit describes a limit.
func formatLimit(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%d", n)
}
