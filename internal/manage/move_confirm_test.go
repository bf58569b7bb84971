package manage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

// losses returns what a refused move would drop; nil if the change is not refused.
func losses(t *testing.T, err error) (all []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	f := fault.As(err)
	if f.Kind != fault.Conflict || f.Type != manage.TypeConfirmationRequired || f.Code != "confirmation_required" {
		t.Fatal(err)
	}
	for _, field := range f.Fields {
		all = append(all, field.Message)
	}
	return all
}

// move changes the connector's URL to another origin, unconfirmed.
func (b *testEnv) move(t *testing.T, c connectors.Connector, s *connectors.Secret) error {
	t.Helper()
	change := url("https://two.example.com/mcp")
	change.ConfirmMove, change.Secret = false, s
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), change)
	return err
}

func TestMove_AsksBeforeItDropsCredentials(t *testing.T) {
	t.Parallel()
	oauth := func(d *connectors.Draft) { d.Auth.Type, d.OAuth.ClientID = connectors.AuthOAuth2, "patchbay" }
	for name, tc := range map[string]struct {
		draft   func(*connectors.Draft)
		secret  connectors.Secret
		entered *connectors.Secret
		want    []string
	}{
		"a stored secret":          {bearer, connectors.Secret{Token: "s3cret"}, nil, []string{"Deletes the stored secret."}},
		"a secret that is entered": {bearer, connectors.Secret{Token: "s3cret"}, &connectors.Secret{Token: "s3cret-2"}, nil},
		"a client secret":          {oauth, connectors.Secret{ClientSecret: "s3cret"}, nil, []string{"Deletes the client secret."}},
		"nothing":                  {func(*connectors.Draft) {}, connectors.Secret{}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			c := b.create(t, tc.secret, tc.draft)
			if diff := cmp.Diff(tc.want, losses(t, b.move(t, c, tc.entered))); diff != "" {
				t.Error(diff)
			}
			now, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.ID.String()))
			if err != nil || (now.URL == c.URL) != (tc.want != nil) {
				t.Errorf("%s, %v", now.URL, err)
			}
		})
	}
}

func TestMove_NamesTheAgentsThatLoseCredentials(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{}, perAgent)
	add := func(name string) {
		t.Helper()
		agent, err := b.reg.CreateAgent(t.Context(), b.admin, connectors.Agent{Name: name, Approval: connectors.ApprovalAuto, NameLimit: connectors.MaxExposedName})
		if err != nil {
			t.Fatal(err)
		}
		b.Credential(t, c.ID, &agent.ID, "s3cret")
	}
	add("Ops")
	if diff := cmp.Diff([]string{`Deletes the secret of agent "Ops".`}, losses(t, b.move(t, c, nil))); diff != "" {
		t.Error(diff)
	}
	add("Sales")
	if diff := cmp.Diff([]string{`Deletes secrets of 2 agents: "Ops", "Sales".`}, losses(t, b.move(t, c, nil))); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9"} {
		add(name)
	}
	want := []string{`Deletes secrets of 11 agents: "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "Ops" and others.`}
	if diff := cmp.Diff(want, losses(t, b.move(t, c, nil))); diff != "" {
		t.Error(diff)
	}
	list, err := b.Door().Connectors().CredentialOwners(t.Context(), c.ID)
	if err != nil || list.Agents != 11 {
		t.Errorf("%+v, %v: the refused moves dropped credentials", list, err)
	}
}

func TestImport_RefusesAnUnconfirmedMove(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{Token: "s3cret"}, bearer, func(d *connectors.Draft) { d.Slug = "moves" })
	document := []byte(servers(`"moves": {"url": "https://elsewhere.example.com/mcp"}`))
	report, err := b.reg.Import(t.Context(), b.admin, document, manage.ImportOptions{})
	if err != nil || report.Count(manage.Refused) != 1 || report.Entries[0].Why() != "Deletes the stored secret." {
		t.Errorf("%+v, %v", report, err)
	}
	if sent := b.sent(t, c, nil); sent != "Bearer s3cret" {
		t.Errorf("sent %q", sent)
	}
	report, err = b.reg.Import(t.Context(), b.admin, document, manage.ImportOptions{ConfirmMoves: true})
	if err != nil || report.Count(manage.Updated) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
