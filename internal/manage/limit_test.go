package manage_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

func TestCreateConnector_EnforcesLimit(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.reg = b.reg.WithMaxConnectors(2)
	first := b.create(t, connectors.Secret{})
	b.create(t, connectors.Secret{})
	b.ConnectorIn(t, b.Other) // other tenants do not count
	const full = "You've reached the limit of 2 connectors."
	_, err := b.reg.CreateConnector(t.Context(), b.admin, draft(), connectors.Secret{})
	if f := fault.As(err); f.Kind != fault.Conflict || !strings.HasPrefix(f.Message, full) {
		t.Errorf("a third one: %v", err)
	}
	b.update(t, first, manage.Change{Draft: func(d *connectors.Draft) { d.Description = "still to be changed" }})
	if err := b.reg.DeleteConnector(t.Context(), b.admin, connectors.Ref(first.Slug)); err != nil {
		t.Fatal(err)
	}
	b.create(t, connectors.Secret{})
}

func TestImport_EnforcesConnectorLimit(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.reg = b.reg.WithMaxConnectors(3)
	c := b.create(t, connectors.Secret{})
	document := servers(
		`"new": {"url": "https://new.example.com/mcp"}`,
		`"newer": {"url": "https://newer.example.com/mcp"}`,
		`"newest": {"url": "https://newest.example.com/mcp"}`,
		`"`+c.Slug+`": {"description": "changed", "url": "`+c.URL+`"}`,
	)
	const refused = "newest refused : You've reached the limit of 3 connectors. Delete some or ask the operator for more."
	want := []string{"new created", "newer created", refused, c.Slug + " updated description"}
	for _, dry := range []bool{true, false} {
		if diff := cmp.Diff(want, b.imports(t, document, dry)); diff != "" {
			t.Errorf("dry %t: %s", dry, diff)
		}
	}
}
