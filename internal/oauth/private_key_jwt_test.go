package oauth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func pemOf(t testing.TB, kind string, der []byte, err error) oauth.Secret {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return oauth.Secret(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func pkcs8(t testing.TB, key any) oauth.Secret {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pemOf(t, "PRIVATE KEY", der, err)
}

func rsaKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func ecKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestAMachineProvesItselfByItsKey(t *testing.T) {
	t.Parallel()
	rsa2048 := rsaKey(t, 2048)
	for algorithm, key := range map[string]crypto.Signer{
		"RS256": rsa2048, "RS384": rsa2048, "RS512": rsa2048,
		"ES256": ecKey(t, elliptic.P256()), "ES384": ecKey(t, elliptic.P384()), "ES512": ecKey(t, elliptic.P521()),
	} {
		as := oauthtest.Start(t, oauthtest.Behaviour{IssuerPath: "/tenant", NeedResource: true})
		as.AddClient("machine", "", key.Public())
		parsed, err := oauth.ParsePrivateKey(pkcs8(t, key), algorithm)
		if err != nil || parsed.Algorithm() != algorithm {
			t.Fatalf("%s: %v", algorithm, err)
		}
		f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
		f.register(oauth.RegisterRequest{Configured: oauth.Registration{ClientID: "machine", Key: parsed}})
		var ids []string
		for range 2 {
			token, err := f.ClientCredentials(t.Context(), f.Peer, []string{"read"})
			if err != nil {
				t.Fatalf("%s: %v", algorithm, err)
			}
			if _, ok := as.Accepts(token.AccessToken.Reveal()); !ok || token.RefreshToken != "" {
				t.Errorf("%s: token %+v", algorithm, token)
			}
		}
		for _, r := range as.Requests(oauthtest.ClientCredentials) {
			var claims jwt.RegisteredClaims
			token, _, err := jwt.NewParser().ParseUnverified(r.Form.Get("client_assertion"), &claims)
			if err != nil || token.Method.Alg() != algorithm {
				t.Fatalf("%s: assertion %v, %v", algorithm, token, err)
			}
			if len(claims.Audience) != 1 || claims.Audience[0] != as.Issuer || claims.ExpiresAt.Sub(claims.IssuedAt.Time).Minutes() != 2 {
				t.Errorf("%s: claims %+v", algorithm, claims)
			}
			if r.Form.Has("client_secret") || r.Header.Get("Authorization") != "" || r.Form.Get("scope") != "read" {
				t.Errorf("%s: form %v", algorithm, r.Form)
			}
			ids = append(ids, claims.ID)
		}
		if ids[0] == ids[1] {
			t.Errorf("%s: an assertion was used twice", algorithm)
		}
	}
}

func TestKeysInAllTheirFormsAreRead(t *testing.T) {
	t.Parallel()
	ec, r := ecKey(t, elliptic.P256()), rsaKey(t, 2048)
	sec1, err := x509.MarshalECPrivateKey(ec)
	for algorithm, text := range map[string][]oauth.Secret{
		"ES256": {pkcs8(t, ec), pemOf(t, "EC PRIVATE KEY", sec1, err)},
		"RS256": {pkcs8(t, r), pemOf(t, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(r), nil)},
	} {
		for _, s := range text {
			key, err := oauth.ParsePrivateKey(s, "")
			if err != nil || key.Algorithm() != algorithm {
				t.Errorf("%s: %v", algorithm, err)
				continue
			}
			shown, err := json.Marshal(key)
			if all := fmt.Sprintf("%v %+v %#v", key, key, key) + string(shown); err != nil || strings.Count(all, "[secret]") != 4 {
				t.Errorf("a key prints as %s, %v", all, err)
			}
		}
	}
}

func TestKeysThatCannotSignAreRefused(t *testing.T) {
	t.Parallel()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text      oauth.Secret
		algorithm string
	}{
		"no PEM":          {"hunter2", ""},
		"a public key":    {pemOf(t, "PUBLIC KEY", []byte("hunter2"), nil), ""},
		"Ed25519":         {pkcs8(t, ed), ""},
		"P-224":           {pkcs8(t, ecKey(t, elliptic.P224())), ""},
		"RSA 1024":        {pkcs8(t, rsaKey(t, 1024)), ""},
		"EC for RS256":    {pkcs8(t, ecKey(t, elliptic.P256())), "RS256"},
		"P-256 for ES384": {pkcs8(t, ecKey(t, elliptic.P256())), "ES384"},
		"none":            {pkcs8(t, ecKey(t, elliptic.P256())), "none"},
		"HS256":           {pkcs8(t, rsaKey(t, 2048)), "HS256"},
	} {
		_, err := oauth.ParsePrivateKey(test.text, test.algorithm)
		if failure := wantKind(t, err, oauth.KindRefused); strings.Contains(failure.Detail, "hunter2") {
			t.Errorf("%s: %s", name, failure.Detail)
		}
	}
}

func TestAClientWithoutItsProofIsNotSent(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
	for method, want := range map[oauth.AuthMethod]oauth.Kind{
		oauth.AuthBasic: oauth.KindClient, oauth.AuthPost: oauth.KindClient, oauth.AuthPrivateKeyJWT: oauth.KindClient,
	} {
		f.Peer.Client = oauth.Registration{ClientID: "id", Method: method}
		_, err := f.ClientCredentials(t.Context(), f.Peer, nil)
		wantKind(t, err, want)
	}
	f.Peer.Client = oauth.Registration{}
	_, err := f.ClientCredentials(t.Context(), f.Peer, nil)
	wantKind(t, err, oauth.KindNeedsClientID)
	if n := as.Count(oauthtest.ClientCredentials); n != 0 {
		t.Errorf("%d requests", n)
	}
}
