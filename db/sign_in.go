package db

import (
	"context"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
)

// LetAppSignIn lets the runtime role of a migrated database sign in, and returns the URL at which it does. It is for a database of
// Patchbay's own, whose socket asks for no password and is open to one user of the system. A session that signs in as its owner, a
// superuser, and only works as the runtime role becomes the superuser again by a reset of the role.
func LetAppSignIn(ctx context.Context, owner string) (string, error) {
	config, err := poolConfig(owner)
	if err != nil {
		return "", err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return "", connectFault(err, config.ConnConfig)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := grantLogin(ctx, conn); err != nil {
		return "", fmt.Errorf("let the role %s sign in: %w", AppRole, err)
	}
	u, err := url.Parse(owner)
	if err != nil {
		return "", fault.Errorf(fault.Internal, "The database's direct URL cannot be read.")
	}
	u.User = url.User(AppRole)
	return u.String(), nil
}

// grantLogin changes nothing where the role may sign in already. Another command may do the same at the same moment.
func grantLogin(ctx context.Context, conn *pgx.Conn) error {
	for attempt := 0; ; attempt++ {
		var may bool
		err := conn.QueryRow(ctx, "select rolcanlogin from pg_roles where rolname = $1", AppRole).Scan(&may)
		if err != nil || may {
			return err
		}
		_, err = conn.Exec(ctx, "alter role "+AppRole+" login")
		if err == nil || attempt == 3 || !hasCode(err, "XX000") {
			return err
		}
	}
}
