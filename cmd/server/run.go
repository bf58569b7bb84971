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
	Serve      serveCommand                  `cmd:"" default:"withargs" help:"Start the server (the default command)."`
	Migrate    operator.MigrateCommand       `cmd:"" help:"Migrate the database schema and create the runtime role."`
	Tenant     operator.TenantCommands       `cmd:"" help:"Manage tenants."`
	User       operator.UserCommands         `cmd:"" help:"Manage users."`
	APIKey     operator.APIKeyCommands       `cmd:"" name:"apikey" help:"Manage API keys."`
	SSO        operator.SSOCommands          `cmd:"" name:"sso" help:"Manage single sign-on."`
	Keys       operator.KeysCommands         `cmd:"" help:"Manage encryption keys."`
	Audit      operator.AuditCommands        `cmd:"" help:"Verify, export and trim audit logs."`
	Import     operator.ImportCommand        `cmd:"" help:"Import MCP servers from a client's file."`
	Apply      ctl.ApplyCommand              `cmd:"" help:"Apply a configuration file over the API: connectors, agents and grants."`
	Ctl        ctl.Commands                  `cmd:"" help:"Manage an installation over its API."`
	Completion ctl.CompletionCommands        `cmd:"" help:"Print shell completion scripts for commands, connectors and agents."`
	Doctor     operator.DoctorCommand        `cmd:"" help:"Check the installation and explain how to fix problems."`
	Support    operator.SupportBundleCommand `cmd:"" name:"support-bundle" help:"Collect diagnostics without secrets."`
	SBOM       operator.SBOMCommand          `cmd:"" name:"sbom" help:"Print the software bill of materials (CycloneDX)."`
	DevMCP     devMCPCommand                 `cmd:"" name:"dev-mcp" help:"Run a small MCP server on loopback for testing."`
	Seed       operator.SeedCommand          `cmd:"" help:"Add sample data that uses dev-mcp."`
	Apart      operator.BenchServersCommand  `cmd:"" name:"bench-servers" hidden:"" help:"Run the servers of a benchmark."`
	Bench      operator.BenchCommand         `cmd:"" help:"Benchmark scheduled syncs on this machine, against servers in this process."`

	Version kong.VersionFlag `help:"Print the version."`
}

// run parses the arguments, runs one command and returns the exit code.
func run(ctx context.Context, args []string, p operator.IO) int {
	p.Version = version()
	var cli commandLine
	exited := -1 // set by kong for --help and --version
	parser, err := kong.New(&cli,
		kong.Name("patchbay"),
		kong.Description("Patchbay registers MCP servers, lists their tools and serves them to agents. Settings can be flags or variables; flags take precedence."),
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
