package connectors_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

func stdioDraft(change func(*connectors.Draft)) connectors.Draft {
	return newDraft(func(d *connectors.Draft) {
		d.Transport, d.URL = connectors.TransportStdio, ""
		d.Command = connectors.Command{Path: "/usr/bin/server"}
		if change != nil {
			change(d)
		}
	})
}

func TestDraft_ValidCommand(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*connectors.Draft){
		"a command alone":  nil,
		"arguments":        func(d *connectors.Draft) { d.Command.Args = []string{"--dir", "/srv/a b", "", "$(id); `x`"} },
		"a folder":         func(d *connectors.Draft) { d.Command.Dir = "/srv" },
		"an environment":   func(d *connectors.Draft) { d.Env = connectors.Environment{"API_KEY": "a\nb", "_x1": ""} },
		"no environment":   func(d *connectors.Draft) { d.Env = connectors.Environment{} },
		"many arguments":   func(d *connectors.Draft) { d.Command.Args = make([]string, 100) },
		"a large argument": func(d *connectors.Draft) { d.Command.Args = []string{strings.Repeat("a", 4<<10)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if fields := stdioDraft(change).Validate(); fields != nil {
				t.Error(fields)
			}
		})
	}
}

func TestDraft_InvalidCommand(t *testing.T) {
	t.Parallel()
	env := func(name string, value secret.Text) func(*connectors.Draft) {
		return func(d *connectors.Draft) { d.Env = connectors.Environment{name: value} }
	}
	for name, tc := range map[string]struct {
		at     string
		change func(*connectors.Draft)
	}{
		"no command":               {"command", func(d *connectors.Draft) { d.Command.Path = " " }},
		"a name to look up":        {"command", func(d *connectors.Draft) { d.Command.Path = "npx" }},
		"a relative path":          {"command", func(d *connectors.Draft) { d.Command.Path = "./server" }},
		"the root":                 {"command", func(d *connectors.Draft) { d.Command.Path = "/bin/.." }},
		"a NUL in the path":        {"command", func(d *connectors.Draft) { d.Command.Path = "/bin/a\x00b" }},
		"a relative folder":        {"cwd", func(d *connectors.Draft) { d.Command.Dir = "srv" }},
		"101 arguments":            {"args", func(d *connectors.Draft) { d.Command.Args = make([]string, 101) }},
		"a giant argument":         {"args", func(d *connectors.Draft) { d.Command.Args = []string{strings.Repeat("a", 4<<10+1)} }},
		"a NUL in an argument":     {"args", func(d *connectors.Draft) { d.Command.Args = []string{"a\x00b"} }},
		"a URL":                    {"url", func(d *connectors.Draft) { d.URL = "https://example.com/" }},
		"headers":                  {"headers", func(d *connectors.Draft) { d.Headers = map[string]string{"X-A": "b"} }},
		"an authentication":        {"auth.type", func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }},
		"credentials per agent":    {"credential_mode", func(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent }},
		"a variable without name":  {"env", env("", "x")},
		"a name with a hyphen":     {"env", env("A-B", "x")},
		"a name with a digit":      {"env", env("1A", "x")},
		"PATH":                     {"env.PATH", env("PATH", "/tmp")},
		"Home":                     {"env.Home", env("Home", "/tmp")},
		"a library to load":        {"env.LD_PRELOAD", env("LD_PRELOAD", "/tmp/x.so")},
		"a script to run":          {"env.NODE_OPTIONS", env("NODE_OPTIONS", "--require=/tmp/x.js")},
		"a registry to ask":        {"env.npm_config_registry", env("npm_config_registry", "https://evil.example")},
		"our own settings":         {"env.PATCHBAY_KEYSET", env("PATCHBAY_KEYSET", "x")},
		"a NUL in a value":         {"env.A", env("A", "a\x00b")},
		"a giant value":            {"env", env("A", secret.Text(strings.Repeat("a", 64<<10)))},
		"a command without stdio":  {"command", func(d *connectors.Draft) { d.Transport, d.URL = connectors.TransportSSE, "https://example.com/" }},
		"an environment elsewhere": {"env", func(d *connectors.Draft) { *d = newDraft(nil); d.Env = connectors.Environment{"A": "b"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := stdioDraft(tc.change).Validate()
			if diff := cmp.Diff([]string{tc.at}, fieldLocations(fields)); diff != "" {
				t.Error(diff, fields)
			}
		})
	}
}

func TestCommand_CleansPath(t *testing.T) {
	t.Parallel()
	d := stdioDraft(func(d *connectors.Draft) { d.Command.Path, d.Command.Dir = " /usr/local/../bin//server ", "/srv/./x/" })
	if d.Command.Path != "/usr/bin/server" || d.Command.Dir != "/srv/x" {
		t.Errorf("%+v", d.Command)
	}
}

func TestEnvironment_DecodesAndNeverPrints(t *testing.T) {
	t.Parallel()
	e := connectors.Environment{"B": "s3cret", "A": "\"\n"}
	sealed, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := connectors.DecodeEnvironment(sealed)
	if diff := cmp.Diff(e, back); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff([]string{"A", "B"}, e.Names()); diff != "" {
		t.Error(diff)
	}
	if _, err := connectors.DecodeEnvironment("s3cret"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a broken one: %v", err)
	}
}

func TestEnvironment_RefusesLoaderVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"LD_AUDIT", "BASH_ENV", "BASH_FUNC_ls", "BASH_LOADABLES_PATH", "BROWSER", "DOCKER_CONFIG", "DOCKER_HOST", "GIT_SSH_COMMAND", "GOFLAGS", "JAVA_HOME", "JAVA_OPTS",
		"LUA_INIT_5_4", "NODE_COMPILE_CACHE", "OPENSSL_CONF", "openssl_modules", "PHPRC", "PHP_INI_SCAN_DIR", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX",
		"TS_NODE_COMPILER", "XDG_CONFIG_HOME", "yarn_registry", "PREFIX", "DESTDIR", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN", "NODE_ICU_DATA",
		"NODE_TLS_REJECT_UNAUTHORIZED", "NODE_REPL_EXTERNAL_MODULE", "VIRTUAL_ENV", "SSLKEYLOGFILE", "COMSPEC", "LESSOPEN", "MANPAGER", "GOPROXY", "GOTOOLCHAIN",
		"CARGO_HOME", "RUSTC_WRAPPER", "CONDA_PREFIX", "GIT_ASKPASS", "SSH_ASKPASS", "AWS_PAGER", "KUBE_EDITOR", "CURL_HOME", "XDG_CACHE_HOME", "PERL_MM_OPT", "RUBYLIB",
	} {
		fields := stdioDraft(func(d *connectors.Draft) { d.Env = connectors.Environment{name: "/tmp/x"} }).Validate()
		if diff := cmp.Diff([]string{"env." + name}, fieldLocations(fields)); diff != "" {
			t.Error(name, diff)
		}
	}
	for _, name := range []string{"API_TOKEN", "DEBUG", "GITHUB_TOKEN", "GOOGLE_API_KEY", "HTTPS_PROXY", "NODE_ENV", "NPM_TOKEN", "PYTHONUNBUFFERED", "PYTHONUTF8", "SSL_CERT_FILE", "TZ"} {
		if fields := stdioDraft(func(d *connectors.Draft) { d.Env = connectors.Environment{name: "x"} }).Validate(); len(fields) > 0 {
			t.Error(name, fields)
		}
	}
}
