package operator

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
)

type userForgetFactorCommand struct {
	databaseCommand
	Tenant string `required:"" placeholder:"SLUG" help:"Slug or id of one of the person's tenants. Its audit log records the removal."`
	Email  string `required:"" placeholder:"ADDRESS" help:"The person's sign-in email."`
}

func (userForgetFactorCommand) Help() string {
	return "The person is signed out everywhere and signs in with only the password until they set up a new factor: verify their identity first. Owners can do this in the dashboard for members of their tenant only."
}

// Run removes the second factor and prints whose.
func (c userForgetFactorCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	member, err := d.Store.Tenant(tenant.ID).SSO().MemberByEmail(ctx, c.Email)
	if err != nil {
		return err
	}
	if err := newAuthService(d).RemoveMemberSecondFactor(ctx, auth.Operator(tenant), member.UserID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "Removed the second factor of %s.\n", member.Email)
	return err
}
