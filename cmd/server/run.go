package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"patchbay/internal/config"
	"patchbay/internal/ctl"
	"patchbay/internal/devmcp"
	"patchbay/internal/fault"
	"patchbay/internal/telemetry"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// commandIO is the input, output and environment of a command.
type commandIO struct {
	stdin          *os.File
	stdout, stderr io.Writer
	environ        []string
}

// commandLine has every command, in the order of a newcomer's needs.
type commandLine struct {
	Serve   serveCommand   `cmd:"" default:"withargs" help:"Start the server. This is what patchbay does when no command is given."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to this program's schema, and make the runtime role."`
	Tenant  struct {
		Create tenantCreateCommand `cmd:"" help:"Make a tenant and print its slug."`
		Limit  tenantLimitCommand  `cmd:"" help:"Say how many tools a tenant's agents may call at most."`
		Delete tenantDeleteCommand `cmd:"" help:"Delete a tenant, all that is its own, and the key that opens its secrets."`
	} `cmd:"" help:"Tenants."`
	User struct {
		Create       userCreateCommand       `cmd:"" help:"Make a person a member of a tenant."`
		ForgetFactor userForgetFactorCommand `cmd:"" name:"forget-factor" help:"Remove a member's lost second factor."`
	} `cmd:"" help:"People."`
	APIKey struct {
		Create apikeyCreateCommand `cmd:"" help:"Make an API key and print it, once."`
	} `cmd:"" name:"apikey" help:"API keys."`
	SSO struct {
		VerifyDomain  ssoVerifyDomainCommand  `cmd:"" name:"verify-domain" help:"Say that an e-mail domain is a tenant's."`
		ReleaseDomain ssoReleaseDomainCommand `cmd:"" name:"release-domain" help:"Take an e-mail domain from a tenant."`
	} `cmd:"" name:"sso" help:"Single sign-on."`
	Keys struct {
		New    keysNewCommand    `cmd:"" help:"Print a new value for PATCHBAY_KEYSET."`
		Rotate keysRotateCommand `cmd:"" help:"Replace the key that seals stored secrets, while servers go on serving."`
		Rewrap keysRewrapCommand `cmd:"" help:"Move from one PATCHBAY_KEYSET to another, as into a KMS."`
	} `cmd:"" help:"The keys that seal secrets."`
	Audit struct {
		Verify auditVerifyCommand   `cmd:"" help:"Compute the chains of the audit logs anew, and tell whether every entry is as it was recorded."`
		Cut    auditTruncateCommand `cmd:"" help:"Remove the months of the audit logs that are old enough, and sign what is gone."`
		Export auditExportCommand   `cmd:"" help:"Write a tenant's audit log to a file, with a signature."`
	} `cmd:"" help:"The audit log."`
	Import     importCommand          `cmd:"" help:"Register the MCP servers of a client's file."`
	Apply      ctl.ApplyCommand       `cmd:"" help:"Bring an installation to what a file says, over its API: connectors, agents and grants."`
	Ctl        ctl.Commands           `cmd:"" help:"Work with an installation from anywhere, over its API."`
	Completion ctl.CompletionCommands `cmd:"" help:"Have the shell complete commands, and the names of connectors and agents."`
	Doctor     doctorCommand          `cmd:"" help:"Check the installation and say what to do about each problem."`
	Support    supportBundleCommand   `cmd:"" name:"support-bundle" help:"Collect diagnostics of this installation, without secrets."`
	SBOM       sbomCommand            `cmd:"" name:"sbom" help:"Print what this program is made of, as CycloneDX."`
	DevMCP     devMCPCommand          `cmd:"" name:"dev-mcp" help:"Serve a small MCP server on loopback, to try things with."`
	Seed       seedCommand            `cmd:"" help:"Fill a fresh installation with examples that point at dev-mcp."`
	Apart      benchServersCommand    `cmd:"" name:"bench-servers" hidden:"" help:"The servers of a benchmark."`
	Bench      benchCommand           `cmd:"" help:"Measure scheduled syncs on this machine, against servers in this process."`

	Version kong.VersionFlag `help:"Print the version."`
}

// run parses the arguments, runs one command and returns the exit code.
func run(ctx context.Context, args []string, p commandIO) int {
	var cli commandLine
	exited := -1 // set by kong for --help and --version
	parser, err := kong.New(&cli,
		kong.Name("patchbay"),
		kong.Description("Patchbay registers MCP servers, keeps their tools, and hands them to agents. Every flag has a variable; a flag wins over it."),
		kong.Vars{"version": version(), "dev_token": devmcp.DefaultToken},
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(code int) {
			if exited < 0 {
				exited = code
			}
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p, ctl.World{In: p.stdin, Out: p.stdout, Err: p.stderr, Env: p.getenv}),
	)
	if err != nil {
		return p.reportFailure(err)
	}
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		_, _ = fmt.Fprintf(p.stderr, "patchbay: %s\nRun patchbay --help, or patchbay COMMAND --help, for what there is.\n", err)
		return exitUsage
	}
	for _, name := range config.UnknownVariables(p.environ) {
		_, _ = fmt.Fprintf(p.stderr, "patchbay: %s is set, and no setting has that name. patchbay serve --help lists them.\n", name)
	}
	return p.reportFailure(command.Run())
}

// getenv returns the value of a variable; empty: it is not set.
func (p commandIO) getenv(name string) string {
	for _, line := range slices.Backward(p.environ) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// reportFailure prints the error, one sentence a line, and returns the exit code.
func (p commandIO) reportFailure(err error) int {
	var silent silentFailure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &silent):
		return exitFailed
	case errors.Is(err, context.Canceled):
		_, _ = fmt.Fprintln(p.stderr, "patchbay: interrupted.")
		return exitFailed
	}
	for _, line := range fault.Sentences(err) {
		_, _ = fmt.Fprintf(p.stderr, "patchbay: %s\n", ctl.Lines(line)) // it may quote a server's response
	}
	return exitFailed
}

// silentFailure is the failure of a command that has printed everything.
type silentFailure struct{}

func (silentFailure) Error() string { return "failed" }

// newLogger returns the command's logger.
func (p commandIO) newLogger(flags config.LogFlags) (*slog.Logger, error) {
	settings, err := flags.Check()
	if err != nil {
		return nil, err
	}
	return telemetry.NewLogger(p.stderr, settings.Level, telemetry.Format(settings.Format)), nil
}
