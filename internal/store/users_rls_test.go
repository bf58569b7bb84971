package store_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// issuedIn makes an account that the other tenant issued.
func issuedIn(t *testing.T, w *fixture.World) connectors.Member {
	t.Helper()
	m, err := w.OtherDoor().People().IssueAccount(t.Context(), store.NewMember{Email: "vic@example.com", PasswordHash: "theirs", Role: connectors.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asTenant runs a statement in the scope of w.Tenant, and returns how many rows it was about.
func asTenant(t *testing.T, w *fixture.World, sql string, args ...any) (int64, error) {
	t.Helper()
	tx, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select set_config('app.tenant_id', $1, true)", w.Tenant.String()); err != nil {
		t.Fatal(err)
	}
	tag, err := tx.Exec(t.Context(), sql, args...)
	return tag.RowsAffected(), err
}

func TestUsers_AreHiddenFromOtherTenants(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine := w.Member(t, connectors.RoleOwner)
	theirs, issued := w.MemberIn(t, w.Other, connectors.RoleOwner), issuedIn(t, w)
	for _, m := range []connectors.Member{theirs, issued} {
		for _, sql := range []string{
			"select from users where id = $1", "update users set password_hash = 'mine' where id = $1", "delete from users where id = $1",
		} {
			if n, err := asTenant(t, w, sql, m.UserID); n != 0 || err != nil {
				t.Errorf("%s of another tenant's: %d rows, %v", sql, n, err)
			}
		}
	}
	if n, err := asTenant(t, w, "select from users"); n != 1 || err != nil {
		t.Errorf("a tenant of one member reads %d, %v", n, err)
	}
	if n, err := asTenant(t, w, "update users set password_hash = 'mine' where id = $1", mine.UserID); n != 0 || err != nil {
		t.Errorf("a tenant changes its member's own account: %d, %v", n, err)
	}
	if _, err := asTenant(t, w, "insert into users (id, email) values ($1, 'new@example.com')", w.Tenant.UUID); sqlState(err) != "42501" {
		t.Errorf("a tenant adds an account that it did not issue: %v", err)
	}
	if tag, err := w.Pool.Exec(t.Context(), "select from users"); tag.RowsAffected() != 0 || err != nil {
		t.Errorf("without a tenant: %d, %v", tag.RowsAffected(), err)
	}
}

func TestPasswordHashes_AreHiddenFromTenants(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	own := w.Member(t, connectors.RoleOwner, func(m *store.NewMember) { m.PasswordHash = "own" })
	issued, err := w.Door().People().IssueAccount(t.Context(), store.NewMember{Email: "vic@example.com", PasswordHash: "issued", Role: connectors.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []connectors.Member{own, issued} {
		for _, sql := range []string{
			"select from users where id = $1 and password_hash is not null", "select from user_passwords where user_id = $1",
			"update user_passwords set hash = 'mine' where user_id = $1", "delete from user_passwords where user_id = $1",
		} {
			if n, err := asTenant(t, w, sql, m.UserID); n != 0 || err != nil {
				t.Errorf("%s as the tenant of %s: %d rows, %v", sql, m.Email, n, err)
			}
		}
		if ok, err := w.Door().SSO().PasswordOpens(t.Context(), m.UserID); !ok || err != nil {
			t.Errorf("the password of %s opens: %v, %v", m.Email, ok, err)
		}
	}
	bare := w.Member(t, connectors.RoleViewer)
	if _, err := asTenant(t, w, "insert into user_passwords (user_id, hash) values ($1, 'mine')", bare.UserID); sqlState(err) != "42501" {
		t.Errorf("a tenant gives an account that it did not issue a password: %v", err)
	}
	if tag, err := w.Pool.Exec(t.Context(), "select from user_passwords"); tag.RowsAffected() != 0 || err != nil {
		t.Errorf("without a tenant: %d, %v", tag.RowsAffected(), err)
	}
}

// Servers of the release before read and write users.password_hash, and do not say of themselves that they know user_passwords.
func TestPasswordHashes_AreShownToOlderServersAlone(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	m := w.Member(t, connectors.RoleOwner, func(m *store.NewMember) { m.PasswordHash = "first" })
	older := fixture.NewInstance()
	beat := func() {
		w.AsSystem(t, "insert into instances (id) values ($1) on conflict (id) do update set beat_at = now()", []any{older})
	}
	wantHashes := func(step, inUsers, inPasswords string) {
		t.Helper()
		var column string
		w.AsSystem(t, "select coalesce(password_hash, '') from users where id = $1", []any{m.UserID}, &column)
		user, err := w.St.System().People().UserByEmail(t.Context(), m.Email)
		if got := user.PasswordHash.Reveal(); err != nil || column != inUsers || got != inPasswords {
			t.Errorf("%s: %q in users, %q in user_passwords, %v; want %q and %q", step, column, got, err, inUsers, inPasswords)
		}
	}
	wantHashes("before", "", "first")
	w.AsSystem(t, "insert into users (id, email, password_hash) values (gen_random_uuid(), $1, 'late') "+
		"on conflict (email) do update set password_hash = coalesce(users.password_hash, excluded.password_hash)", []any{m.Email})
	wantHashes("an older server that has not beaten adds the address", "late", "first")
	beat()
	wantHashes("an older server beats", "first", "first")
	w.AsSystem(t, "update users set password_hash = 'second', password_set_at = clock_timestamp() where id = $1", []any{m.UserID})
	wantHashes("an older server changes the password", "second", "second")
	if err := w.St.System().People().SetPasswordHash(t.Context(), m.UserID, "second", "third"); err != nil {
		t.Fatal(err)
	}
	w.AsSystem(t, "update users set password_hash = password_hash where id = $1", []any{m.UserID})
	wantHashes("this server changes the password", "second", "third")
	beat()
	wantHashes("the older server beats again", "third", "third")
	if err := w.St.System().Syncs().EndInstance(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	wantHashes("the older server ends", "", "third")
}

func TestMembership_RefusesAnotherTenantsAccount(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	issued := issuedIn(t, w)
	own := w.Member(t, connectors.RoleOwner, func(m *store.NewMember) { m.Email = issued.Email })
	for name, row := range map[string]struct {
		tenant connectors.TenantID
		user   connectors.UserID
		state  string
	}{
		"an account that another tenant issued": {w.Tenant, issued.UserID, "23514"},
		"an address that a member has":          {w.Other, own.UserID, "23505"},
	} {
		tx, err := w.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(t.Context(), "insert into memberships (tenant_id, user_id, role) values ($1, $2, 'owner')", row.tenant, row.user)
		if sqlState(err) != row.state {
			t.Errorf("%s: %v", name, err)
		}
		_ = tx.Rollback(t.Context())
	}
}

func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}
