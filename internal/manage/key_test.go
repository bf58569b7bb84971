package manage_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func newKey(t *testing.T, curve elliptic.Curve) secret.Text {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Text(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func signsWithKey(algorithm string) func(*connectors.Draft) {
	return func(d *connectors.Draft) {
		d.Auth.Type = connectors.AuthPrivateKeyJWT
		d.OAuth = connectors.OAuthSettings{ClientID: "client-1", Algorithm: algorithm}
	}
}

func TestPrivateKey_MustMatchAlgorithm(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	p256 := newKey(t, elliptic.P256())
	for name, tc := range map[string]struct {
		key       secret.Text
		algorithm string
	}{
		"of another family": {p256, "RS256"},
		"of another curve":  {p256, "ES512"},
		"too short":         {newKey(t, elliptic.P224()), ""},
		"no key at all":     {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", ""},
	} {
		_, err := b.reg.CreateConnector(t.Context(), b.admin, draft(signsWithKey(tc.algorithm)), connectors.Secret{PrivateKey: tc.key})
		t.Log(name)
		wantFields(t, err, "auth.private_key")
	}
	c := b.create(t, connectors.Secret{PrivateKey: p256}, signsWithKey("ES256"))
	ref := connectors.Ref(c.Slug)
	wantFields(t, b.reg.SetCredential(t.Context(), b.admin, ref, nil, connectors.Secret{PrivateKey: newKey(t, elliptic.P384())}), "private_key")
	_, _, err := b.reg.UpdateConnector(t.Context(), b.admin, ref, manage.Change{Secret: &connectors.Secret{PrivateKey: newKey(t, elliptic.P384())}})
	wantFields(t, err, "auth.private_key")
	if err := b.reg.SetCredential(t.Context(), b.admin, ref, nil, connectors.Secret{PrivateKey: newKey(t, elliptic.P256())}); err != nil {
		t.Error(err)
	}
}

func TestUpdate_RenewsMachineTokens(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{ClientSecret: "s3cret"}, machine)
	vault := b.St.Vault(b.Tenant)
	g, err := vault.Grant(t.Context(), c.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := vault.RefuseGrant(t.Context(), g.ID, g.Version, store.GrantMeta{StepUps: 2}, "It is refused.", nil); !ended || err != nil {
		t.Fatal(ended, err)
	}
	b.update(t, c, manage.Change{Draft: func(d *connectors.Draft) { d.Description = "not about signing in" }})
	if g, err = vault.Grant(t.Context(), c.ID, nil); err != nil || g.Status != connectors.CredentialRevoked {
		t.Errorf("grant = %+v, %v", g.Credential, err)
	}
	b.update(t, c, settings(func(o *connectors.OAuthSettings) { o.Scopes = []string{"read"} }))
	g, err = vault.Grant(t.Context(), c.ID, nil)
	if err != nil || g.Status != connectors.CredentialActive || g.Error != "" || g.Tokens.Meta.StepUps != 0 {
		t.Errorf("grant = %+v, %v", g.Credential, err)
	}
	if g.Tokens.Machine.ClientSecret.Reveal() != "s3cret" {
		t.Error("the secret is gone")
	}
}
