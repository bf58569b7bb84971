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

// Environment is what a program of transport stdio is given besides PATH, HOME and LANG. Its values are secrets: they are sealed,
// and shown to nobody.
type Environment map[string]secret.Text

// Names are the names alone, sorted.
func (e Environment) Names() []string { return slices.Sorted(maps.Keys(e)) }

// ownEnv are the variables that Patchbay sets itself.
var ownEnv = []string{"PATH", "HOME", "LANG"}

// loaderEnv and loaderEnvPrefixes decide which code a program runs, or in what way: with them an allowed command would be any
// command.
var (
	loaderEnv = []string{
		"BASHOPTS", "BASH_ENV", "BASH_LOADABLES_PATH", "BROWSER", "CDPATH", "CLASSPATH", "CONTAINER_HOST", "EDITOR", "ENV", "FPATH", "GCONV_PATH", "GETCONF_DIR",
		"GLIBC_TUNABLES", "GODEBUG", "GOENV", "GOFLAGS", "IBM_JAVA_OPTIONS", "IFS", "JAVA_HOME", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LOCPATH",
		"NLSPATH", "NODE_COMPILE_CACHE", "NODE_OPTIONS", "NODE_PATH", "NODE_REDIRECT_WARNINGS", "NODE_V8_COVERAGE", "OPENJ9_JAVA_OPTIONS", "OPENSSL_CONF",
		"OPENSSL_ENGINES", "OPENSSL_MODULES", "PAGER", "PERL5DB", "PERL5LIB", "PERL5OPT", "PERLLIB", "PHPRC", "PHP_INI_SCAN_DIR", "PROMPT_COMMAND", "PS4",
		"PYTHONBREAKPOINT", "PYTHONEXECUTABLE", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH", "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONSTARTUP",
		"PYTHONUSERBASE", "PYTHONWARNINGS", "RUBYLIB", "RUBYOPT", "SHELL", "SHELLOPTS", "VISUAL", "_JAVA_OPTIONS", "ZDOTDIR",
	}
	loaderEnvPrefixes = []string{
		"BASH_FUNC_", "BUNDLE_", "BUN_", "COMPLUS_", "CONTAINERS_", "COREPACK_", "CORECLR_", "DENO_", "DOCKER_", "DOTNET_", "DYLD_", "ERL_", "GEM_", "GIT_", "LD_",
		"LUA_CPATH", "LUA_INIT", "LUA_PATH", "MALLOC_", "NPM_CONFIG_", "PATCHBAY_", "PIP_", "PNPM_", "TS_NODE_", "UV_", "XDG_CONFIG_", "XDG_DATA_", "YARN_",
	}
)

// Validate tells what is wrong with e, by the rules as they are now: they may have been others when it was stored.
func (e Environment) Validate() []fault.Field {
	var c check
	c.env(e)
	return c.fields
}

func (c *check) env(e Environment) {
	if len(e) > MaxEnv {
		c.refuse("env", "There are at most %d variables.", MaxEnv)
		return
	}
	size := 0
	for _, name := range e.Names() {
		value := e[name].Reveal()
		size += len(name) + len(value)
		switch upper := strings.ToUpper(name); {
		case !envName(name):
			// What is no name may be a whole line with a secret in it: it is not repeated.
			c.refuse("env", "A variable's name has at most %d letters, digits and underlines, and begins with no digit.", MaxEnvName)
		case slices.Contains(ownEnv, upper):
			c.refuse("env."+name, "Patchbay sets %s itself.", name)
		case loads(upper):
			c.refuse("env."+name, "%s would change which code the program runs. It cannot be set here.", name)
		case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			c.refuse("env."+name, "The value of %s is no text.", name)
		}
	}
	if size > MaxEnvBytes {
		c.refuse("env", "The environment has at most %d bytes.", MaxEnvBytes)
	}
}

func envName(name string) bool {
	for i, r := range []byte(name) {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= MaxEnvName
}

func loads(upper string) bool {
	return slices.Contains(loaderEnv, upper) || slices.ContainsFunc(loaderEnvPrefixes, func(p string) bool { return strings.HasPrefix(upper, p) })
}

// Encode writes e as one text, to be sealed.
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

// DecodeEnvironment reads what Encode wrote.
func DecodeEnvironment(t secret.Text) (Environment, error) {
	var e Environment
	if err := json.Unmarshal([]byte(t.Reveal()), &e); err != nil {
		return nil, errors.New("decode an environment: its form is unknown") // the cause could quote a secret
	}
	return e, nil
}
