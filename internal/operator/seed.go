package operator

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/devmcp"
	"patchbay/internal/fault"
	"patchbay/internal/installation"
	"patchbay/internal/manage"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
)

// SeedCommand creates examples.
type SeedCommand struct {
	databaseCommand
	DevMCP string `name:"dev-mcp" default:"http://127.0.0.1:9091" placeholder:"URL" help:"URL of patchbay dev-mcp (${default})."`

	History      bool `default:"true" negatable:"" help:"Add a week of syncs and calls, a waiting approval and request for access, a changed tool and an ended account (on)."`
	BesideOthers bool `name:"beside-others" help:"Continue although the database has other organisations."`
	Remove       bool `help:"Remove only the sample data."`
}

// Help returns the text below the flags.
func (SeedCommand) Help() string {
	return "Creates two organisations of sample data: people with every role, agents, connectors that use patchbay dev-mcp, and a week of history. Existing data is unchanged, so it can be rerun. --remove deletes it all."
}

// Run creates what is missing, and prints the new sign-ins.
func (c SeedCommand) Run(ctx context.Context, p IO) error {
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	if c.Remove {
		return removeSamples(ctx, d, p)
	}
	if err := c.checkAlone(ctx, d); err != nil {
		return err
	}
	// dev-mcp listens on loopback, so the examples are checked by the rules of a local installation. A public
	// one refuses them at every sync.
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local, Standard: true})
	s := seeder{database: d, auth: newAuthService(d), registry: manage.New(d.Store, egress), upstream: strings.TrimRight(c.DevMCP, "/"), history: c.History, out: p}
	for _, example := range exampleTenants {
		if err := s.seedTenant(ctx, example); err != nil {
			return fmt.Errorf("seed %s: %w", example.slug, err)
		}
	}
	p.printLine("Start the upstream with: patchbay dev-mcp")
	p.printLine("Remove the sample data with: patchbay seed --remove")
	return nil
}

type seeder struct {
	database *installation.Database
	auth     *auth.Service
	registry *manage.Registry
	upstream string // without a trailing slash
	history  bool
	out      IO
}

func (s seeder) seedTenant(ctx context.Context, e exampleTenant) error {
	tenant, err := s.database.Store.System().TenantByRef(ctx, e.slug)
	isNew := fault.Is(err, fault.NotFound)
	if isNew {
		tenant, err = s.createSample(ctx, e)
	}
	if err != nil {
		return err
	}
	if !tenant.Sample {
		s.out.printLine("Tenant %s is not sample data; left unchanged", tenant.Slug)
		return nil
	}
	s.out.printLine("Tenant %s", tenant.Slug)
	operator := auth.Operator(tenant)
	for _, role := range connectors.Roles {
		if err := s.seedMember(ctx, operator, role); err != nil {
			return err
		}
	}
	for _, name := range e.agents {
		if err := s.seedAgent(ctx, operator, name); err != nil {
			return err
		}
	}
	for _, c := range e.connectors {
		if c.auth == connectors.AuthOAuth2 && !s.history {
			continue // its account would be missing, not ended
		}
		if err := s.seedConnector(ctx, operator, c); err != nil {
			return fmt.Errorf("connector %s: %w", c.name, err)
		}
	}
	if !isNew || !s.history {
		return nil
	}
	return s.seedHistory(ctx, tenant, e)
}

func (s seeder) createSample(ctx context.Context, e exampleTenant) (connectors.Tenant, error) {
	tenant, err := s.database.Store.System().CreateTenant(ctx, e.name, e.slug, newOperatorEvent())
	if err != nil {
		return tenant, err
	}
	tenant.Sample = true
	return tenant, s.database.Store.System().MarkSample(ctx, tenant.ID)
}

func sampleEmail(t connectors.Tenant, role connectors.Role) string {
	return fmt.Sprintf("%s@%s.example", role, t.Slug)
}

// seedMember creates one person of the role. The password is only printed here.
func (s seeder) seedMember(ctx context.Context, operator auth.Actor, role connectors.Role) error {
	password := secret.Text(rand.Text())
	person := auth.Person{
		Email:    sampleEmail(operator.Tenant, role),
		Name:     strings.ToUpper(string(role)[:1]) + string(role)[1:],
		Password: password,
		Role:     role,
	}
	_, err := s.auth.CreateMember(ctx, operator.Tenant, person)
	if fault.Is(err, fault.Conflict) {
		s.out.printLine("  %-28s already exists", person.Email)
		return nil
	}
	if err != nil {
		return err
	}
	s.out.printLine("  %-28s password %s", person.Email, password.Reveal())
	return nil
}

func (s seeder) seedAgent(ctx context.Context, operator auth.Actor, name string) error {
	slug := strings.ToLower(name)
	_, err := s.database.Store.Tenant(operator.Tenant.ID).Agents().Get(ctx, connectors.Ref(slug))
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = s.registry.CreateAgent(ctx, operator, connectors.Agent{
		Slug: slug, Name: name, Approval: connectors.ApprovalAlwaysAsk, Enabled: true,
	})
	return err
}

func (s seeder) seedConnector(ctx context.Context, operator auth.Actor, e exampleConnector) error {
	st := s.database.Store.Tenant(operator.Tenant.ID)
	_, err := st.Connectors().Get(ctx, connectors.Ref(e.slug))
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	draft := connectors.NewDraft()
	draft.Name, draft.Slug, draft.Description = e.name, e.slug, e.description
	draft.URL = s.upstream + e.path
	draft.Auth.Type = e.auth
	draft.RetryAttempts = 0 // the examples that fail do so at once
	if s.history {
		// The past stays as it is for a while, also without dev-mcp.
		draft.SyncInterval, draft.DefinitionAge = 6*time.Hour, 0
	}
	if e.perAgent != "" {
		draft.CredentialMode = connectors.CredentialPerAgent
	}
	shared := e.secret
	if e.perAgent != "" {
		shared = connectors.Secret{}
	}
	if _, err := s.registry.CreateConnector(ctx, operator, draft, shared); err != nil {
		return err
	}
	s.out.printLine("  %-28s %s", e.name, draft.URL)
	if e.perAgent == "" {
		return nil
	}
	agent := connectors.Ref(e.perAgent)
	return s.registry.SetCredential(ctx, operator, connectors.Ref(e.slug), &agent, e.secret)
}

// exampleTenant is a tenant to create.
type exampleTenant struct {
	name, slug string
	agents     []string
	connectors []exampleConnector
}

type exampleConnector struct {
	name, slug, description string
	path                    string // of dev-mcp
	auth                    connectors.AuthType
	secret                  connectors.Secret
	perAgent                string // the agent with the credential; empty: shared
	failure                 *exampleFailure
}

// exampleFailure is why a connector does not work.
type exampleFailure struct {
	code, message string
	lately        bool // it worked before
}

var exampleTenants = []exampleTenant{
	{
		name: "Acorn", slug: "acorn", agents: []string{"Assistant", "Reporter"},
		connectors: []exampleConnector{
			{name: "Tools", slug: "tools", description: "Answers with JSON.", path: "/mcp", auth: connectors.AuthNone},
			{name: "Streams", slug: "streams", description: "Answers with event streams.", path: "/sse-replies", auth: connectors.AuthNone},
			{name: "Guarded", slug: "guarded", description: "Asks for a bearer token.", path: "/bearer", auth: connectors.AuthBearer, secret: connectors.Secret{Token: devmcp.DefaultToken}},
			{name: "Docs", slug: "docs", description: "Its account has expired.", path: "/bearer", auth: connectors.AuthOAuth2, failure: &exampleFailure{
				code: "credential_required", message: "The access has expired. Connect again.", lately: true,
			}},
			{name: "Broken", slug: "broken", description: "Answers everything with status 500.", path: "/failing", auth: connectors.AuthNone, failure: &exampleFailure{
				code: "http_status", message: "The server answered with HTTP 500, a problem on its side. Try again later.",
			}},
		},
	},
	{
		name: "Birch", slug: "birch", agents: []string{"Assistant"},
		connectors: []exampleConnector{
			{name: "Pages", slug: "pages", description: "Lists its tools in pages.", path: "/paged", auth: connectors.AuthNone},
			{name: "Personal", slug: "personal", description: "Every agent has a credential of its own.", path: "/bearer", auth: connectors.AuthBearer, secret: connectors.Secret{Token: devmcp.DefaultToken}, perAgent: "assistant"},
			{name: "Calendar", slug: "calendar", description: "Its account has expired.", path: "/bearer", auth: connectors.AuthOAuth2, failure: &exampleFailure{
				code: "credential_required", message: "The access has expired. Connect again.", lately: true,
			}},
		},
	},
}
