package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/config"
)

func TestDoctor_ChecksWorkloadTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte("a.b.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts := []string{"mcp.example.com"}
	var said bytes.Buffer
	r := &report{out: &said}
	r.checkWorkloadTokens(config.Server{Workloads: map[string]config.WorkloadToken{
		"all": {File: file, Servers: hosts, Tenants: []string{"*"}}, "one": {File: file, Servers: hosts, Tenants: []string{"acme"}},
		"gone": {File: file + "x", Servers: hosts, Tenants: []string{"acme"}}, "folder": {File: dir, Servers: hosts, Tenants: []string{"acme"}},
	}})
	for _, want := range []string{`"all": every tenant's admins`, `"one" for 1 tenants at 1 hosts`, "doesn't exist here", "isn't a file"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("no %q in %s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "a.b.c") {
		t.Error("it shows the token")
	}
}
