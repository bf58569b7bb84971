package db

import (
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/fault"
)

// connectFault says in one sentence why no connection stands.
func connectFault(err error, config *pgx.ConnConfig) error {
	where := hosts(config)
	say := func(format string, args ...any) error {
		f := fault.Errorf(fault.Unavailable, format, args...)
		f.Err = err
		return f
	}
	e, refused := asPgError(err)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case !refused:
		return say("The database at %s cannot be reached. Check that it is running, and the host and port in DATABASE_URL.", where)
	case e.Code == "28P01" || e.Code == "28000":
		return say("The database at %s refuses the user %q. Check the password in DATABASE_URL, and its pg_hba.conf.", where, config.User)
	case e.Code == "3D000":
		return say("The database %q does not exist at %s. Create it, or set another in DATABASE_URL.", config.Database, where)
	case e.Code == "42704" || e.Code == "22023" || e.Code == "42501":
		return say("The user %q may not use the role %s. Run `patchbay migrate` first.", config.User, AppRole)
	case e.Code == "08P01" && strings.Contains(e.Message, "startup parameter"): // PgBouncer's words for what it does not keep for a client
		return say("The pooler at %s refuses a connection parameter (%s). Set PATCHBAY_DATABASE_POOLER=transaction, and remove such parameters from the URL.", where, strings.TrimPrefix(e.Message, "unsupported startup parameter: "))
	case e.Code == "53300":
		return say("The database at %s has no free connection. Raise its max_connections, or lower pool_max_conns in DATABASE_URL.", where)
	}
	return say("The database at %s refuses the connection. See its log.", where)
}

// hosts names every host that was tried.
func hosts(config *pgx.ConnConfig) string {
	all := []string{address(config.Host, config.Port)}
	for _, other := range config.Fallbacks { // the same host stands there once more without TLS
		if name := address(other.Host, other.Port); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return strings.Join(all, " and ")
}

func address(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// hasParameter reports whether the URL has the parameter.
func hasParameter(raw, parameter string) bool {
	if u, err := url.Parse(raw); err == nil && u.Scheme != "" {
		return u.Query().Has(parameter)
	}
	return strings.Contains(raw, parameter)
}
