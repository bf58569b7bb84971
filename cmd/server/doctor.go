package main

import (
	"context"
	"fmt"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
)

type doctorCommand struct {
	config.ServerFlags
	config.DatabaseFlags
	config.LogFlags
}

// Help is shown under the flags.
func (doctorCommand) Help() string {
	return "Changes nothing, and may be run beside a server. Ends with status 1 where there is a problem."
}

// Run goes through the checks in the order in which a start meets them.
func (c doctorCommand) Run(ctx context.Context, p program) error {
	e := &examination{out: p}
	server, serverErr := c.ServerFlags.Check()
	database, databaseErr := c.DatabaseFlags.Check()
	_, logErr := c.LogFlags.Check()
	e.settings(p.environ, mergeFields(serverErr, databaseErr, logErr))
	e.traces(p.environ)
	if serverErr == nil {
		e.baseURL(server)
		e.callback(server)
		e.certificate(ctx, server, nil)
		e.loops(ctx, server, nil)
		e.egress(server)
		e.proxy(ctx, server)
		e.httpMode(server)
		e.commands(server)
		e.catalog(server)
		e.allowed, e.allowedKnown = allowedCommands(server), true
	}
	if databaseErr == nil {
		e.database(ctx, database)
	}
	if e.problems > 0 {
		return failedQuietly{}
	}
	return nil
}

// examination prints one line a finding.
type examination struct {
	out      program
	problems int

	allowed      connectors.AllowedCommands
	allowedKnown bool // the settings can be read
}

func (e *examination) ok(what, format string, args ...any) {
	e.out.say("OK       %-14s %s", what, fmt.Sprintf(format, args...))
}

// note is for what is neither wrong nor certain.
func (e *examination) note(what, format string, args ...any) {
	e.out.say("NOTE     %-14s %s", what, fmt.Sprintf(format, args...))
}

func (e *examination) problem(what, format string, args ...any) {
	e.problems++
	e.out.say("PROBLEM  %-14s %s", what, fmt.Sprintf(format, args...))
}

// failed reports an error in the words that the command line would use.
func (e *examination) failed(what string, err error) {
	for _, sentence := range sentences(err) {
		e.problem(what, "%s", sentence)
	}
}
