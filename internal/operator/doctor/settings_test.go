package doctor

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/config"
	"patchbay/internal/testing/egressproxy"
)

func TestDoctor_TriesEgressProxy(t *testing.T) {
	t.Parallel()
	fine := egressproxy.New(t, egressproxy.Options{User: "patch", Pass: "hunter2"})
	gone := egressproxy.New(t, egressproxy.Options{})
	gone.Close()
	none := egressproxy.New(t, egressproxy.Options{Answer: func(w http.ResponseWriter, _ *http.Request) bool {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.Close()
		}
		return true
	}})
	for address, want := range map[string]string{
		"":                                "",
		fine.Address("patch:hunter2@"):    "OK       egress proxy   " + fine.URL + " answers",
		fine.Address("patch:hunter2no@"):  "PROBLEM  egress proxy   " + fine.URL + ": The egress proxy refused Patchbay's credentials (407).",
		gone.Address("patch:hunter2@"):    "PROBLEM  egress proxy   " + gone.URL + ": The egress proxy can't be reached. Check that it runs and that PATCHBAY_EGRESS_PROXY is right. (",
		none.Address("patch:hunter2@"):    "PROBLEM  egress proxy   " + none.URL + ": The egress proxy doesn't respond like a proxy.",
		"socks5://hunter2@127.0.0.1:1080": "PROBLEM  egress proxy   PATCHBAY_EGRESS_PROXY must be an HTTP proxy URL",
	} {
		server, err := config.ServerFlags{EgressProxy: address}.Check()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		e := &report{out: &said}
		e.checkProxy(t.Context(), server)
		if got := said.String(); !strings.HasPrefix(got, want) || (want == "") != (got == "") || strings.Contains(got, "hunter2") {
			t.Errorf("%s:\n%s", address, got)
		}
	}
}

func TestDoctor_ExplainsWrongAddresses(t *testing.T) {
	t.Parallel()
	const far = "https://patchbay.example.com"
	for name, c := range map[string]struct {
		flags config.ServerFlags
		find  func(*report, config.Server)
		want  string
	}{
		"at home":              {config.ServerFlags{}, (*report).checkBaseURL, "OK       base URL       http://127.0.0.1:8080\n"},
		"behind a proxy":       {config.ServerFlags{Addr: "0.0.0.0:80", BaseURL: far}, (*report).checkBaseURL, "OK       base URL       " + far + "\n"},
		"plain":                {config.ServerFlags{BaseURL: "http://patchbay.example.com"}, (*report).checkBaseURL, "PROBLEM  base URL       http://patchbay.example.com is plain http: passwords and keys are sent unencrypted. Put an https proxy in front and set PATCHBAY_BASE_URL"},
		"open without an URL":  {config.ServerFlags{Addr: "0.0.0.0:8080"}, (*report).checkBaseURL, "PROBLEM  base URL       the server listens on 0.0.0.0:8080, but links point to http://"},
		"callback at home":     {config.ServerFlags{}, (*report).checkCallback, "OK       OAuth callback http://127.0.0.1:8080/oauth/callback: use it"},
		"callback":             {config.ServerFlags{Addr: "0.0.0.0:80", BaseURL: far + "/"}, (*report).checkCallback, "OK       OAuth callback " + far + "/oauth/callback: use it as the redirect URI"},
		"plain callback":       {config.ServerFlags{BaseURL: "http://patchbay.example.com"}, (*report).checkCallback, "PROBLEM  OAuth callback http://patchbay.example.com/oauth/callback is plain http: authorization servers reject it, and codes would be sent unencrypted. Set PATCHBAY_BASE_URL"},
		"callback on loopback": {config.ServerFlags{Egress: "public"}, (*report).checkCallback, "NOTE     OAuth callback http://127.0.0.1:8080/oauth/callback works only on this machine, but connectors lead outside: only a browser on this machine can connect accounts. Set PATCHBAY_BASE_URL"},
		"callback to itself":   {config.ServerFlags{Addr: "0.0.0.0:80", BaseURL: "http://localhost"}, (*report).checkCallback, "NOTE     OAuth callback http://localhost/oauth/callback works only on this machine"},
		"egress at home":       {config.ServerFlags{}, (*report).checkEgress, "OK       egress         local, with 0 exceptions\n"},
		"egress":               {config.ServerFlags{Addr: "0.0.0.0:80", EgressAllow: "10.0.0.0/8:443"}, (*report).checkEgress, "OK       egress         public, with 1 exceptions\n"},
		"egress to everything": {config.ServerFlags{Addr: "0.0.0.0:80", Egress: "local"}, (*report).checkEgress, "PROBLEM  egress         local, but others can reach this server: every tenant's admins can reach this machine. Set PATCHBAY_EGRESS=public"},
		"egress by a name":     {config.ServerFlags{BaseURL: far, Egress: "local"}, (*report).checkEgress, "PROBLEM  egress         local, but others can reach this server"},
		"egress by a proxy":    {config.ServerFlags{Proxies: "127.0.0.1", Egress: "local"}, (*report).checkEgress, "PROBLEM  egress         local, but others can reach this server"},
		"egress unset, a name": {config.ServerFlags{BaseURL: far}, (*report).checkEgress, "OK       egress         public, with 0 exceptions\n"},
		"HTTP":                 {config.ServerFlags{}, (*report).reportHTTPMode, "OK       HTTP           fast\n"},
		"standard HTTP":        {config.ServerFlags{HTTP: "standard"}, (*report).reportHTTPMode, "OK       HTTP           standard: net/http only"},
		"egress to nonsense":   {config.ServerFlags{EgressAllow: "10.0.0.0/99:1"}, (*report).checkEgress, "PROBLEM  egress         "},
		"catalog":              {config.ServerFlags{}, (*report).checkCatalog, "OK       catalog        "},
		"catalog that is gone": {config.ServerFlags{Catalog: "/nowhere/catalog.json"}, (*report).checkCatalog, "PROBLEM  catalog        PATCHBAY_CATALOG cannot be read: /nowhere/catalog.json."},
	} {
		server, err := c.flags.Check()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var said bytes.Buffer
		e := &report{out: &said}
		c.find(e, server)
		if got := said.String(); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 || (e.problems > 0) != strings.HasPrefix(got, "PROBLEM") {
			t.Errorf("%s, with %d problems:\n%s", name, e.problems, got)
		}
	}
}

func TestDoctor_NamesUnknownAndRefusedSettings(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	problems := Run(t.Context(), Options{
		Server: config.ServerFlags{BaseURL: "ftp://x", Connectors: -1}, Database: config.DatabaseFlags{DataDir: t.TempDir()},
		Environ: []string{"PATCHBAY_EGRES=public"}, Out: &said,
	})
	if problems == 0 {
		t.Error("nothing is found")
	}
	for _, want := range []string{
		"PROBLEM  settings       PATCHBAY_EGRES is set but isn't a known setting. patchbay serve --help lists them.\n",
		"PROBLEM  settings       PATCHBAY_BASE_URL ", "PROBLEM  settings       PATCHBAY_MAX_CONNECTORS must be 1 or more",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not said:\n%s", want, said.String())
		}
	}
}
