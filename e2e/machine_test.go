//go:build e2e

package e2e_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"testing"
)

func TestAMachineSignsInWithASecretOrAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	key, public := newKey(t)
	for name, machine := range map[string]struct{ registration, auth object }{
		"secret": {object{"token_endpoint_auth_method": "client_secret_basic"}, object{"type": "client_credentials"}},
		"key": {
			object{"token_endpoint_auth_method": "private_key_jwt", "jwks": object{"keys": []any{public}}},
			object{"type": "private_key_jwt", "private_key": key, "algorithm": "ES256"},
		},
	} {
		client := w.as.register(machine.registration)
		auth := object{"client_id": client["client_id"], "scopes": []string{"tools:read"}}
		for field, value := range machine.auth {
			auth[field] = value
		}
		if secret := client["client_secret"]; secret != nil {
			auth["client_secret"] = secret
		}
		w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": name, "url": w.as.Origin + "/mcp", "auth": auth})
		for range 2 {
			if run := w.c.must(http.StatusOK, http.MethodPost, "/connectors/"+name+"/sync_tools", nil); run["status"] != "ok" {
				t.Errorf("%s: %v", name, run)
			}
		}
	}
	if n := w.as.counts()["client_credentials"]; n != 2 {
		t.Errorf("%d tokens for two machines", n)
	}
}

// register makes a client that is a machine, as an operator of the authorization server does.
func (as *authorizationServer) register(metadata object) object {
	as.t.Helper()
	metadata["grant_types"], metadata["response_types"], metadata["redirect_uris"] = []string{"client_credentials"}, []string{}, []string{}
	body, err := json.Marshal(metadata)
	if err != nil {
		as.t.Fatal(err)
	}
	res, err := localClient.Post(as.Issuer+"/reg", "application/json", bytes.NewReader(body))
	if err != nil {
		as.t.Fatal(err)
	}
	defer res.Body.Close()
	var client object
	if err := json.NewDecoder(res.Body).Decode(&client); err != nil || res.StatusCode != http.StatusCreated {
		as.t.Fatalf("register: %d %v %v", res.StatusCode, client, err)
	}
	return client
}

// newKey is a private key in PEM, and its public half as a JWK.
func newKey(t *testing.T) (string, object) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	half := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	public := object{"kty": "EC", "crv": "P-256", "x": half(point[1:33]), "y": half(point[33:])}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), public
}
