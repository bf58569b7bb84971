package main

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

type userCreateCommand struct {
	databaseCommand
	Tenant string `required:"" placeholder:"SLUG" help:"Slug or id of the tenant."`
	Email  string `required:"" placeholder:"ADDRESS" help:"What the person signs in with."`
	Role   string `required:"" enum:"viewer,member,admin,owner,auditor" placeholder:"ROLE" help:"viewer, member, admin, owner or auditor."`
	Name   string `placeholder:"NAME" help:"What others see. Unset: the address."`
}

// Help is shown under the flags.
func (userCreateCommand) Help() string {
	return "The password is asked for on the terminal, or read from PATCHBAY_PASSWORD. An address that has an account already becomes a member with the password it has."
}

// Run makes the member and prints whom it made.
func (c userCreateCommand) Run(ctx context.Context, p program) error {
	password, err := newPassword(p)
	if err != nil {
		return err
	}
	d, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer d.close()
	tenant, err := findTenant(ctx, d.store, c.Tenant)
	if err != nil {
		return err
	}
	person := auth.Person{Email: c.Email, Name: c.Name, Password: password, Role: connectors.Role(c.Role)}
	member, err := d.auth().AddMember(ctx, auth.Operator(tenant), person)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s is %s of %s.\n", member.Email, member.Role, tenant.Slug)
	return err
}
