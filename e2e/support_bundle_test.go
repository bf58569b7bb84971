//go:build e2e

package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestASupportBundleHoldsWhatHelpsAndNoSecret plants a secret of every kind, uses them in a running server, and looks for each in every
// file of the bundle, as it is and as base64 and hex would have it.
func TestASupportBundleHoldsWhatHelpsAndNoSecret(t *testing.T) {
	t.Parallel()
	private := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	h, s, _, c := install(t, "PATCHBAY_PRIVATE_ADDR="+private, "PATCHBAY_PASSWORD=planted-environment-password", "PATCHBAY_UNHEARD_OF=planted-unknown-variable",
		"PATCHBAY_STDIO_COMMANDS=/bin/true --token planted-program-argument")
	secrets := []string{
		"dev-token", "planted-environment-password", "planted-unknown-variable", "planted-program-argument", "planted-basic-password", "planted-api-key", "planted-client-secret",
		"planted-argument-of-a-call", "planted-agent-credential", "planted-wrong-password", ownerPassword, strings.Split(c.key, "_")[3],
	}
	keyset, err := os.ReadFile(filepath.Join(h.data(), "keyset"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(keyset)))
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, strings.TrimSpace(string(keyset)), string(raw))

	upstream := h.devMCP()
	for slug, auth := range map[string]object{
		"bearer": {"type": "bearer", "token": "dev-token"}, "key": {"type": "api_key", "key": "planted-api-key"},
		"basic": {"type": "basic", "username": "dev", "password": "planted-basic-password"},
		"oauth": {"type": "client_credentials", "client_id": "me", "client_secret": "planted-client-secret", "issuer": upstream, "token_endpoint": upstream + "/token"},
	} {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": slug, "slug": slug, "url": upstream + "/bearer", "auth": auth, "retry_attempts": 0})
		c.call(http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
	}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "own", "slug": "own", "url": upstream + "/bearer", "auth": object{"type": "bearer"}, "credential_mode": "per_agent"})
	robin := c.hire("robin", "bearer", "own")
	secrets = append(secrets, strings.TrimPrefix(robin.token, "pb_agent_"))
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/connectors/own/agents/robin/credential", object{"token": "planted-agent-credential"})
	tool := c.tools("bearer")[0]
	robin.send("/mcp/bearer", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{"text":"planted-argument-of-a-call"}}}`)
	newPerson(t).post(s.base+"/login", url.Values{"email": {ownerEmail}, "password": {"planted-wrong-password"}})

	said := h.try("support-bundle", "--file", "bundle.tar.gz")
	if said.code != 0 || strings.TrimSpace(said.stdout) != "bundle.tar.gz" {
		t.Fatalf("%+v", said)
	}
	path := filepath.Join(h.dir, "bundle.tar.gz")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the bundle can be read by others: %v, %v", info.Mode(), err)
	}
	if again := h.try("support-bundle", "--file", "bundle.tar.gz"); again.code != 1 || !strings.Contains(again.stderr, "already exists") {
		t.Errorf("a second one: %+v", again)
	}
	files := unpack(t, path)
	for name, want := range map[string]string{
		"README.txt": "metrics.txt", "version.txt": "patchbay ", "settings.txt": "PATCHBAY_STDIO_COMMANDS        set", "doctor.txt": "clock          agrees",
		"metrics.txt": "patchbay_db_up 1", "goroutines.txt": "goroutine profile", "heap.pb.gz": "", "database.json": `"schema_wanted"`,
	} {
		body, ok := files[name]
		if !ok || !strings.Contains(body, want) {
			t.Errorf("%s (%t) lacks %q:\n%.2000s", name, ok, want, body)
		}
		delete(files, name)
		for _, secret := range secrets {
			for _, form := range forms(secret) {
				if strings.Contains(body, form) {
					t.Errorf("%s holds %q, as %q", name, secret, form)
				}
			}
		}
		if name == "database.json" {
			checkTables(t, body)
		}
	}
	if len(files) > 0 {
		t.Errorf("files that nobody looks at: %v", files)
	}
}

// forms are a secret as it stands, and as others would write it: in base64 at each of the three places where it may begin.
func forms(secret string) []string {
	all := []string{secret, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))), url.QueryEscape(secret)}
	for shift := range 3 {
		padded := append(make([]byte, shift), secret...)
		whole := len(padded) / 3 * 4
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// The first group is of the padding, too, and the last may be of what follows.
			all = append(all, encoding.EncodeToString(padded)[(shift+2)/3*4:whole])
		}
	}
	return slices.DeleteFunc(all, func(form string) bool { return len(form) < 6 })
}

func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for packed := tar.NewReader(unzipped); ; {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(packed)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(header.Name, ".gz") {
			inner, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(inner); err != nil {
				t.Fatal(err)
			}
		}
		files[strings.TrimPrefix(header.Name, "patchbay-support/")] = string(body)
	}
}

// checkTables looks whether the numbers are those of all tenants.
func checkTables(t *testing.T, text string) {
	t.Helper()
	var state struct {
		Schema     int64
		Migrations []struct{ Version int64 }
		Tables     []struct {
			Name string
			Rows int
		}
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, table := range state.Tables {
		rows[table.Name] = table.Rows
	}
	if rows["connectors"] != 6 || rows["users"] != 1 || rows["agents"] != 1 || rows["audit_events"] == 0 || len(state.Migrations) == 0 || state.Migrations[len(state.Migrations)-1].Version != state.Schema {
		t.Errorf("the rows are %v, the schema %d of %v", rows, state.Schema, state.Migrations)
	}
}

func TestASupportBundleIsMadeOfWhatThereIs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	said := h.try("support-bundle", "--file", "-")
	if said.code != 0 {
		t.Fatalf("%+v", said)
	}
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := os.WriteFile(path, []byte(said.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	files := unpack(t, path)
	for _, want := range []string{"Missing: database.json: There is no database yet.", "PATCHBAY_PRIVATE_ADDR isn't set"} {
		if !strings.Contains(files["README.txt"], want) {
			t.Errorf("it does not say %q:\n%s", want, files["README.txt"])
		}
	}
	if !strings.Contains(files["doctor.txt"], "there is none yet") || files["settings.txt"] == "" {
		t.Errorf("%v", files)
	}
}
