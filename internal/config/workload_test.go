package config_test

import (
	"testing"

	"patchbay/internal/config"
)

func TestWorkloadTokens_AreParsed(t *testing.T) {
	t.Parallel()
	s, err := config.ServerFlags{Workloads: `{"billing":{"file":"/run/token","servers":["mcp.example.com"],"tenants":["acme"]}}`}.Check()
	if got := s.Workloads["billing"]; err != nil || got.File != "/run/token" || got.Servers[0] != "mcp.example.com" || got.Tenants[0] != "acme" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, text := range map[string]string{
		"no JSON":         `billing=/run/token`,
		"two objects":     `{}{}`,
		"a relative path": `{"billing":{"file":"token","servers":["a.example"],"tenants":["*"]}}`,
		"a name":          `{"../x":{"file":"/run/token","servers":["a.example"],"tenants":["*"]}}`,
		"no server":       `{"billing":{"file":"/run/token","tenants":["*"]}}`,
		"every server":    `{"billing":{"file":"/run/token","servers":["*"],"tenants":["*"]}}`,
		"a path":          `{"billing":{"file":"/run/token","servers":["https://a.example/x"],"tenants":["*"]}}`,
		"a port":          `{"billing":{"file":"/run/token","servers":["a.example:443"],"tenants":["*"]}}`,
		"no tenant":       `{"billing":{"file":"/run/token","servers":["a.example"]}}`,
		"another field":   `{"billing":{"file":"/run/token","servers":["a.example"],"tenants":["*"],"x":1}}`,
	} {
		if _, err := (config.ServerFlags{Workloads: text}).Check(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWorkloadTokens_AreForServers(t *testing.T) {
	t.Parallel()
	s, err := config.ServerFlags{Workloads: `{"billing":{"file":"/run/token","servers":["a.example","http://b.example:8080","localhost"],"tenants":["*"]}}`}.Check()
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]bool{
		"https://a.example": true, "https://a.example:443": true, "https://b.example:443": false, "http://a.example:80": false, "http://a.example": false, "https://a.example:8443": false, "https://x.a.example": false,
		"http://b.example:8080": true, "https://b.example:8080": false, "https://b.example": false, "http://localhost:1234": true, "": false,
	} {
		if s.Workloads["billing"].IsForServer(origin) != want {
			t.Errorf("%s: %v", origin, !want)
		}
	}
}
