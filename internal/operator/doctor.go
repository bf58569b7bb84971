package operator

import (
	"context"
	"fmt"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
)

// DoctorCommand checks the installation.
type DoctorCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
}

// Help returns the text below the flags.
func (DoctorCommand) Help() string {
	return "Changes nothing, and may be run beside a server. Ends with status 1 where there is a problem."
}

// Run runs the checks in the order of a server's start.
func (c DoctorCommand) Run(ctx context.Context, p IO) error {
	e := &doctorReport{out: p}
	server, serverErr := c.ServerFlags.Check()
	database, databaseErr := c.DatabaseFlags.Check()
	_, logErr := c.LogFlags.Check()
	e.checkSettings(p.Environ, fault.MergeFields(serverErr, databaseErr, logErr))
	e.checkTraces(p.Environ)
	if serverErr == nil {
		e.checkBaseURL(server)
		e.checkCallback(server)
		e.checkCertificate(ctx, server, nil)
		e.checkLoops(ctx, server, nil)
		e.checkEgress(server)
		e.checkProxy(ctx, server)
		e.reportHTTPMode(server)
		e.checkCommands(server)
		e.checkCatalog(server)
		e.allowedCommands, e.allowedRead = installation.AllowedCommands(server), true
	}
	if databaseErr == nil {
		e.checkDatabase(ctx, database)
	}
	if e.problems > 0 {
		return SilentFailure{}
	}
	return nil
}

// doctorReport prints one line per finding.
type doctorReport struct {
	out      IO
	problems int

	allowedCommands connectors.AllowedCommands
	allowedRead     bool // the settings are valid
}

func (r *doctorReport) reportOK(what, format string, args ...any) {
	r.out.printLine("OK       %-14s %s", what, fmt.Sprintf(format, args...))
}

// reportNote prints what may be right or wrong.
func (r *doctorReport) reportNote(what, format string, args ...any) {
	r.out.printLine("NOTE     %-14s %s", what, fmt.Sprintf(format, args...))
}

func (r *doctorReport) reportProblem(what, format string, args ...any) {
	r.problems++
	r.out.printLine("PROBLEM  %-14s %s", what, fmt.Sprintf(format, args...))
}

// reportError prints an error as the command line would.
func (r *doctorReport) reportError(what string, err error) {
	for _, sentence := range fault.Sentences(err) {
		r.reportProblem(what, "%s", sentence)
	}
}
