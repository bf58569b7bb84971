package ctl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorkloadAdd_PrintsTheClientID(t *testing.T) {
	t.Parallel()
	s, out, _ := newAPI(t, `{"id": "0189aaaa-0000-7000-8000-000000000000", "name": "deploy", "issuer": "https://issuer.example", "subject": "job", "has_keys": true}`)
	keys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(keys, []byte(`{"keys": [{"kty": "EC"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := workloadAdd{agentRef: agentRef{Agent: "support"}, Name: "deploy", Issuer: "https://issuer.example", Subject: "job", Keys: keys}
	if err := c.Run(t.Context(), s); err != nil || out.String() != "0189aaaa-0000-7000-8000-000000000000\n" {
		t.Errorf("%q, %v", out, err)
	}
	if err := os.WriteFile(keys, []byte("-----BEGIN PUBLIC KEY-----"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), s); err == nil || !strings.Contains(err.Error(), "is no JWK Set") {
		t.Errorf("keys in another form: %v", err)
	}
}

func TestWorkloadList_PrintsARowForEach(t *testing.T) {
	t.Parallel()
	s, out, _ := newAPI(t, `{"items": [{"id": "0189aaaa", "name": "deploy", "issuer": "https://issuer.example", "subject": "job"}], "next_cursor": null}`)
	c := workloadList{agentRef{Agent: "support"}}
	if err := c.Run(t.Context(), s); err != nil || !strings.Contains(out.String(), "0189aaaa") || !strings.Contains(out.String(), "https://issuer.example") {
		t.Errorf("%q, %v", out, err)
	}
}
