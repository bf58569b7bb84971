package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/config"
)

func TestEgressAllow_InternationalisedHostIsASCII(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                               "",
		"10.0.0.0/8:443, [fd00::/8]:*":   "10.0.0.0/8:443, [fd00::/8]:*",
		"MCP.corp.example:8443":          "MCP.corp.example:8443",
		"bücher.example:443":             "xn--bcher-kva.example:443",
		"BÜCHER.example:*":               "xn--bcher-kva.example:*",
		"bu\u0308cher.example:443":       "xn--bcher-kva.example:443", // decomposed
		"10.0.0.0/8:*, straße.example:1": "10.0.0.0/8:*,xn--strae-oqa.example:1",
		"例え.テスト:443":                     "xn--r8jz45g.xn--zckzah:443",
		"bücher.example.:443":            "xn--bcher-kva.example.:443",
		"bücher.example":                 "bücher.example", // no port: package safehttp refuses it
	} {
		server, err := config.ServerFlags{EgressAllow: list}.Check()
		if err != nil || server.EgressAllow != want {
			t.Errorf("%q is read as %q, want %q: %v", list, server.EgressAllow, want, err)
		}
	}
}

func TestEgressAllow_MisleadingHostIsRefused(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]string{
		"full-width letters":  "ｌocalhost:443",
		"full-width digits":   "１２７.0.0.1:443",
		"digits in circles":   "①②⑦.⓪.⓪.①:443",
		"ideographic dots":    "mcp。example。com:443",
		"a long s":            "localho\u017ft:443",
		"a zero-width space":  "mcp\u200b.example.com:443",
		"text turned around":  "\u202emoc.example:443",
		"two directions":      "abcا.example:443",
		"a prefix of letters": "ü/8:443",
	} {
		_, err := config.ServerFlags{EgressAllow: "10.0.0.0/8:443," + list}.Check()
		if err == nil {
			t.Errorf("%s is accepted", name)
			continue
		}
		if diff := cmp.Diff([]string{"PATCHBAY_EGRESS_ALLOW"}, locations(t, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
