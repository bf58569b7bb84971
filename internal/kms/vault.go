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

// vaultKey is a key of the transit engine of Vault or OpenBao. What it wraps is the engine's own text, "vault:v1:…".
type vaultKey struct {
	way
	place
	token     secret.Text
	namespace string
}

func newVaultKey(w way, p place, env func(string) string) (vaultKey, error) {
	k := vaultKey{way: w, place: p, token: secret.Text(strings.TrimSpace(env("VAULT_TOKEN"))), namespace: env("VAULT_NAMESPACE")}
	if k.token.Empty() {
		return k, fault.Errorf(fault.Invalid, "PATCHBAY_KEYSET names a key of Vault's, and VAULT_TOKEN is not set.")
	}
	return k, nil
}

// Wrap has the service encrypt.
func (k vaultKey) Wrap(ctx context.Context, plain secret.Text) ([]byte, error) {
	var answer struct{ Data struct{ Ciphertext string } }
	err := k.post(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString([]byte(plain.Reveal()))}, &answer)
	if err == nil && answer.Data.Ciphertext == "" {
		err = k.unavailable("answered without a ciphertext", nil)
	}
	return []byte(answer.Data.Ciphertext), err
}

// Unwrap has the service decrypt.
func (k vaultKey) Unwrap(ctx context.Context, wrapped []byte) (secret.Text, error) {
	var answer struct{ Data struct{ Plaintext []byte } }
	err := k.post(ctx, "decrypt", map[string]string{"ciphertext": string(wrapped)}, &answer)
	if err == nil && len(answer.Data.Plaintext) == 0 {
		err = k.unavailable("answered without a plaintext", nil)
	}
	return secret.Text(answer.Data.Plaintext), err
}

func (k vaultKey) post(ctx context.Context, verb string, in map[string]string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
	r.Header.Set("X-Vault-Request", "true") // what OpenBao's and Vault's agents ask for beside a listener
	if k.namespace != "" {
		r.Header.Set("X-Vault-Namespace", k.namespace)
	}
	return k.exchange(r, out, func(body []byte) string {
		var refusal struct{ Errors []string }
		_ = json.Unmarshal(body, &refusal) // a proxy between may say something else
		return strings.Join(refusal.Errors, ", ")
	})
}
