package operator

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
	"patchbay/internal/sso"
)

type ssoVerifyDomainCommand struct {
	databaseCommand
	Tenant string `required:"" placeholder:"SLUG" help:"Slug or id of the tenant."`
	Domain string `arg:"" help:"What follows the @ of its people's addresses."`
}

func (ssoVerifyDomainCommand) Help() string {
	return "The domain's people then sign in at the tenant's provider, and it can be no other tenant's. Say so only where you know it: a tenant proves it by itself with a TXT record, in the dashboard."
}

// Run marks a domain as verified for a tenant, by the operator's decision.
func (c ssoVerifyDomainCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	if err := sso.New(sso.Options{Store: d.Store}).Vouch(ctx, auth.Operator(tenant), c.Domain); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is verified for %s.\n", c.Domain, tenant.Slug)
	return err
}

type ssoReleaseDomainCommand struct {
	databaseCommand
	Tenant string `required:"" placeholder:"SLUG" help:"Slug or id of the tenant."`
	Domain string `arg:"" help:"What follows the @ of its people's addresses."`
}

func (ssoReleaseDomainCommand) Help() string {
	return "For a domain that has changed hands, or was never the tenant's: its addresses open the tenant no more by single sign-on, sessions by it end, and another tenant may claim it."
}

// Run releases a domain, by the operator's decision.
func (c ssoReleaseDomainCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	if err := sso.New(sso.Options{Store: d.Store}).Release(ctx, auth.Operator(tenant), c.Domain); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "Removed %s from %s.\n", c.Domain, tenant.Slug)
	return err
}
