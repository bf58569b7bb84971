package operator

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
	"patchbay/internal/sso"
)

type ssoVerifyDomainCommand struct {
	databaseCommand
	Tenant string `required:"" placeholder:"SLUG" help:"The tenant's slug or id."`
	Domain string `arg:"" help:"The part of email addresses after @."`
}

func (ssoVerifyDomainCommand) Help() string {
	return "People of the domain then sign in at the tenant's provider, and no other tenant can claim it. Make sure that the tenant owns the domain; tenants verify it themselves with a TXT record in the dashboard."
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
	Tenant string `required:"" placeholder:"SLUG" help:"The tenant's slug or id."`
	Domain string `arg:"" help:"The part of email addresses after @."`
}

func (ssoReleaseDomainCommand) Help() string {
	return "For a domain that changed hands or was never the tenant's. Its addresses lose single sign-on to the tenant, their sessions end, and another tenant can claim it."
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
