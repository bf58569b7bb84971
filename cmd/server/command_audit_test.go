package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/config"
	"patchbay/internal/installation"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// commandRow is what a command writes to the audit logs of tenants.
type commandRow struct {
	acts    string                                 // the kinds of its entries, in order; empty: none
	why     string                                 // it writes none
	args    []string                               // arguments of the run; nil: not run, or without arguments
	runs    bool                                   // run by this test
	prepare func(t *testing.T, i testInstallation) // nil: nothing
	shown   string                                 // the test that runs it, if not this one
}

// commandRows has all commands but those of the API's client, whose routes have their own rows. A new command
// needs a row here.
var commandRows = map[string]commandRow{
	"tenant create": {runs: true, acts: "tenant.create", args: []string{"Acme"}},
	"tenant limit":  {runs: true, acts: "tenant.limit", args: []string{"default", "--calls-per-minute", "5"}},
	"tenant delete": {runs: true, args: []string{"default", "--really"}, why: "its audit log goes with it: it is exported before, if it is to stay"},
	"user create":   {runs: true, acts: "member.add", args: []string{"--tenant", "default", "--email", "a@example.com", "--role", "owner"}},
	"user forget-factor": {
		runs: true, acts: "member.second_factor_remove", args: []string{"--tenant", "default", "--email", "a@example.com"}, prepare: provingMember,
	},
	"apikey create":     {runs: true, acts: "api_key.create", args: []string{"--tenant", "default", "--role", "viewer", "--name", "ci"}},
	"sso verify-domain": {runs: true, acts: "sso.claim_domain sso.verify_domain", args: []string{"--tenant", "default", "acme.example"}},
	"sso release-domain": {
		runs: true, acts: "sso.release_domain", args: []string{"--tenant", "default", "acme.example"},
		prepare: func(t *testing.T, i testInstallation) {
			t.Helper()
			i.must(t, "sso", "verify-domain", "--tenant", "default", "acme.example")
		},
	},
	"keys new":     {runs: true, why: "it prints a key, and opens no database"},
	"keys rotate":  {runs: true, acts: "keys.rotate", args: []string{"--tenant", "default"}},
	"keys rewrap":  {why: "what wraps the installation's keys is in no tenant, and no tenant's secret changes"},
	"audit verify": {runs: true, why: "it reads"},
	"audit cut":    {acts: "audit.cut", shown: "TestOldMonthsOfTheAuditLogAreCutOffByTheOperator"},
	"audit export": {runs: true, acts: "audit.export", args: []string{"--tenant", "default", "--file", "export.jsonl", "--signature", "export.sig"}},
	"import":       {runs: true, acts: "connector.create", args: []string{"servers.json", "--egress", "local"}, prepare: clientsFile},
	"seed":         {runs: true, acts: "tenant.create member.add agent.create connector.create agent_grant.set access_request.ask credential.set"},

	"serve":          {why: "what its doors do is on record as their own rows say; the tenant that a fresh database gets is so, as by migrate"},
	"migrate":        {runs: true, why: "the schema is in no tenant"},
	"doctor":         {why: "it looks"},
	"support-bundle": {why: "it looks, and takes no secret along"},
	"sbom":           {runs: true, why: "it opens no database"},
	"dev-mcp":        {why: "it opens no database"},
	"bench":          {why: "it has a database of its own, which is gone afterwards"},
	"bench-servers":  {why: "it opens no database"},
}

// leaves are the commands, but for those of internal/ctl.
func leaves(t *testing.T) []string {
	t.Helper()
	parser, err := kong.New(new(commandLine), kong.Name("patchbay"), kong.Vars{"version": "1", "dev_token": "t"})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, leaf := range parser.Model.Leaves(false) {
		if !strings.HasPrefix(leaf.Target.Type().PkgPath(), "patchbay/internal/ctl") {
			all = append(all, strings.TrimPrefix(leaf.FullPath(), "patchbay "))
		}
	}
	return all
}

func TestCommands_HaveAuditRow(t *testing.T) {
	t.Parallel()
	commands := leaves(t)
	for _, command := range commands {
		if row := commandRows[command]; (row.acts == "") == (row.why == "") {
			t.Errorf("patchbay %s is on record as %q; it is not, because %q", command, row.acts, row.why)
		}
	}
	for command, row := range commandRows {
		if !slices.Contains(commands, command) {
			t.Errorf("%s: there is no such command", command)
		}
		for kind := range strings.FieldsSeq(row.acts) {
			if _, known := store.Actions[kind]; !known {
				t.Errorf("%s: there is no act %q", command, kind)
			}
		}
		if row.acts != "" && !row.runs && row.shown == "" {
			t.Errorf("%s is on record, and nothing shows it", command)
		}
	}
}

// Each command writes the entries of its row, by the operator.
func TestCommands_WriteAuditEntries(t *testing.T) {
	t.Parallel()
	for command, row := range commandRows {
		if !row.runs {
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			i := installed(t)
			if row.prepare != nil {
				row.prepare(t, i)
			}
			before := i.entries(t)
			i.must(t, append(strings.Fields(command), i.inside(row.args)...)...)
			after := i.entries(t)
			if command == "tenant delete" {
				before = nil // they are deleted with the tenant
			}
			var kinds []string
			for _, entry := range after[len(before):] {
				by, kind, _ := strings.Cut(entry, " ")
				if by != string(auth.KindOperator) {
					t.Errorf("%s is by %s", kind, by)
				}
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
			if diff := cmp.Diff(strings.Fields(row.acts), kinds, cmp.Transformer("length", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
				t.Errorf("on record (-row +log):\n%s", diff)
			}
		})
	}
}

// The program itself creates a fresh database's tenant, once.
func TestFirstTenant_IsAudited(t *testing.T) {
	t.Parallel()
	i := installed(t)
	i.must(t, "migrate")
	if diff := cmp.Diff([]string{"system tenant.create"}, i.entries(t)); diff != "" {
		t.Error(diff)
	}
}

// provingMember creates a member with a second factor.
func provingMember(t *testing.T, i testInstallation) {
	t.Helper()
	i.must(t, "user", "create", "--tenant", "default", "--email", "a@example.com", "--role", "member")
	settings, err := config.DatabaseFlags{URL: i.url, Keyset: i.keyset, DataDir: i.dir}.Check()
	if err != nil {
		t.Fatal(err)
	}
	d, err := installation.OpenAttached(t.Context(), settings, version(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tenant, err := d.Store.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	member, err := d.Store.Tenant(tenant.ID).SSO().MemberByEmail(t.Context(), "a@example.com")
	if err != nil {
		t.Fatal(err)
	}
	(&fixture.World{St: d.Store}).SecondFactorIn(t, tenant.ID, member.UserID)
}

// clientsFile writes a file with one server.
func clientsFile(t *testing.T, i testInstallation) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(i.dir, "servers.json"), []byte(`{"mcpServers": {"one": {"url": "http://127.0.0.1:9/mcp"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
}
