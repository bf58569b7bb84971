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

// Get reads the tenant's single sign-on settings, without the client secret.
func (t SSO) Get(ctx context.Context) (connectors.SSO, error) {
	var (
		settings dbgen.SSORow
		groups   []dbgen.SSOGroupsRow
		domains  []dbgen.SSODomainsRow
		known    = true
	)
	err := t.scope.runReadBatch(ctx,
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
		s = toSSO(settings)
	}
	s.Groups, s.Domains = mapRows(groups, toGroupRole), mapRows(domains, toSSODomain)
	return s, nil
}

// Lock is [SSO.Get] with the settings locked until the transaction ends.
func (t SSO) Lock(ctx context.Context) (connectors.SSO, error) {
	if err := t.q.LockSSO(ctx, t.id); err != nil {
		return connectors.SSO{}, err
	}
	return t.Get(ctx)
}

// Save stores the settings, except domains. An empty secret keeps the stored one, which must belong to this
// issuer.
func (t SSO) Save(ctx context.Context, s connectors.SSO, client secret.Text) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.saveSSO(ctx, s, client); err != nil {
			return err
		}
		if err := tx.q.DeleteSSOGroups(ctx, tx.id); err != nil {
			return err
		}
		for _, g := range s.Groups {
			if err := tx.q.AddSSOGroup(ctx, tx.id, cleanText(g.Group), g.Role); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tenant) saveSSO(ctx context.Context, s connectors.SSO, client secret.Text) error {
	p := dbgen.UpdateSSOParams{
		TenantID: t.id, Issuer: cleanText(s.Issuer), ClientID: cleanText(s.ClientID), GroupsClaim: cleanText(s.GroupsClaim), Joins: s.Joins,
		Enabled: s.Enabled, Enforced: s.Enforced, BreakGlass: s.BreakGlass, TestedAt: s.TestedAt, ManagedAccounts: s.ManagedAccounts, ManagedClients: s.ManagedClients,
	}
	if s.DefaultRole != "" {
		p.DefaultRole = &s.DefaultRole
	}
	if client.Empty() {
		n, err := t.q.UpdateSSO(ctx, p)
		return affectedError(n, err, "single sign-on")
	}
	return t.sealAndRetry(ctx, client, ssoSecretAD(t.id, p.Issuer), func(sealed []byte) error {
		return t.q.SaveSSO(ctx, dbgen.SaveSSOParams{
			TenantID: p.TenantID, Issuer: p.Issuer, ClientID: p.ClientID, Sealed: sealed, GroupsClaim: p.GroupsClaim, Joins: p.Joins,
			DefaultRole: p.DefaultRole, Enabled: p.Enabled, Enforced: p.Enforced, BreakGlass: p.BreakGlass, TestedAt: p.TestedAt,
			ManagedAccounts: p.ManagedAccounts, ManagedClients: p.ManagedClients,
		})
	})
}

// Delete deletes the provider and the links of its subjects to members. The domains stay.
func (t SSO) Delete(ctx context.Context) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.People().EndSSOSessions(ctx); err != nil {
			return err
		}
		if err := tx.SSO().DeleteTokens(ctx); err != nil {
			return err
		}
		n, err := tx.q.DeleteSSO(ctx, tx.id)
		if err := affectedError(n, err, "single sign-on"); err != nil {
			return err
		}
		if err := tx.q.DeleteSSOGroups(ctx, tx.id); err != nil {
			return err
		}
		return tx.q.DeleteSSOIdentities(ctx, tx.id)
	})
}

// MarkTested stores that a sign-in with these settings succeeded. It fails with NotFound if the settings changed
// meanwhile.
func (t SSO) MarkTested(ctx context.Context, s connectors.SSO) error {
	n, err := t.q.MarkSSOTested(ctx, dbgen.MarkSSOTestedParams{
		TestedAt: s.TestedAt, TenantID: t.id, Issuer: cleanText(s.Issuer), ClientID: cleanText(s.ClientID), UpdatedAt: s.UpdatedAt,
	})
	return affectedError(n, err, "single sign-on")
}

func toGroupRole(r dbgen.SSOGroupsRow) connectors.GroupRole {
	return connectors.GroupRole{Group: r.GroupName, Role: r.Role}
}

// SSOSecret opens the tenant's client secret at a provider. It fails with NotFound if another issuer or client
// is set by now.
func (v *Vault) SSOSecret(ctx context.Context, issuer, client string) (secret.Text, error) {
	row, err := v.q.SSOSecret(ctx, v.id, cleanText(issuer), cleanText(client))
	if err != nil {
		return "", rowError(err, "single sign-on")
	}
	plain, err := v.keyring.Open(row.Sealed, ssoSecretAD(v.id, row.Issuer))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stored client secret can't be decrypted. Set it again.")
	}
	return plain, nil
}

// ssoSecretAD binds the client secret to its tenant and issuer.
func ssoSecretAD(tenant connectors.TenantID, issuer string) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "sso_settings", Column: "sealed", Row: issuer}
}

func toSSO(r dbgen.SSORow) connectors.SSO {
	s := connectors.SSO{
		Issuer: r.Issuer, ClientID: r.ClientID, GroupsClaim: r.GroupsClaim, Joins: r.Joins, Enabled: r.Enabled, Enforced: r.Enforced,
		BreakGlass: r.BreakGlass, TestedAt: toUTC(r.TestedAt), UpdatedAt: r.UpdatedAt.UTC(),
		ManagedAccounts: r.ManagedAccounts, ManagedClients: r.ManagedClients,
	}
	if r.DefaultRole != nil {
		s.DefaultRole = *r.DefaultRole
	}
	return s
}

// PasswordOpens reports whether a member's password opens the tenant if single sign-on is not enforced.
func (t SSO) PasswordOpens(ctx context.Context, user connectors.UserID) (bool, error) {
	ok, err := t.q.HasUsablePassword(ctx, t.id, user)
	return ok, rowError(err, "member")
}
