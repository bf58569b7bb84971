package operator

import (
	"context"

	"patchbay/internal/config"
	"patchbay/internal/operator/doctor"
)

// DoctorCommand checks the installation.
type DoctorCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
}

// Help returns the text below the flags.
func (DoctorCommand) Help() string {
	return "Read-only and safe beside a running server. Exits with 1 if there is a problem."
}

// Run prints a line for each finding.
func (c DoctorCommand) Run(ctx context.Context, p IO) error {
	problems := doctor.Run(ctx, doctor.Options{
		Server: c.ServerFlags, Database: c.DatabaseFlags, Log: c.LogFlags, Environ: p.Environ, Version: p.Version, Out: p.Stdout,
	})
	if problems > 0 {
		return SilentFailure{}
	}
	return nil
}
