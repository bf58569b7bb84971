package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SSO is how the tenant's people sign in at its provider, without the client's secret.
func (t *Tenant) SSO(ctx context.Context) (connectors.SSO, error) {
	var (
		settings dbgen.SSORow
		groups   []dbgen.SSOGroupsRow
		domains  []dbgen.SSODomainsRow
		known    = true
	)
	err := t.scope.readTogether(ctx,
		func(q *dbgen.Queries) (err error) {
			if settings, err = q.SSO(ctx, t.id); errors.Is(err, pgx.ErrNoRows) {
				known, err = false, nil
			}
			return err
		},
		func(q *dbgen.Queries) (err error) { groups, err = q.SSOGroups(ctx, t.id); return err },
		func(q *dbgen.Queries) (err error) { domains, err = q.SSODomains(ctx, t.id); return err },
	)
	if err != nil {
		return connectors.SSO{}, err
	}
	var s connectors.SSO
	if known {
		s = ssoOf(settings)
	}
	s.Groups, s.Domains = each(groups, groupRoleOf), each(domains, ssoDomainOf)
	return s, nil
}

// LockSSO is SSO while nobody else can change it, until the transaction ends.
func (t *Tenant) LockSSO(ctx context.Context) (connectors.SSO, error) {
	if err := t.q.LockSSO(ctx, t.id); err != nil {
		return connectors.SSO{}, err
	}
	return t.SSO(ctx)
}

// SaveSSO stores how people sign in, but for the domains. An empty secret: the one that is there stays, and it has to be there for this
// issuer.
func (t *Tenant) SaveSSO(ctx context.Context, s connectors.SSO, client secret.Text) error {
	return t.within(ctx, func(tx *Tenant) error {
		if err := tx.saveSSO(ctx, s, client); err != nil {
			return err
		}
		if err := tx.q.ForgetSSOGroups(ctx, tx.id); err != nil {
			return err
		}
		for _, g := range s.Groups {
			if err := tx.q.AddSSOGroup(ctx, tx.id, clean(g.Group), g.Role); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *Tenant) saveSSO(ctx context.Context, s connectors.SSO, client secret.Text) error {
	p := dbgen.UpdateSSOParams{
		TenantID: t.id, Issuer: clean(s.Issuer), ClientID: clean(s.ClientID), GroupsClaim: clean(s.GroupsClaim), Joins: s.Joins,
		Enabled: s.Enabled, Enforced: s.Enforced, BreakGlass: s.BreakGlass, TestedAt: s.TestedAt,
	}
	if s.DefaultRole != "" {
		p.DefaultRole = &s.DefaultRole
	}
	if client.Empty() {
		n, err := t.q.UpdateSSO(ctx, p)
		return touched(n, err, "single sign-on")
	}
	return t.storing(ctx, client, ssoPlace(t.id, p.Issuer), func(sealed []byte) error {
		return t.q.SaveSSO(ctx, dbgen.SaveSSOParams{
			TenantID: p.TenantID, Issuer: p.Issuer, ClientID: p.ClientID, Sealed: sealed, GroupsClaim: p.GroupsClaim, Joins: p.Joins,
			DefaultRole: p.DefaultRole, Enabled: p.Enabled, Enforced: p.Enforced, BreakGlass: p.BreakGlass, TestedAt: p.TestedAt,
		})
	})
}

// ForgetSSO forgets the provider, and whom it knew. The domains stay the tenant's.
func (t *Tenant) ForgetSSO(ctx context.Context) error {
	return t.within(ctx, func(tx *Tenant) error {
		if err := tx.EndSSOSessions(ctx); err != nil {
			return err
		}
		n, err := tx.q.ForgetSSO(ctx, tx.id)
		if err := touched(n, err, "single sign-on"); err != nil {
			return err
		}
		if err := tx.q.ForgetSSOGroups(ctx, tx.id); err != nil {
			return err
		}
		return tx.q.ForgetSSOIdentities(ctx, tx.id)
	})
}

// SSOTested notes that a person has signed in with these settings. Others that were stored meanwhile are NotFound.
func (t *Tenant) SSOTested(ctx context.Context, s connectors.SSO) error {
	n, err := t.q.SSOTested(ctx, dbgen.SSOTestedParams{
		TestedAt: s.TestedAt, TenantID: t.id, Issuer: clean(s.Issuer), ClientID: clean(s.ClientID), UpdatedAt: s.UpdatedAt,
	})
	return touched(n, err, "single sign-on")
}

func groupRoleOf(r dbgen.SSOGroupsRow) connectors.GroupRole {
	return connectors.GroupRole{Group: r.GroupName, Role: r.Role}
}

// SSOSecret opens what a provider knows the tenant's Patchbay by. NotFound: another one, or another client of it, is set by now.
func (v *Vault) SSOSecret(ctx context.Context, issuer, client string) (secret.Text, error) {
	row, err := v.q.SSOSecret(ctx, v.id, clean(issuer), clean(client))
	if err != nil {
		return "", found(err, "single sign-on")
	}
	plain, err := v.keyring.Open(row.Sealed, ssoPlace(v.id, row.Issuer))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stored client secret cannot be opened. Set it again.")
	}
	return plain, nil
}

// ssoPlace names whose secret it is, and whom it is shown to.
func ssoPlace(tenant connectors.TenantID, issuer string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "sso_settings", Column: "sealed", Row: issuer}
}

func ssoOf(r dbgen.SSORow) connectors.SSO {
	s := connectors.SSO{
		Issuer: r.Issuer, ClientID: r.ClientID, GroupsClaim: r.GroupsClaim, Joins: r.Joins, Enabled: r.Enabled, Enforced: r.Enforced,
		BreakGlass: r.BreakGlass, TestedAt: utc(r.TestedAt), UpdatedAt: r.UpdatedAt.UTC(),
	}
	if r.DefaultRole != nil {
		s.DefaultRole = *r.DefaultRole
	}
	return s
}

// PasswordOpens tells whether a member has a password that opens the tenant where nothing is enforced.
func (t *Tenant) PasswordOpens(ctx context.Context, user connectors.UserID) (bool, error) {
	ok, err := t.q.PasswordOpens(ctx, t.id, user)
	return ok, found(err, "member")
}
