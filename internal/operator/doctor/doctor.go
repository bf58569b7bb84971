package doctor

import (
	"context"
	"fmt"
	"io"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
)

// Options are the settings to check, and where the findings go.
type Options struct {
	Server   config.ServerFlags
	Database config.DatabaseFlags
	Log      config.LogFlags
	Environ  []string
	Version  string // of the program
	Out      io.Writer
}

// Run runs the checks in the order of a server's start, prints a line for each finding, and returns the number of
// problems.
func Run(ctx context.Context, o Options) (problems int) {
	r := &report{out: o.Out, version: o.Version}
	server, serverErr := o.Server.Check()
	database, databaseErr := o.Database.Check()
	_, logErr := o.Log.Check()
	r.checkSettings(o.Environ, fault.MergeFields(serverErr, databaseErr, logErr))
	r.checkTraces(o.Environ)
	if serverErr == nil {
		r.checkBaseURL(server)
		r.checkCallback(server)
		r.checkCertificate(ctx, server, nil)
		r.checkLoops(ctx, server, nil)
		r.checkEgress(server)
		r.checkProxy(ctx, server)
		r.checkMail(ctx, server)
		r.checkEmbeddings(ctx, server)
		r.reportHTTPMode(server)
		r.checkCommands(server)
		r.checkWorkloadTokens(server)
		r.checkCatalog(server)
		r.allowedCommands, r.allowedRead = installation.AllowedCommands(server), true
	}
	if databaseErr == nil {
		r.checkDatabase(ctx, database)
	}
	return r.problems
}

// report prints one line per finding.
type report struct {
	out      io.Writer
	version  string // of the program
	problems int

	allowedCommands connectors.AllowedCommands
	allowedRead     bool // the settings are valid
}

func (r *report) printLine(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, format+"\n", args...)
}

func (r *report) reportOK(what, format string, args ...any) {
	r.printLine("OK       %-14s %s", what, fmt.Sprintf(format, args...))
}

// reportNote prints what may be right or wrong.
func (r *report) reportNote(what, format string, args ...any) {
	r.printLine("NOTE     %-14s %s", what, fmt.Sprintf(format, args...))
}

func (r *report) reportProblem(what, format string, args ...any) {
	r.problems++
	r.printLine("PROBLEM  %-14s %s", what, fmt.Sprintf(format, args...))
}

// reportError prints an error as the command line would.
func (r *report) reportError(what string, err error) {
	for _, sentence := range fault.Sentences(err) {
		r.reportProblem(what, "%s", sentence)
	}
}
