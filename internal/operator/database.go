package operator

import (
	"context"
	"log/slog"

	"patchbay/internal/auth"
	"patchbay/internal/config"
	"patchbay/internal/installation"
	"patchbay/internal/telemetry"
)

// databaseCommand is embedded in short commands, which open the database, do one thing and end.
type databaseCommand struct {
	config.DatabaseFlags
}

// openDatabase works with or without a running server on the same database. It migrates the schema, because the
// first command on a fresh machine need not be serve.
func (c databaseCommand) openDatabase(ctx context.Context, p IO) (*installation.Database, error) {
	settings, err := c.DatabaseFlags.Check()
	if err != nil {
		return nil, err
	}
	return installation.OpenAttached(ctx, settings, p.Version, telemetry.NewLogger(p.Stderr, slog.LevelWarn, telemetry.Text))
}

// newAuthService returns the service for commands, which open no browser session.
func newAuthService(d *installation.Database) *auth.Service {
	return auth.New(auth.Options{Store: d.Store, Log: d.Log})
}
