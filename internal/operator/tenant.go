package operator

import (
	"context"
	"fmt"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

type tenantCreateCommand struct {
	databaseCommand
	Name string `arg:"" help:"The tenant's display name."`
	Slug string `placeholder:"SLUG" help:"Short name in commands: lowercase letters, digits and dashes. Unset: from the name."`
}

// Run creates the tenant and prints only its slug, for scripts.
func (c tenantCreateCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := d.Store.System().CreateTenant(ctx, c.Name, c.Slug, newOperatorEvent())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, tenant.Slug)
	return err
}

// newOperatorEvent is the audit entry's actor for a tenant that a command creates.
func newOperatorEvent() *store.Event {
	return new(auth.Operator(connectors.Tenant{}).Event("tenant.create", ""))
}

// findTenant takes a slug or an id. Its error lists the tenants.
func findTenant(ctx context.Context, st *store.Store, ref string) (connectors.Tenant, error) {
	tenant, err := st.System().TenantByRef(ctx, ref)
	if !fault.Is(err, fault.NotFound) {
		return tenant, err
	}
	all, err := st.System().Tenants(ctx)
	if err != nil {
		return connectors.Tenant{}, err
	}
	const most = 10
	var slugs []string
	for _, t := range all[:min(len(all), most)] {
		slugs = append(slugs, t.Slug)
	}
	return connectors.Tenant{}, fault.Errorf(fault.NotFound, "No tenant %q. There are %d, including: %s.", ref, len(all), strings.Join(slugs, ", "))
}
