//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAnExportedAuditLogIsVerifiedOnAnotherMachine(t *testing.T) {
	t.Parallel()
	h, _ := ownDatabase(t)
	h.run("apikey", "create", "--tenant", "default", "--role", "viewer", "--name", "first")
	export, signature := filepath.Join(h.dir, "export.jsonl"), filepath.Join(h.dir, "export.sig")
	arguments := []string{"audit", "export", "--tenant", "default", "--file", export, "--signature", signature}
	said := regexp.MustCompile(`^default: 2 entries\. The public key is (\S{44})$`).FindStringSubmatch(h.run(arguments...))
	if said == nil {
		t.Fatal("it does not say how many entries, and the key")
	}
	if o := h.try(arguments...); o.code != 1 || !strings.Contains(o.stderr, "export.jsonl already exists") {
		t.Errorf("a second time: %+v", o)
	}

	elsewhere := newHome(t) // neither the database nor the keyset
	verify := func(key string) outcome {
		return elsewhere.try("audit", "verify", "--file", export, "--signature", signature, "--key", key)
	}
	if o := verify(said[1]); o.code != 0 || !strings.Contains(o.stdout, "2 entries of tenant ") || !strings.Contains(o.stdout, "unchanged and signed") {
		t.Errorf("untouched: %+v", o)
	}
	if o := verify(strings.ToLower(said[1])); o.code != 1 || !strings.Contains(o.stdout, "The signature is invalid") {
		t.Errorf("with another key: %+v", o)
	}
	if o := elsewhere.try("audit", "verify", "--file", export); o.code != 1 || !strings.Contains(o.stderr, "--signature and --key") {
		t.Errorf("without a signature: %+v", o)
	}
	text, err := os.ReadFile(export)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(export, []byte(strings.Replace(string(text), `"first"`, `"forst"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := verify(said[1])
	if o.code != 1 || !strings.Contains(o.stdout, "The signature is invalid") || !strings.Contains(o.stdout, "Entry 2: This entry or an earlier one was altered.") {
		t.Errorf("with one changed byte: %+v", o)
	}
	if list := h.run("audit", "verify"); !strings.Contains(list, "default: 3 entries") {
		t.Errorf("the export left no entry: %s", list)
	}
}
