package config_test

import (
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/config"
	"patchbay/internal/fault"
)

func locations(t *testing.T, err error) []string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("want a fault, have %v", err)
	}
	var names []string
	for _, field := range f.Fields {
		if !strings.HasPrefix(field.Message, field.Location+" must ") {
			t.Errorf("the sentence about %s does not say what is legal: %q", field.Location, field.Message)
		}
		names = append(names, field.Location)
	}
	return names
}

func TestDatabase_EmbeddedWithoutURL(t *testing.T) {
	t.Parallel()
	d, err := config.DatabaseFlags{DataDir: "x/data"}.Check()
	if err != nil {
		t.Fatal(err)
	}
	if !d.Embedded() || !filepath.IsAbs(d.DataDir) || d.KeysetFile() != filepath.Join(d.DataDir, "keyset") {
		t.Errorf("have %+v", d)
	}
}

func TestDatabase_Refusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags config.DatabaseFlags
		want  []string
	}{
		"no keyset for an external database": {config.DatabaseFlags{URL: "postgres://db/p"}, []string{"PATCHBAY_KEYSET"}},
		"no PostgreSQL address":              {config.DatabaseFlags{URL: "mysql://u:hunter2@db/p", Keyset: "x"}, []string{"DATABASE_URL"}},
		"a pooler of no known kind":          {config.DatabaseFlags{URL: "postgres://db/p", Keyset: "x", Pooler: "session"}, []string{"PATCHBAY_DATABASE_POOLER"}},
		"a way past no pooler":               {config.DatabaseFlags{DirectURL: "postgres://db/p"}, []string{"DATABASE_URL"}},
		"a way past it that is no address":   {config.DatabaseFlags{URL: "postgres://db/p", Keyset: "x", DirectURL: "db:5432"}, []string{"PATCHBAY_DATABASE_DIRECT_URL"}},
		"everything wrong at once":           {config.DatabaseFlags{URL: "host=db", PostgresBin: "/nowhere/bin"}, []string{"DATABASE_URL", "PATCHBAY_POSTGRES_BIN", "PATCHBAY_KEYSET"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tc.flags.Check()
			if diff := cmp.Diff(tc.want, locations(t, err)); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the sentence shows the password: %v", err)
			}
		})
	}
}

func TestCheckSchema_NeedsNoKeyset(t *testing.T) {
	t.Parallel()
	if _, err := (config.DatabaseFlags{URL: "postgres://db/p"}).CheckSchema(); err != nil {
		t.Error(err)
	}
}

func TestEgress_DefaultFollowsListenAddr(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]config.Egress{
		"":                           config.EgressLocal,
		"127.0.0.1:8080":             config.EgressLocal,
		"127.8.0.1:1":                config.EgressLocal,
		"[::1]:8080":                 config.EgressLocal,
		"localhost:8080":             config.EgressLocal,
		":8080":                      config.EgressPublic,
		"0.0.0.0:8080":               config.EgressPublic,
		"192.168.1.5:8080":           config.EgressPublic,
		"localhost.example.com:8080": config.EgressPublic,
	} {
		s, err := config.ServerFlags{Addr: addr}.Check()
		if err != nil || s.Egress != want {
			t.Errorf("%q: have %q, %v; want %q", addr, s.Egress, err, want)
		}
	}
	for name, tc := range map[string]struct {
		flags config.ServerFlags
		want  config.Egress
	}{
		"a base URL at loopback":       {config.ServerFlags{BaseURL: "http://localhost:9000"}, config.EgressLocal},
		"a base URL elsewhere":         {config.ServerFlags{BaseURL: "https://patchbay.example.com"}, config.EgressPublic},
		"a proxy on this machine":      {config.ServerFlags{Proxies: "127.0.0.1"}, config.EgressPublic},
		"a proxy and a base URL":       {config.ServerFlags{BaseURL: "https://patchbay.example.com", Proxies: "127.0.0.1"}, config.EgressPublic},
		"local as the operator has it": {config.ServerFlags{BaseURL: "https://patchbay.example.com", Egress: "local"}, config.EgressLocal},
	} {
		if s, err := tc.flags.Check(); err != nil || s.Egress != tc.want {
			t.Errorf("%s: have %q, %v; want %q", name, s.Egress, err, tc.want)
		}
	}
	if s, err := (config.ServerFlags{Egress: "public"}).Check(); err != nil || s.Egress != config.EgressPublic {
		t.Errorf("a set mode is not kept: %v, %v", s.Egress, err)
	}
}

func TestHTTPMode(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]config.HTTPMode{"": config.HTTPFast, "fast": config.HTTPFast, "standard": config.HTTPStandard} {
		if s, err := (config.ServerFlags{HTTP: set}).Check(); err != nil || s.HTTP != want {
			t.Errorf("PATCHBAY_HTTP=%q: have %q, %v, want %q", set, s.HTTP, err, want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ set, listening, want string }{
		{"", "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"", "[::]:8080", "http://localhost:8080"},
		{"", "0.0.0.0:9000", "http://localhost:9000"},
		{"", ":9000", "http://localhost:9000"},
		{"", "[::1]:9000", "http://[::1]:9000"},
		{"https://Patchbay.Example.com/", "127.0.0.1:8080", "https://patchbay.example.com"},
		{"http://localhost:8080", "0.0.0.0:8080", "http://localhost:8080"},
	} {
		s, err := config.ServerFlags{BaseURL: tc.set}.Check()
		if err != nil {
			t.Fatal(err)
		}
		addr, err := net.ResolveTCPAddr("tcp", tc.listening)
		if err != nil {
			t.Fatal(err)
		}
		if have := s.BaseURL(addr).String(); have != tc.want {
			t.Errorf("set %q, listening on %s: have %q, want %q", tc.set, tc.listening, have, tc.want)
		}
	}
}

func TestServer_Refusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags config.ServerFlags
		want  []string
	}{
		"address without port":     {config.ServerFlags{Addr: "127.0.0.1"}, []string{"PATCHBAY_ADDR"}},
		"port out of range":        {config.ServerFlags{Addr: ":70000"}, []string{"PATCHBAY_ADDR"}},
		"private address":          {config.ServerFlags{PrivateAddr: "9000"}, []string{"PATCHBAY_PRIVATE_ADDR"}},
		"a drain time of an hour":  {config.ServerFlags{DrainTime: time.Hour}, []string{"PATCHBAY_DRAIN_TIME"}},
		"a drain time below zero":  {config.ServerFlags{DrainTime: -time.Second}, []string{"PATCHBAY_DRAIN_TIME"}},
		"relative base":            {config.ServerFlags{BaseURL: "patchbay.example.com"}, []string{"PATCHBAY_BASE_URL"}},
		"base of another kind":     {config.ServerFlags{BaseURL: "ftp://patchbay.example.com"}, []string{"PATCHBAY_BASE_URL"}},
		"base with port alone":     {config.ServerFlags{BaseURL: "https://:8443"}, []string{"PATCHBAY_BASE_URL"}},
		"base with a path":         {config.ServerFlags{BaseURL: "https://example.com/patchbay"}, []string{"PATCHBAY_BASE_URL"}},
		"base with a query":        {config.ServerFlags{BaseURL: "https://example.com/?a=b"}, []string{"PATCHBAY_BASE_URL"}},
		"base with a user":         {config.ServerFlags{BaseURL: "https://me@example.com/"}, []string{"PATCHBAY_BASE_URL"}},
		"a proxy's name":           {config.ServerFlags{Proxies: "10.0.0.0/8, proxy"}, []string{"PATCHBAY_TRUSTED_PROXIES"}},
		"less than no requests":    {config.ServerFlags{APIRate: -1, TenantRate: -1, StrangerRate: -1, AgentRate: -1}, []string{"PATCHBAY_API_RATE", "PATCHBAY_STRANGER_RATE", "PATCHBAY_API_TENANT_RATE", "PATCHBAY_AGENT_RATE"}},
		"embeddings of no model":   {config.ServerFlags{EmbedURL: "https://api.example.com/v1"}, []string{"PATCHBAY_EMBEDDINGS_MODEL"}},
		"embeddings of no URL":     {config.ServerFlags{EmbedModel: "m", EmbedKey: "k"}, []string{"PATCHBAY_EMBEDDINGS_MODEL", "PATCHBAY_EMBEDDINGS_KEY"}},
		"a long model":             {config.ServerFlags{EmbedURL: "https://api.example.com/v1", EmbedModel: strings.Repeat("m", 201)}, []string{"PATCHBAY_EMBEDDINGS_MODEL"}},
		"embeddings with a query":  {config.ServerFlags{EmbedURL: "https://api.example.com/v1?a=b", EmbedModel: "m"}, []string{"PATCHBAY_EMBEDDINGS_URL"}},
		"embeddings of a file":     {config.ServerFlags{EmbedURL: "file:///v1", EmbedModel: "m"}, []string{"PATCHBAY_EMBEDDINGS_URL"}},
		"less than no connectors":  {config.ServerFlags{Connectors: -1}, []string{"PATCHBAY_MAX_CONNECTORS"}},
		"a week of history":        {config.ServerFlags{HistoryDays: 7}, []string{"PATCHBAY_HISTORY_DAYS"}},
		"a century of history":     {config.ServerFlags{HistoryDays: 36500}, []string{"PATCHBAY_HISTORY_DAYS"}},
		"history of the future":    {config.ServerFlags{HistoryDays: -1}, []string{"PATCHBAY_HISTORY_DAYS"}},
		"a session of a minute":    {config.ServerFlags{SessionLife: time.Minute}, []string{"PATCHBAY_SESSION_LIFETIME"}},
		"a session of a year":      {config.ServerFlags{SessionLife: 365 * 24 * time.Hour}, []string{"PATCHBAY_SESSION_LIFETIME"}},
		"idle for a minute":        {config.ServerFlags{SessionIdle: time.Minute}, []string{"PATCHBAY_SESSION_IDLE"}},
		"idle for a week and more": {config.ServerFlags{SessionIdle: 8 * 24 * time.Hour}, []string{"PATCHBAY_SESSION_IDLE"}},
		"idle beyond the lifetime": {config.ServerFlags{SessionIdle: 9 * time.Hour, SessionLife: 8 * time.Hour}, []string{"PATCHBAY_SESSION_IDLE"}},
		"unknown egress":           {config.ServerFlags{Egress: "anything"}, []string{"PATCHBAY_EGRESS"}},
		"client id in the clear":   {config.ServerFlags{CIMDURL: "http://example.com/client.json"}, []string{"PATCHBAY_CIMD_URL"}},
		"client id without a path": {config.ServerFlags{CIMDURL: "https://example.com/"}, []string{"PATCHBAY_CIMD_URL"}},
		"client id with a query":   {config.ServerFlags{CIMDURL: "https://example.com/client.json?a=b"}, []string{"PATCHBAY_CIMD_URL"}},
		"client id with dots":      {config.ServerFlags{CIMDURL: "https://example.com/a/../client.json"}, []string{"PATCHBAY_CIMD_URL"}},
		"client id with fragment":  {config.ServerFlags{CIMDURL: "https://example.com/client.json#"}, []string{"PATCHBAY_CIMD_URL"}},
		"unknown HTTP mode":        {config.ServerFlags{HTTP: "slow"}, []string{"PATCHBAY_HTTP"}},
		"several wrong at once":    {config.ServerFlags{Addr: "x", Egress: "y", BaseURL: "z"}, []string{"PATCHBAY_ADDR", "PATCHBAY_BASE_URL", "PATCHBAY_EGRESS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tc.flags.Check()
			if diff := cmp.Diff(tc.want, locations(t, err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClientID_IsKeptVerbatim(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"", "https://Example.com:8443/oauth/client-metadata.json", "https://example.com/client/"} {
		s, err := config.ServerFlags{CIMDURL: set}.Check()
		if err != nil || s.CIMDURL != set {
			t.Errorf("%q: have %q, %v", set, s.CIMDURL, err)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	s, err := config.ServerFlags{Proxies: "10.1.2.3/8, ::1,, 192.0.2.7"}.Check()
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, p := range s.Proxies {
		have = append(have, p.String())
	}
	if diff := cmp.Diff([]string{"10.0.0.0/8", "::1/128", "192.0.2.7/32"}, have); diff != "" {
		t.Error(diff)
	}
}

func TestLogSettings(t *testing.T) {
	t.Parallel()
	l, err := config.LogFlags{Level: "Debug", Format: "json"}.Check()
	if err != nil || l.Level != slog.LevelDebug || l.Format != config.LogJSON {
		t.Errorf("have %+v, %v", l, err)
	}
	_, err = config.LogFlags{Level: "loud", Format: "xml"}.Check()
	if diff := cmp.Diff([]string{"PATCHBAY_LOG_LEVEL", "PATCHBAY_LOG_FORMAT"}, locations(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownVariables_AreFound(t *testing.T) {
	t.Parallel()
	have := config.UnknownVariables([]string{
		"HOME=/root", "PATCHBAY_EGRES=public", "PATCHBAY_ADDR=:1", "PATCHBAY_PASSWORD=x", "PATCHBAY_KEYSET=", "PATCHBAY_ADDRESS=:2", "DATABASE_URL=",
	})
	if diff := cmp.Diff([]string{"PATCHBAY_ADDRESS", "PATCHBAY_EGRES"}, have); diff != "" {
		t.Error(diff)
	}
}

func TestSessionIdle_AtMostLifetime(t *testing.T) {
	t.Parallel()
	for set, want := range map[[2]time.Duration][2]time.Duration{
		{}:                                {24 * time.Hour, 7 * 24 * time.Hour},
		{0, 8 * time.Hour}:                {8 * time.Hour, 8 * time.Hour},
		{15 * time.Minute, 8 * time.Hour}: {15 * time.Minute, 8 * time.Hour},
		{0, 90 * 24 * time.Hour}:          {24 * time.Hour, 90 * 24 * time.Hour},
	} {
		s, err := config.ServerFlags{SessionIdle: set[0], SessionLife: set[1]}.Check()
		if got := [2]time.Duration{s.SessionIdle, s.SessionLife}; err != nil || got != want {
			t.Errorf("%v: %v, want %v (%v)", set, got, want, err)
		}
	}
}
