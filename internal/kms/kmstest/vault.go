package kmstest

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Token is the token that the fake Vault accepts.
const Token = "hvs.CAESIExampleExampleExample"

// Vault is a Vault behind TLS, with a transit engine mounted at mount and these keys. It accepts only Token.
func Vault(t testing.TB, mount string, keys ...string) *Service {
	t.Helper()
	s := newService()
	for _, key := range keys {
		s.addKey(t, mount+"/"+key)
	}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serveVault))
	t.Cleanup(s.Close)
	return s
}

// Address returns the PATCHBAY_KEYSET address of a key.
func (s *Service) Address(mount, key string) string {
	return "hcvault://" + s.Listener.Addr().String() + "/" + mount + "/keys/" + key
}

// CertificateFile writes the server's certificate to a file.
func (s *Service) CertificateFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func refuseVault(w http.ResponseWriter, status int, errors ...string) {
	writeJSON(w, status, map[string][]string{"errors": errors})
}

func (s *Service) serveVault(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1/")
	mount, rest, found := strings.Cut(path, "/encrypt/")
	operation := "encrypt"
	if !found {
		mount, rest, found = strings.Cut(path, "/decrypt/")
		operation = "decrypt"
	}
	key := s.keys[mount+"/"+rest]
	var in struct{ Plaintext, Ciphertext string }
	switch {
	case s.isRefusing():
		refuseVault(w, http.StatusServiceUnavailable, "Vault is sealed")
		return
	case r.Header.Get("X-Vault-Token") != Token:
		refuseVault(w, http.StatusForbidden, "permission denied")
		return
	case !ok || !found || r.Method != http.MethodPost && r.Method != http.MethodPut:
		refuseVault(w, http.StatusNotFound)
		return
	case key == nil:
		refuseVault(w, http.StatusBadRequest, "encryption key not found")
		return
	case json.NewDecoder(r.Body).Decode(&in) != nil:
		refuseVault(w, http.StatusBadRequest, "failed to parse JSON input")
		return
	}
	if operation == "encrypt" {
		plain, err := base64.StdEncoding.DecodeString(in.Plaintext)
		if err != nil {
			refuseVault(w, http.StatusBadRequest, "failed to base64-decode plaintext")
			return
		}
		s.countOperation(operation)
		writeJSON(w, http.StatusOK, dataField("ciphertext", "vault:v1:"+base64.StdEncoding.EncodeToString(key.Seal(nil, nil, plain, nil))))
		return
	}
	sealed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(in.Ciphertext, "vault:v1:"))
	if err == nil {
		sealed, err = key.Open(nil, nil, sealed, nil)
	}
	if err != nil {
		refuseVault(w, http.StatusBadRequest, "cipher: message authentication failed")
		return
	}
	s.countOperation(operation)
	writeJSON(w, http.StatusOK, dataField("plaintext", base64.StdEncoding.EncodeToString(sealed)))
}

func dataField(name, value string) any { return map[string]any{"data": map[string]string{name: value}} }
