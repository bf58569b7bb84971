package operator

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"patchbay/internal/auth"
	"patchbay/internal/clientconfig"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

// ImportCommand registers the servers of a client's file.
type ImportCommand struct {
	databaseCommand
	config.ServerFlags
	File   string `arg:"" help:"A client's MCP file (.mcp.json, mcp.json, settings.json) or an MCP registry's list; - for standard input."`
	Tenant string `placeholder:"SLUG" help:"The tenant's slug or id. Optional if there is only one."`
	DryRun bool   `help:"Print what would happen without storing anything."`

	Confirm bool `help:"Move connectors to another origin even if that deletes credentials. Otherwise such servers are refused."`
}

// Help returns the text below the flags.
func (ImportCommand) Help() string {
	return "Each server is created, updates the connector with its name or URL, or is refused; if any is refused, the exit status is 1. Tokens and keys in headers are encrypted. URLs are checked by the egress settings: use those of the server."
}

// Run prints a line for each server.
func (c ImportCommand) Run(ctx context.Context, p IO) error {
	server, err := c.ServerFlags.Check()
	if err != nil {
		return err
	}
	egress, err := installation.NewEgressPolicy(server)
	if err != nil {
		return err
	}
	document, err := c.readDocument(p)
	if err != nil {
		return err
	}
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := c.findTenant(ctx, d.Store)
	if err != nil {
		return err
	}
	reg := manage.New(d.Store, egress, installation.AllowedCommands(server)...).WithMaxConnectors(server.Connectors)
	report, err := reg.Import(ctx, auth.Operator(tenant), document, manage.ImportOptions{Dry: c.DryRun, ConfirmMoves: c.Confirm})
	if err != nil {
		return err
	}
	if err := printImport(p.Stdout, report); err != nil {
		return err
	}
	if report.Count(manage.Refused) > 0 {
		return SilentFailure{}
	}
	return nil
}

// readDocument returns the document, or one byte more than allowed.
func (c ImportCommand) readDocument(p IO) ([]byte, error) {
	in := p.Stdin
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "The file can't be read")
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	document, err := io.ReadAll(io.LimitReader(in, clientconfig.MaxBytes+1))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The file can't be read")
	}
	return document, nil
}

func (c ImportCommand) findTenant(ctx context.Context, st *store.Store) (connectors.Tenant, error) {
	if c.Tenant != "" {
		return findTenant(ctx, st, c.Tenant)
	}
	all, err := st.System().Tenants(ctx)
	if err != nil || len(all) == 1 {
		return append(all, connectors.Tenant{})[0], err
	}
	return connectors.Tenant{}, fault.Errorf(fault.Invalid, "There are %d tenants. Choose one with --tenant.", len(all))
}

func printImport(w io.Writer, report manage.ImportReport) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range report.Entries {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", e.Key, e.Outcome, e.Address, e.Why())
		for _, also := range furtherSentences(e) {
			_, _ = fmt.Fprintf(table, "\t\t\t%s\n", also)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	stored := ""
	if report.Dry {
		stored = " Nothing was stored."
	}
	_, err := fmt.Fprintf(w, "%d created, %d updated, %d unchanged, %d refused.%s\n", report.Count(manage.Created),
		report.Count(manage.Updated), report.Count(manage.Unchanged), report.Count(manage.Refused), stored)
	return err
}

// furtherSentences are the sentences after the first one.
func furtherSentences(e manage.ImportedEntry) []string {
	var all []string
	for i, p := range e.Problems {
		if i > 0 {
			all = append(all, p.Message)
		}
	}
	return append(all, e.Notices...)
}
