package manage_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// imports runs an import and returns a line per entry, "key outcome details", and checks that none has a
// secret.
func (b *testEnv) imports(t *testing.T, document string, dry bool) []string {
	t.Helper()
	report, err := b.reg.Import(t.Context(), b.admin, []byte(document), manage.ImportOptions{Dry: dry})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range report.Entries {
		what := append([]string{e.Key, string(e.Outcome)}, e.Changed...)
		if e.Missing.What != "" {
			what = append(what, "needs "+e.Missing.What)
		}
		for _, p := range e.Problems {
			what = append(what, p.Location+": "+p.Message)
		}
		lines = append(lines, strings.Join(what, " "))
	}
	if said := fmt.Sprintf("%+v", report); strings.Contains(said, "s3cret") {
		t.Errorf("the report tells a secret: %s", said)
	}
	return lines
}

func servers(entries ...string) string {
	return `{"mcpServers": {` + strings.Join(entries, ",\n") + `}}`
}

func TestImport_IsIdempotent(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	document := servers(
		`"open": {"url": "https://open.example.com/mcp", "headers": {"X-Team": "eu"}}`,
		`"later": {"url": "https://later.example.com/mcp", "headers": {"Authorization": "Bearer ${LATER}"}}`,
		`"account": {"url": "https://account.example.com/mcp", "auth": {"type": "oauth2"}}`,
	)
	want := []string{"open created", "later created needs token", "account created needs account"}
	if diff := cmp.Diff(want, b.imports(t, document, false)); diff != "" {
		t.Error(diff)
	}
	later, err := b.Door().Connectors().Get(t.Context(), "later")
	if err != nil || later.Auth.Type != connectors.AuthBearer {
		t.Fatalf("%+v %v", later, err)
	}
	if diff := cmp.Diff([]string{"connector.create", "connector.create", "connector.create"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
	want = []string{"open unchanged", "later unchanged needs token", "account unchanged needs account"}
	if diff := cmp.Diff(want, b.imports(t, document, false)); diff != "" {
		t.Error(diff)
	}
	if err := b.reg.SetCredential(t.Context(), b.admin, "later", nil, connectors.Secret{Token: "s3cret"}); err != nil {
		t.Fatal(err)
	}
	if got := b.imports(t, document, false)[1]; got != "later unchanged" {
		t.Errorf("with its token set: %s", got)
	}
}

func TestImport_SecretIsStoredNotReturned(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	document := servers(`"linear": {"url": "https://one.example.com/mcp", "headers": {"Authorization": "Bearer s3cret"}}`)
	if got := b.imports(t, document, false); got[0] != "linear created" {
		t.Error(got)
	}
	c, err := b.Door().Connectors().Get(t.Context(), "linear")
	if err != nil || len(c.Headers) != 0 {
		t.Fatalf("%+v %v", c, err)
	}
	if got := b.sent(t, c, nil); got != "Bearer s3cret" {
		t.Errorf("sent %q", got)
	}
	if got := b.imports(t, strings.ReplaceAll(document, "s3cret", "s3cret-2"), false); got[0] != "linear updated credential" {
		t.Error(got)
	}
	if got := b.sent(t, c, nil); got != "Bearer s3cret-2" {
		t.Errorf("sent %q", got)
	}
	if got := b.imports(t, strings.ReplaceAll(document, "s3cret", "${TOKEN}"), false); got[0] != "linear unchanged" || b.sent(t, c, nil) != "Bearer s3cret-2" {
		t.Errorf("a placeholder: %v", got)
	}
	b.audited(t)
}

func TestImport_MatchesSlugThenURL(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	named := func(slug, url string) {
		b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Slug, d.Name, d.URL = slug, "The "+slug, url })
	}
	named("linear", "https://linear.example.com/mcp")
	named("render-eu", "https://render.example.com/mcp")
	named("twin-1", "https://twin.example.com/mcp")
	named("twin-2", "https://twin.example.com/mcp")
	got := b.imports(t, servers(
		`"Linear": {"url": "https://moved.example.com/mcp"}`,
		`"render": {"url": "https://RENDER.example.com/mcp/", "timeout_ms": 5000}`,
		`"third-twin": {"url": "https://twin.example.com/mcp"}`,
		`"one": {"url": "https://pair.example.com/mcp"}`,
		`"two": {"url": "https://pair.example.com/mcp"}`,
	), false)
	want := []string{"Linear updated url", "render updated timeout_ms url", "third-twin created", "one created", "two created"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c, err := b.Door().Connectors().Get(t.Context(), "linear")
	if err != nil || c.Name != "The linear" || c.URL != "https://moved.example.com/mcp" {
		t.Errorf("%+v %v", c, err)
	}
	if c, err = b.Door().Connectors().Get(t.Context(), "render-eu"); err != nil || c.Name != "The render-eu" {
		t.Errorf("%+v %v", c, err)
	}
}

func TestImport_ContinuesAfterRefusal(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.create(t, connectors.Secret{}, func(d *connectors.Draft) { d.Slug, d.Name = "taken", "Taken" })
	document := servers(
		`"inside": {"url": "http://localhost:3000/mcp"}`,
		`"taken-2": {"name": "Taken", "url": "https://t.example.com/mcp"}`,
		`"cookie": {"url": "https://c.example.com/mcp", "headers": {"Cookie": "s3cret"}}`,
		`"user": {"url": "https://ann:s3cret@u.example.com/mcp"}`,
		`"word": {"url": "https://w.example.com/mcp", "credential_mode": "s3cret"}`,
		`"long": {"url": "https://l.example.com/mcp", "headers": {"X-Api-Key": "s3cret\u0001"}}`,
		`"good": {"url": "https://g.example.com/mcp"}`,
		`"good-2": {"url": "https://h.example.com/mcp", "name": "good"}`,
	)
	dry, got := b.imports(t, document, true), b.imports(t, document, false)
	if diff := cmp.Diff(got, dry); diff != "" {
		t.Errorf("a dry run says something else: %s", diff)
	}
	for i, want := range []string{
		"inside refused url:", `taken-2 refused name: `, "cookie refused headers.Cookie:", "user refused url: Set credentials as authentication, not in the URL.",
		"word refused credential_mode: Choose one of", "long refused auth.key:", "good created", "good-2 refused name:",
	} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
	if diff := cmp.Diff([]string{"connector.create", "connector.create"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestImport_StdioFollowsAllowList(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	document := servers(
		`"files": {"command": "/usr/bin/files", "args": ["/srv"], "env": {"TOKEN": "s3cret", "MODE": "${MODE}"}}`,
		`"shell": {"command": "/bin/sh", "args": ["-c", "id"]}`,
		`"npx": {"command": "npx", "args": ["-y", "server"]}`,
	)
	const refused = " refused transport: Programs are turned off here. The operator can allow them."
	if got := b.imports(t, document, false); got[0] != "files"+refused || got[1] != "shell"+refused {
		t.Error(got)
	}
	b.reg = manage.New(b.St, safehttp.New(safehttp.Options{Mode: safehttp.Public}), connectors.AllowedCommand{Path: "/usr/bin/files"})
	got := b.imports(t, document, false)
	if got[0] != "files created" || got[1] != "shell refused command: This command isn't allowed here." || !strings.HasPrefix(got[2], "npx refused command:") {
		t.Error(got)
	}
	c, err := b.Door().Connectors().Get(t.Context(), "files")
	if err != nil || c.Command.Path != "/usr/bin/files" || !slices.Equal(c.EnvNames, []string{"TOKEN"}) {
		t.Errorf("%+v %v", c, err)
	}
	if got := b.imports(t, strings.ReplaceAll(document, "s3cret", "${TOKEN}"), false); got[0] != "files unchanged" {
		t.Error(got)
	}
	if got := b.imports(t, document, false); got[0] != "files updated env" {
		t.Error(got)
	}
}

func TestImport_ProgramNameIsResolved(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.reg = manage.New(b.St, safehttp.New(safehttp.Options{Mode: safehttp.Public}),
		connectors.AllowedCommand{Path: "/opt/bin/npx", Args: []string{"-y", "other"}}, connectors.AllowedCommand{Path: "/usr/bin/npx", Args: []string{"-y", "files"}})
	document := servers(
		`"line": {"command": "npx -y files"}`,
		`"list": {"command": "npx", "args": ["-y", "files"]}`,
		`"wrong": {"command": "npx", "args": ["-y", "mail"]}`,
		`"unknown": {"command": "uvx", "args": ["files"]}`,
	)
	want := []string{
		"line created", "list created", "wrong refused args: /opt/bin/npx isn't allowed with these arguments.",
		"unknown refused command: Enter an allowed program's absolute path",
	}
	got := b.imports(t, document, false)
	for i := range got {
		if !strings.HasPrefix(got[i], strings.TrimSuffix(want[i], ".")) {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
	line, err := b.Door().Connectors().Get(t.Context(), "line")
	if err != nil || line.Command.Path != "/usr/bin/npx" {
		t.Errorf("%+v %v", line.Command, err)
	}
	if again := b.imports(t, servers(`"line": {"command": "npx -y files"}`), false); again[0] != "line unchanged" {
		t.Errorf("again: %s", again[0])
	}
	unnamed := `{"command": "npx -y files"}`
	if again := b.imports(t, unnamed, false); again[0] != "npx files unchanged" {
		t.Errorf("without a name: %s", again[0])
	}
	report, err := b.reg.Import(t.Context(), b.admin, []byte(servers(`"new": {"command": "npx -y files"}`)), manage.ImportOptions{Dry: true})
	if err != nil || len(report.Entries[0].Notices) != 2 {
		t.Errorf("%+v %v", report, err)
	}
}

// Without a name nothing of another address is changed.
func TestImport_UnnamedServerChangesNoOther(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	if diff := cmp.Diff([]string{"h-example-a created"}, b.imports(t, servers(`"h-example-a": {"url": "https://mine.example/mcp"}`), false)); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff([]string{"h.example/a created", "h.example/b created"}, b.imports(t, `[{"url": "https://h.example/a"}, {"url": "https://h.example/b"}]`, false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"h.example/a unchanged"}, b.imports(t, `{"url": "https://h.example/a"}`, false)); diff != "" {
		t.Error(diff)
	}
	mine, err := b.Door().Connectors().Get(t.Context(), "h-example-a")
	if err != nil || mine.URL != "https://mine.example/mcp" {
		t.Errorf("%+v %v", mine.URL, err)
	}
}

func TestImport_DryRunStoresNothing(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer, func(d *connectors.Draft) { d.Slug = "moves" })
	before := b.audited(t)
	report, err := b.reg.Import(t.Context(), b.admin, []byte(servers(
		`"moves": {"url": "https://elsewhere.example.com/mcp"}`,
		`"fresh": {"url": "https://fresh.example.com/mcp", "headers": {"X-Api-Key": "s3cret-2"}}`,
	)), manage.ImportOptions{Dry: true, ConfirmMoves: true})
	if err != nil || !report.Dry || report.Count(manage.Updated) != 1 || report.Count(manage.Created) != 1 {
		t.Fatalf("%+v %v", report, err)
	}
	if n := report.Entries[0].Notices; len(n) != 1 || !strings.HasPrefix(n[0], "Stored secret deleted") {
		t.Errorf("notices %v", n)
	}
	now, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.ID.String()))
	if err != nil || now.URL != c.URL || now.Version != c.Version || b.sent(t, now, nil) != "Bearer s3cret" {
		t.Errorf("%+v %v", now, err)
	}
	if _, err := b.Door().Connectors().Get(t.Context(), "fresh"); !fault.Is(err, fault.NotFound) {
		t.Errorf("stored: %v", err)
	}
	if diff := cmp.Diff(before, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestImportExport_Permissions(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	for _, role := range connectors.Roles {
		_, err := b.reg.Import(t.Context(), b.actor(role), []byte("{"), manage.ImportOptions{})
		kind := fault.Denied
		if role.May(connectors.PermManage) {
			kind = fault.Malformed
		}
		if !fault.Is(err, kind) {
			t.Errorf("%s imports: %v", role, err)
		}
		if _, err := b.reg.Export(t.Context(), b.actor(role), clientconfig.Generic); err != nil {
			t.Errorf("%s exports: %v", role, err)
		}
	}
	if _, err := b.reg.Export(t.Context(), b.actor(""), clientconfig.Generic); !fault.Is(err, fault.Denied) {
		t.Errorf("nobody exports: %v", err)
	}
}

func TestExport_ImportsInAnotherTenant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.create(t, connectors.Secret{Token: "s3cret"}, bearer)
	b.create(t, connectors.Secret{}, perAgent)
	b.create(t, connectors.Secret{Key: "s3cret"}, func(d *connectors.Draft) {
		d.Auth, d.Headers = connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"}, map[string]string{"X-Team": "eu"}
	})
	b.create(t, connectors.Secret{ClientSecret: "s3cret"}, func(d *connectors.Draft) {
		d.Auth.Type, d.OAuth = connectors.AuthOAuth2, connectors.OAuthSettings{ClientID: "c-1", Scopes: []string{"read"}}
	})
	b.create(t, connectors.Secret{}, func(d *connectors.Draft) {
		d.Enabled, d.RetryAttempts, d.SyncInterval, d.Transport, d.Description = false, 0, 0, connectors.TransportHTTP, "Off"
	})
	b.ConnectorIn(t, b.Other, func(d *connectors.Draft) { d.Slug = "theirs" })

	file, err := b.reg.Export(t.Context(), b.admin, clientconfig.Generic)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(file)
	if err != nil || strings.Contains(string(raw), "s3cret") || strings.Contains(string(raw), "theirs") {
		t.Fatalf("%s %v", raw, err)
	}
	other := b.admin
	other.Tenant.ID = b.Other
	report, err := b.reg.Import(t.Context(), other, raw, manage.ImportOptions{})
	if err != nil || report.Count(manage.Created) != 5 {
		t.Fatalf("%+v %v", report, err)
	}
	if diff := cmp.Diff(drafts(t, b.World, b.Tenant), drafts(t, b.World, b.Other)); diff != "" {
		t.Error(diff)
	}
}

// drafts returns the settings of a tenant's connectors, except the predefined one.
func drafts(t *testing.T, w *fixture.World, tenant connectors.TenantID) map[string]connectors.Draft {
	t.Helper()
	list, err := w.St.Tenant(tenant).Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]connectors.Draft{}
	for _, c := range list.Items {
		if c.Slug != "theirs" {
			all[c.Slug] = connectors.DraftOf(c)
		}
	}
	return all
}

func TestImport_DuplicateEntryMatchesURL(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.imports(t, servers(`"old": {"url": "https://open.example.com/mcp"}`), false)
	got := b.imports(t, servers(`"new": {"url": "https://open.example.com/mcp/"}`, `"new": {"url": "https://open.example.com/mcp/"}`), true)
	if len(got) != 2 || got[0] != "new updated url" && got[0] != "new unchanged" || !strings.Contains(got[1], "refused") {
		t.Errorf("%q", got)
	}
}
