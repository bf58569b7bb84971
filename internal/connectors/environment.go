package connectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// Bounds of a program's environment.
const (
	MaxEnv      = 100
	MaxEnvName  = 128      // bytes
	MaxEnvBytes = 64 << 10 // names and values together
)

// Environment has the variables of a stdio program besides PATH, HOME and LANG. The values are secrets: they
// are sealed and never shown.
type Environment map[string]secret.Text

// Names returns the sorted names.
func (e Environment) Names() []string { return slices.Sorted(maps.Keys(e)) }

var reservedEnv = []string{"PATH", "HOME", "LANG"}

// Variables, in upper case, that choose a program's code or its hosts, files or commands. They would turn an
// allowed command into any command.
var (
	loaderEnv = []string{
		"APPDATA", "AWKLIBPATH", "AWKPATH", "BASHOPTS", "BASH_ENV", "BASH_LOADABLES_PATH", "BROWSER", "CC", "CDPATH", "CFLAGS", "CLASSPATH", "COMSPEC", "CONTAINER_HOST",
		"CPATH", "CXX", "DESTDIR", "ENV", "FPATH", "GCONV_PATH", "GETCONF_DIR", "GH_BROWSER", "GLIBC_TUNABLES", "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "GOOGLE_API_USE_CLIENT_CERTIFICATE",
		"GUILE_LOAD_COMPILED_PATH", "GUILE_LOAD_PATH", "HISTFILE", "HOMEDRIVE", "HOMEPATH", "HOSTALIASES", "IBM_JAVA_OPTIONS", "IFS", "INIT_CWD", "INPUTRC", "KRB5_CONFIG", "LDFLAGS",
		"LIBRARY_PATH", "LOCALAPPDATA", "LOCALDOMAIN", "LOCPATH", "MAKE", "MAKEFILES", "MAKEFLAGS", "MANPATH", "NETRC", "NLSPATH", "NPM_EXECPATH", "NPM_NODE_EXECPATH", "OPENJ9_JAVA_OPTIONS",
		"PATHEXT", "PHPRC", "PHP_INI_SCAN_DIR", "PREFIX", "PROMPT_COMMAND", "PS4", "PSMODULEPATH", "RES_OPTIONS", "R_ENVIRON", "R_ENVIRON_USER", "R_HOME", "R_LIBS",
		"R_LIBS_SITE", "R_LIBS_USER", "R_PROFILE", "R_PROFILE_USER", "SHELL", "SHELLOPTS", "SSH_AUTH_SOCK", "SSH_SK_HELPER", "SSLKEYLOGFILE", "SYSTEMROOT", "SYSTEM_WGETRC",
		"TCLLIBPATH", "TCL_LIBRARY", "TERMCAP", "TERMINFO", "TERMINFO_DIRS", "TZDIR", "USERPROFILE", "VIRTUAL_ENV", "VISUAL", "WGETRC", "WINDIR", "ZDOTDIR",
		"_JAVA_OPTIONS",
	}
	// goEnv are the variables of "go help environment". Their prefix would also refuse GOOGLE_API_KEY.
	goEnv = []string{
		"GO111MODULE", "GOARCH", "GOAUTH", "GOBIN", "GOCACHE", "GOCACHEPROG", "GOCOVERDIR", "GODEBUG", "GOENV", "GOEXPERIMENT", "GOFIPS140", "GOFLAGS", "GOGC", "GOINSECURE",
		"GOMAXPROCS", "GOMEMLIMIT", "GOMOD", "GOMODCACHE", "GONOPROXY", "GONOSUMDB", "GOOS", "GOPATH", "GOPRIVATE", "GOPROXY", "GORACE", "GOROOT", "GOSUMDB", "GOTELEMETRY",
		"GOTELEMETRYDIR", "GOTMPDIR", "GOTOOLCHAIN", "GOTOOLDIR", "GOTRACEBACK", "GOVCS", "GOWORK",
	}
	loaderEnvPrefixes = []string{
		"ASDF_", "BASH_FUNC_", "BUNDLE_", "BUNDLER_", "BUN_", "CARGO_", "CGO_", "COMPLUS_", "CONDA_", "CONTAINERS_", "COREPACK_", "CORECLR_", "CURL_", "DENO_", "DOCKER_", "DOTNET_", "DYLD_",
		"ELECTRON_", "ERL_", "GEM_", "GIO_", "GIT_", "GRADLE_", "GST_", "GTK_", "HOMEBREW_", "JAVA_", "JDK_", "JULIA_", "LD_", "LESS", "LUA_", "MALLOC_", "MAMBA_", "MAVEN_",
		"MISE_", "NIX_", "NODE_", "NPM_CONFIG_", "NPM_PACKAGE_", "NUGET_", "NVM_", "OPENSSL_", "PATCHBAY_", "PDM_", "PERL", "PIPENV_", "PIPX_", "PIP_", "PNPM_", "POETRY_",
		"PYENV_", "PYTHON", "PYPY_", "QT_", "RBENV_", "RUBY", "RUSTC", "RUSTUP_", "TS_NODE_", "TSX_", "UV_", "VOLTA_", "XDG_", "YARN_",
	}
	loaderEnvSuffixes = []string{"ASKPASS", "EDITOR", "PAGER"}
	// harmlessEnv are common exceptions from the prefixes that choose no code.
	harmlessEnv = []string{"NODE_ENV", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONUTF8"}

	// Proxies, certificates and temporary folders are needed on some networks but choose the code of
	// downloaders. The operator must list them.
	listedEnv         = []string{"NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY", "NODE_USE_SYSTEM_CA", "TEMP", "TMP", "TMPDIR"}
	listedEnvPrefixes = []string{"SSL_CERT_"}
	listedEnvSuffixes = []string{"_CA_BUNDLE", "_CA_CERTS", "_PROXY"}
)

// Validate returns the invalid fields by the current rules, which may be newer than the stored environment.
func (e Environment) Validate() []fault.Field {
	var c validation
	c.checkEnv(e)
	return c.fields
}

func (c *validation) checkEnv(e Environment) {
	if len(e) > MaxEnv {
		c.addField("env", "At most %d variables.", MaxEnv)
		return
	}
	size := 0
	for _, name := range e.Names() {
		value := e[name].Reveal()
		size += len(name) + len(value)
		switch upper := strings.ToUpper(name); {
		case !isEnvName(name):
			// An invalid name may be a whole line with a secret: it is not repeated.
			c.addField("env", "Use up to %d letters, digits or underscores; no leading digit.", MaxEnvName)
		case slices.Contains(reservedEnv, upper):
			c.addField("env."+name, "Patchbay sets %s itself.", name)
		case isLoaderVariable(upper):
			c.addField("env."+name, "%s can't be set: it changes which code runs.", name)
		case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			c.addField("env."+name, "%s must be a string.", name)
		}
	}
	if size > MaxEnvBytes {
		c.addField("env", "At most %d bytes in total.", MaxEnvBytes)
	}
}

func isEnvName(name string) bool {
	for i, r := range []byte(name) {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= MaxEnvName
}

// isLoaderVariable reports whether a variable, in upper case, is refused for every program.
func isLoaderVariable(upper string) bool {
	if mustBeListed(upper) || slices.Contains(harmlessEnv, upper) {
		return false
	}
	return slices.Contains(loaderEnv, upper) || slices.Contains(goEnv, upper) || hasAffix(upper, loaderEnvPrefixes, loaderEnvSuffixes)
}

// mustBeListed reports whether a variable, in upper case, is refused unless the operator lists it for the
// program.
func mustBeListed(upper string) bool {
	return slices.Contains(listedEnv, upper) || hasAffix(upper, listedEnvPrefixes, listedEnvSuffixes)
}

func hasAffix(name string, prefixes, suffixes []string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	ends := func(suffix string) bool { return strings.HasSuffix(name, suffix) }
	return slices.ContainsFunc(prefixes, begins) || slices.ContainsFunc(suffixes, ends)
}

// Encode returns e as one text to be sealed.
func (e Environment) Encode() (secret.Text, error) {
	plain := make(map[string]string, len(e))
	for name, value := range e {
		plain[name] = value.Reveal()
	}
	b, err := json.Marshal(plain)
	if err != nil {
		return "", fmt.Errorf("encode an environment: %w", err)
	}
	return secret.Text(b), nil
}

// DecodeEnvironment decodes the output of Encode.
func DecodeEnvironment(t secret.Text) (Environment, error) {
	var e Environment
	if err := json.Unmarshal([]byte(t.Reveal()), &e); err != nil {
		return nil, errors.New("decode an environment: its form is unknown") // the cause could quote a secret
	}
	return e, nil
}
