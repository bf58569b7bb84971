package main

import (
	"context"
	"fmt"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/fault"
)

type migrateCommand struct {
	config.DatabaseFlags
	config.LogFlags
}

// Help is shown under the flags.
func (migrateCommand) Help() string {
	return "serve does this by itself where its role may. Run migrate apart where it may not: with the URL of a role that owns the tables."
}

// Run migrates and says which version the schema has.
func (c migrateCommand) Run(ctx context.Context, p program) error {
	settings, err := c.DatabaseFlags.CheckSchema()
	if err != nil {
		return err
	}
	if settings.Embedded() {
		// The keyset comes before the cluster, whichever command makes it.
		if _, err := holderOf(settings); err != nil {
			return err
		}
	}
	log, err := p.logger(c.LogFlags)
	if err != nil {
		return err
	}
	route, stop, err := attach(ctx, settings, log)
	if err != nil {
		return err
	}
	defer stop()
	if route, err = route.Find(ctx); err != nil {
		return err
	}
	session, ok := route.Session()
	if !ok {
		return fault.Errorf(fault.Invalid, "DATABASE_URL leads to a pooler, and migrations need the database itself. Set PATCHBAY_DATABASE_DIRECT_URL to its own address.")
	}
	if err := db.Migrate(ctx, session, log); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "The schema is current: version %d.\n", db.Version())
	return err
}
