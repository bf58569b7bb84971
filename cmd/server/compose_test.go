package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"patchbay/internal/operator"
)

// compose is the part of docker-compose.yml that is checked.
type compose struct {
	Services map[string]struct {
		Profiles    []string
		Build       string
		Image       string
		Environment map[string]string
		Networks    []string
		Volumes     []string
		StopGrace   string `yaml:"stop_grace_period"`
	}
	Networks map[string]any
	Volumes  map[string]any
}

func readCompose(t *testing.T) compose {
	t.Helper()
	text, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompose_EnvironmentHasKnownSettings(t *testing.T) {
	t.Parallel()
	var help bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--help"}, operator.IO{Stdout: &help, Stderr: &help}); code != 0 {
		t.Fatalf("help ends with %d: %s", code, help.String())
	}
	ours := 0
	for name, service := range readCompose(t).Services {
		if service.Build == "" {
			continue
		}
		ours++
		for variable := range service.Environment {
			if !strings.Contains(help.String(), "$"+variable) {
				t.Errorf("%s sets %s, which patchbay serve --help does not know", name, variable)
			}
		}
		if service.Environment["DATABASE_URL"] == "" || service.Environment["PATCHBAY_KEYSET"] == "" {
			t.Errorf("%s has no database, or no keyset for it: %v", name, service.Environment)
		}
	}
	if ours != 4 {
		t.Errorf("%d services are Patchbay, want one and three", ours)
	}
}

func TestCompose_ProxyForwardsUnbuffered(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	c := readCompose(t)
	for _, setting := range []string{"flush_interval -1", "health_uri /readyz"} {
		if !strings.Contains(string(text), setting) {
			t.Errorf("the proxy lacks %q", setting)
		}
	}
	for name, service := range c.Services {
		if strings.HasPrefix(name, "replica-") && !strings.Contains(string(text), name+":8080") {
			t.Errorf("the proxy does not know %s", name)
		}
		if strings.HasPrefix(name, "replica-") && (service.Environment["PATCHBAY_DRAIN_TIME"] == "" || service.StopGrace == "") {
			t.Errorf("%s cannot be restarted without losing requests: %+v", name, service)
		}
		if _, tag, pinned := strings.Cut(service.Image, ":"); service.Image != "" && (!pinned || tag == "latest") {
			t.Errorf("%s runs %s, which is no version", name, service.Image)
		}
		for _, network := range service.Networks {
			if _, there := c.Networks[network]; !there {
				t.Errorf("%s is in the network %s, which there is not", name, network)
			}
		}
	}
}
