//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCtl_ConnectsAnHTTPAPI adds an API, picks operations, and adds and deletes an endpoint. Tools of each are called.
func TestCtl_ConnectsAnHTTPAPI(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	api := startNotesAPI(t)
	h.env = append(h.env, "PATCHBAY_URL="+s.base, "PATCHBAY_API_KEY="+h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "ctl"))
	ctl := func(args ...string) string {
		t.Helper()
		return h.run(append([]string{"ctl", "connectors"}, args...)...)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush-hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	contains(t, ctl("test-api", api.url+"/openapi.json"), "SIGN-IN", "bearer", "Notes 2 has 4 operations.")
	if slug := ctl("add-api", "Notes", api.url+"/openapi.json", "--auth", "basic", "--username", "ada", "--secret", "@"+secret, "--pick", "GET /notes"); slug != "notes" {
		t.Errorf("added %q", slug)
	}
	contains(t, ctl("operations", "notes"), "GET /notes ", "POST /notes", "DELETE /notes/{id}")
	if got := ctl("operations", "notes", "--path", "/notes/", "--method", "get"); strings.Contains(got, "POST /notes") || !strings.Contains(got, "GET /notes/{id}") {
		t.Errorf("the filters select %s", got)
	}
	ctl("operations", "notes", "--tag", "read", "--pick")
	ctl("operations", "notes", "--remove", "GET /notes", "--add", "POST /notes")
	if got := ctl("operations", "notes", "--picked"); strings.Contains(got, "GET /notes ") || !strings.Contains(got, "POST /notes") || !strings.Contains(got, "GET /notes/{id}") {
		t.Errorf("picked are %s", got)
	}
	contains(t, strings.Join(strings.Fields(ctl("sync", "notes")), " "), "ok 2 2 0 0")
	contains(t, ctl("try", "notes", "getNote", `{"id":"7"}`), "GET /v2/notes/7")
	if got, want := *api.authorization.Load(), "Basic YWRhOmh1c2gtaHVzaA=="; got != want {
		t.Errorf("the API got %q", got)
	}

	api.document.Store(new(strings.Replace(notesDocument, `"/notes":{`, `"/tags":{"get":{"operationId":"listTags","responses":{"200":{"description":""}}}},"/notes":{`, 1)))
	ctl("sync", "notes")
	if got := ctl("operations", "notes", "--new"); !strings.Contains(got, "GET /tags") || strings.Contains(got, "/notes") {
		t.Errorf("new are %s", got)
	}
	ctl("operations", "notes", "--remove", "GET /tags")
	if got := ctl("operations", "notes", "--new"); strings.Contains(got, "GET /tags") {
		t.Errorf("passed over, but new are %s", got)
	}

	contains(t, ctl("add-endpoint", "notes", "curl "+api.url+"/ping?full=yes", "--name", "ping"), "ping")
	contains(t, ctl("endpoints", "notes"), "ping", "GET", "/ping")
	ctl("sync", "notes")
	contains(t, ctl("try", "notes", "ping"), "GET /ping")
	contains(t, ctl("delete-endpoint", "notes", "ping"), "Deleted the endpoint ping.")
	if got := ctl("endpoints", "notes"); strings.Contains(got, "ping") {
		t.Errorf("the endpoints are %s", got)
	}
}
