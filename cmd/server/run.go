package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"patchbay/internal/config"
	"patchbay/internal/ctl"
	"patchbay/internal/devmcp"
	"patchbay/internal/fault"
	"patchbay/internal/operator"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// commandLine has every command, in the order of a newcomer's needs.
type commandLine struct {
	Serve      serveCommand                  `cmd:"" default:"withargs" help:"Start the server. Without a command, the program does this."`
	Migrate    operator.MigrateCommand       `cmd:"" help:"Bring the database to this program's schema, and make the runtime role."`
	Tenant     operator.TenantCommands       `cmd:"" help:"Tenants."`
	User       operator.UserCommands         `cmd:"" help:"People."`
	APIKey     operator.APIKeyCommands       `cmd:"" name:"apikey" help:"API keys."`
	SSO        operator.SSOCommands          `cmd:"" name:"sso" help:"Single sign-on."`
	Keys       operator.KeysCommands         `cmd:"" help:"The keys that seal secrets."`
	Audit      operator.AuditCommands        `cmd:"" help:"The audit log."`
	Import     operator.ImportCommand        `cmd:"" help:"Register the MCP servers of a client's file."`
	Apply      ctl.ApplyCommand              `cmd:"" help:"Bring an installation to what a file says, over its API: connectors, agents and grants."`
	Ctl        ctl.Commands                  `cmd:"" help:"Work with an installation from anywhere, over its API."`
	Completion ctl.CompletionCommands        `cmd:"" help:"Have the shell complete commands, and the names of connectors and agents."`
	Doctor     operator.DoctorCommand        `cmd:"" help:"Check the installation and say what to do about each problem."`
	Support    operator.SupportBundleCommand `cmd:"" name:"support-bundle" help:"Collect diagnostics of this installation, without secrets."`
	SBOM       operator.SBOMCommand          `cmd:"" name:"sbom" help:"Print what this program is made of, as CycloneDX."`
	DevMCP     devMCPCommand                 `cmd:"" name:"dev-mcp" help:"Serve a small MCP server on loopback, to try things with."`
	Seed       operator.SeedCommand          `cmd:"" help:"Fill a fresh installation with examples that point at dev-mcp."`
	Apart      operator.BenchServersCommand  `cmd:"" name:"bench-servers" hidden:"" help:"The servers of a benchmark."`
	Bench      operator.BenchCommand         `cmd:"" help:"Measure scheduled syncs on this machine, against servers in this process."`

	Version kong.VersionFlag `help:"Print the version."`
}

// run parses the arguments, runs one command and returns the exit code.
func run(ctx context.Context, args []string, p operator.IO) int {
	p.Version = version()
	var cli commandLine
	exited := -1 // set by kong for --help and --version
	parser, err := kong.New(&cli,
		kong.Name("patchbay"),
		kong.Description("Patchbay registers MCP servers, lists their tools, and serves them to agents. Settings have variables, too; a flag wins over its variable."),
		kong.Vars{"version": p.Version, "dev_token": devmcp.DefaultToken},
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(code int) {
			if exited < 0 {
				exited = code
			}
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p, newBenchServer(), ctl.World{In: p.Stdin, Out: p.Stdout, Err: p.Stderr, Env: p.Getenv}),
	)
	if err != nil {
		return reportFailure(p, err)
	}
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		_, _ = fmt.Fprintf(p.Stderr, "patchbay: %s\nRun patchbay --help or patchbay COMMAND --help.\n", err)
		return exitUsage
	}
	for _, name := range config.UnknownVariables(p.Environ) {
		_, _ = fmt.Fprintf(p.Stderr, "patchbay: %s is set but isn't a known setting. patchbay serve --help lists them.\n", name)
	}
	return reportFailure(p, command.Run())
}

// reportFailure prints the error, one sentence a line, and returns the exit code.
func reportFailure(p operator.IO, err error) int {
	var silent operator.SilentFailure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &silent):
		return exitFailed
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(p.Stderr, "patchbay: interrupted.")
		return exitFailed
	}
	for _, line := range fault.Sentences(err) {
		_, _ = fmt.Fprintf(p.Stderr, "patchbay: %s\n", ctl.Lines(line)) // it may quote a server's response
	}
	return exitFailed
}
