package kms

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// vaultKey is a key of the transit engine of Vault or OpenBao. Its ciphertext is the engine's text,
// "vault:v1:…".
type vaultKey struct {
	transport
	keyAddress
	token     secret.Text
	namespace string
}

func newVaultKey(w transport, p keyAddress, env func(string) string) (vaultKey, error) {
	k := vaultKey{transport: w, keyAddress: p, token: secret.Text(strings.TrimSpace(env("VAULT_TOKEN"))), namespace: env("VAULT_NAMESPACE")}
	if k.token.Empty() {
		return k, fault.Errorf(fault.Invalid, "PATCHBAY_KEYSET names a Vault key, but VAULT_TOKEN is not set.")
	}
	return k, nil
}

// Wrap encrypts by the KMS.
func (k vaultKey) Wrap(ctx context.Context, plain secret.Text) ([]byte, error) {
	var answer struct{ Data struct{ Ciphertext string } }
	err := k.postJSON(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString([]byte(plain.Reveal()))}, &answer)
	if err == nil && answer.Data.Ciphertext == "" {
		err = k.newUnavailable("answered without a ciphertext", nil)
	}
	return []byte(answer.Data.Ciphertext), err
}

// Unwrap decrypts by the KMS.
func (k vaultKey) Unwrap(ctx context.Context, wrapped []byte) (secret.Text, error) {
	var answer struct{ Data struct{ Plaintext []byte } }
	err := k.postJSON(ctx, "decrypt", map[string]string{"ciphertext": string(wrapped)}, &answer)
	if err == nil && len(answer.Data.Plaintext) == 0 {
		err = k.newUnavailable("answered without a plaintext", nil)
	}
	return secret.Text(answer.Data.Plaintext), err
}

func (k vaultKey) postJSON(ctx context.Context, verb string, in map[string]string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, k.endpoint+"/v1/"+k.mount+"/"+verb+"/"+k.key, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Vault-Token", k.token.Reveal())
	r.Header.Set("X-Vault-Request", "true") // required by Vault and OpenBao agents with a listener
	if k.namespace != "" {
		r.Header.Set("X-Vault-Namespace", k.namespace)
	}
	return k.doRequest(r, out, func(body []byte) string {
		var refusal struct{ Errors []string }
		_ = json.Unmarshal(body, &refusal) // a proxy may send another body
		return strings.Join(refusal.Errors, ", ")
	})
}
