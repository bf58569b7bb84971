package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/fault"
)

// AppRole is the role that the program works as: it owns nothing, and row-level security always holds for it.
const AppRole = "patchbay_app"

// session is what the server says about our connection and about the runtime role.
type session struct {
	user, database, schema string
	serverVersion          int // 150004 is 15.4
	maySchema              bool
	mayRoles               bool
	appExists              bool
	appBypasses            bool // superuser or bypassrls: the locks would not hold
	mayBecomeApp           bool
}

func readSession(ctx context.Context, conn *pgx.Conn) (session, error) {
	var s session
	err := conn.QueryRow(ctx, `
		select current_user, current_database(), coalesce(current_schema(), 'public'),
		       current_setting('server_version_num')::int,
		       has_schema_privilege(coalesce(current_schema(), 'public'), 'create'),
		       (select rolsuper or rolcreaterole from pg_roles where rolname = current_user),
		       exists (select from pg_roles where rolname = $1),
		       coalesce((select rolsuper or rolbypassrls from pg_roles where rolname = $1), false)`, AppRole,
	).Scan(&s.user, &s.database, &s.schema, &s.serverVersion, &s.maySchema, &s.mayRoles, &s.appExists, &s.appBypasses)
	if err != nil || !s.appExists {
		return s, err
	}
	right := "member"
	if s.serverVersion >= 160000 {
		right = "set" // since 16 a member may be refused the change of role
	}
	err = conn.QueryRow(ctx, `select pg_has_role($1, $2)`, AppRole, right).Scan(&s.mayBecomeApp)
	return s, err
}

// check refuses what no statement of an administrator can fix.
func (s session) check() error {
	if s.serverVersion < 150000 {
		return fault.Errorf(fault.Unavailable, "The database server is PostgreSQL %d; Patchbay needs 15 or newer.", s.serverVersion/10000)
	}
	if s.appBypasses {
		return fault.Errorf(fault.Unavailable,
			"The role %s is a superuser or bypasses row-level security, so tenants are not isolated; run: alter role %s nosuperuser nobypassrls;", AppRole, AppRole)
	}
	return nil
}

// needs lists the statements that somebody with more rights has to run before this role can migrate.
func (s session) needs() []string {
	var statements []string
	if !s.appExists && !s.mayRoles {
		statements = append(statements, "create role "+AppRole+" nologin")
	}
	if !s.mayBecomeApp && !s.mayRoles {
		statements = append(statements, s.grantApp())
	}
	if !s.maySchema {
		statements = append(statements, "grant create, usage on schema "+quote(s.schema)+" to "+quote(s.user))
	}
	return statements
}

func (s session) grantApp() string {
	grant := "grant " + AppRole + " to " + quote(s.user)
	if s.serverVersion >= 160000 {
		grant += " with inherit false, set true"
	}
	return grant
}

func needsFault(s session, statements []string, cause error) error {
	return fault.Wrap(fault.Denied, cause, fmt.Sprintf(
		"The database role %q may not set up the database %q. Ask an administrator to run there: %s; then run `patchbay migrate` again.",
		s.user, s.database, strings.Join(statements, "; ")))
}

// ensureRole makes the runtime role and lets our own become it.
func ensureRole(ctx context.Context, conn *pgx.Conn, s session, log *slog.Logger) error {
	if !s.appExists {
		// Roles belong to the whole server and our lock to one database: another database's migration may be first.
		_, err := conn.Exec(ctx, "create role "+AppRole+" nologin noinherit")
		if err != nil && !hasCode(err, "42710", "23505") {
			return fmt.Errorf("create role %s: %w", AppRole, err)
		}
		log.InfoContext(ctx, "runtime role created", "role", AppRole)
	}
	if s.mayBecomeApp {
		return nil
	}
	for attempt := 0; ; attempt++ {
		_, err := conn.Exec(ctx, s.grantApp())
		if err == nil {
			return nil
		}
		// "tuple concurrently updated": another database's migration granted the same at the same moment.
		if attempt == 3 || !hasCode(err, "XX000", "23505") {
			return fmt.Errorf("grant %s: %w", AppRole, err)
		}
	}
}

func hasCode(err error, codes ...string) bool {
	if e, ok := asPgError(err); ok {
		for _, code := range codes {
			if e.Code == code {
				return true
			}
		}
	}
	return false
}

func quote(identifier string) string { return pgx.Identifier{identifier}.Sanitize() }

func asPgError(err error) (*pgconn.PgError, bool) {
	return errors.AsType[*pgconn.PgError](err)
}
