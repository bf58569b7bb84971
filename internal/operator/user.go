package operator

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

type userCreateCommand struct {
	databaseCommand
	Tenant string `required:"" placeholder:"SLUG" help:"The tenant's slug or id."`
	Email  string `required:"" placeholder:"ADDRESS" help:"Sign-in email."`
	Role   string `required:"" enum:"viewer,member,admin,owner,auditor" placeholder:"ROLE" help:"viewer, member, admin, owner or auditor."`
	Name   string `placeholder:"NAME" help:"Display name. Unset: the email."`

	Existing bool `help:"Add the existing account with this email, keeping its name and password."`
}

func (userCreateCommand) Help() string {
	return "The password is read from the terminal or PATCHBAY_PASSWORD. If the email already has an account, its password is required; the error shows since when the account exists, and in which tenants."
}

// Run creates the member and prints it.
func (c userCreateCommand) Run(ctx context.Context, p IO) error {
	person := auth.Person{Email: c.Email, Name: c.Name, Role: connectors.Role(c.Role)}
	if !c.Existing {
		var err error
		if person.Password, err = newPassword(p); err != nil {
			return err
		}
	}
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	member, err := c.addMember(ctx, newAuthService(d), tenant, person)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s is %s of %s.\n", member.Email, member.Role, tenant.Slug)
	return err
}

func (c userCreateCommand) addMember(ctx context.Context, s *auth.Service, tenant connectors.Tenant, person auth.Person) (connectors.Member, error) {
	if c.Existing {
		return s.AddExisting(ctx, tenant, person.Email, person.Role)
	}
	return s.CreateMember(ctx, tenant, person)
}
