package manage_test

import (
	"bytes"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

func TestUpdate_DeletesFlowsOfOldServer(t *testing.T) {
	t.Parallel()
	resource := "https://other.example.com/"
	for name, change := range map[string]func(*connectors.OAuthSettings){
		"issuer":                 func(o *connectors.OAuthSettings) { o.Issuer = "https://new.example.com" },
		"no issuer any more":     func(o *connectors.OAuthSettings) { o.Issuer = "" },
		"token endpoint":         func(o *connectors.OAuthSettings) { o.TokenEndpoint = issuer + "/other" },
		"authorization endpoint": func(o *connectors.OAuthSettings) { o.AuthorizationEndpoint = issuer + "/other" },
		"resource":               func(o *connectors.OAuthSettings) { o.Resource = &resource },
		"":                       func(o *connectors.OAuthSettings) { o.Scopes = []string{"read"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			c := b.create(t, connectors.Secret{}, signsIn)
			state := bytes.Repeat([]byte{1}, 32)
			err := b.Door().Accounts().SaveFlow(t.Context(), store.NewFlow{
				StateHash: state, BrowserHash: []byte("browser"), ConnectorID: c.ID, Origin: connectors.Origin(c.URL),
				Server: oauth.Metadata{Issuer: issuer}, ClientID: c.OAuth.ClientID, Verifier: "the verifier",
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.reg.UpdateConnector(t.Context(), b.admin, connectors.Ref(c.Slug), manage.Change{
				Draft: func(d *connectors.Draft) { change(&d.OAuth) },
			}); err != nil {
				t.Fatal(err)
			}
			_, err = b.St.System().Sessions().TakeFlow(t.Context(), state)
			if gone := fault.Is(err, fault.NotFound); gone != (name != "") {
				t.Errorf("the flow is gone: %v (%v)", gone, err)
			}
		})
	}
}
