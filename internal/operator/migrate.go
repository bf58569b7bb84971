package operator

import (
	"context"
	"fmt"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
)

// MigrateCommand migrates the schema.
type MigrateCommand struct {
	config.DatabaseFlags
	config.LogFlags
}

// Help returns the text below the flags.
func (MigrateCommand) Help() string {
	return "serve migrates by itself if its role allows. Otherwise run migrate with the URL of a role that owns the tables."
}

// Run migrates and prints the schema's version.
func (c MigrateCommand) Run(ctx context.Context, p IO) error {
	settings, err := c.DatabaseFlags.CheckSchema()
	if err != nil {
		return err
	}
	if settings.Embedded() {
		// The keyset is created before the cluster, by every command.
		if _, err := installation.NewKeySource(settings, p.Version); err != nil {
			return err
		}
	}
	log, err := p.NewLogger(c.LogFlags)
	if err != nil {
		return err
	}
	route, stop, err := installation.Attach(ctx, settings, log)
	if err != nil {
		return err
	}
	defer stop()
	if route, err = route.Find(ctx); err != nil {
		return err
	}
	session, ok := route.Session()
	if !ok {
		return fault.Errorf(fault.Invalid, "DATABASE_URL points to a pooler, but migrations need a direct connection. Set PATCHBAY_DATABASE_DIRECT_URL.")
	}
	if err := db.Migrate(ctx, session, log); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "The schema is current: version %d.\n", db.Version())
	return err
}
