package connectors_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/connectors"
)

func TestAllowedCommands_RefuseOthers(t *testing.T) {
	t.Parallel()
	allowed := connectors.AllowedCommands{
		{Path: "/usr/bin/any"},
		{Path: "/usr/bin/fixed", Args: []string{"--stdio", "a b"}},
		{Path: "/usr/bin/fixed", Args: []string{"--other"}},
		{Path: "/usr/bin/bare", Rule: connectors.ArgsNone},
		{Path: "/usr/bin/node", Args: []string{"/opt/x.js", "--stdio"}, Rule: connectors.ArgsPrefix},
	}
	for name, tc := range map[string]struct {
		command connectors.Command
		at      string
	}{
		"any arguments":            {connectors.Command{Path: "/usr/bin/any", Args: []string{"-c", "x"}}, ""},
		"none of any":              {connectors.Command{Path: "/usr/bin/any"}, ""},
		"exactly the arguments":    {connectors.Command{Path: "/usr/bin/fixed", Args: []string{"--stdio", "a b"}}, ""},
		"the other ones":           {connectors.Command{Path: "/usr/bin/fixed", Args: []string{"--other"}}, ""},
		"too few":                  {connectors.Command{Path: "/usr/bin/fixed", Args: []string{"--stdio"}}, "args"},
		"none":                     {connectors.Command{Path: "/usr/bin/fixed"}, "args"},
		"too many":                 {connectors.Command{Path: "/usr/bin/fixed", Args: []string{"--other", "-x"}}, "args"},
		"the same text, split":     {connectors.Command{Path: "/usr/bin/fixed", Args: []string{"--stdio", "a", "b"}}, "args"},
		"another program":          {connectors.Command{Path: "/bin/sh", Args: []string{"-c", "x"}}, "command"},
		"a beginning of a path":    {connectors.Command{Path: "/usr/bin/an"}, "command"},
		"below a path":             {connectors.Command{Path: "/usr/bin/any/x"}, "command"},
		"another case":             {connectors.Command{Path: "/usr/bin/ANY"}, "command"},
		"none where none may be":   {connectors.Command{Path: "/usr/bin/bare"}, ""},
		"one where none may be":    {connectors.Command{Path: "/usr/bin/bare", Args: []string{""}}, "args"},
		"the first ones alone":     {connectors.Command{Path: "/usr/bin/node", Args: []string{"/opt/x.js", "--stdio"}}, ""},
		"more after the first":     {connectors.Command{Path: "/usr/bin/node", Args: []string{"/opt/x.js", "--stdio", "-e", "1"}}, ""},
		"a part of the first":      {connectors.Command{Path: "/usr/bin/node", Args: []string{"/opt/x.js"}}, "args"},
		"more before the first":    {connectors.Command{Path: "/usr/bin/node", Args: []string{"-r", "/opt/x.js", "--stdio"}}, "args"},
		"a word that begins alike": {connectors.Command{Path: "/usr/bin/node", Args: []string{"/opt/x.js", "--stdio2"}}, "args"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if at := strings.Join(fieldLocations(allowed.Check(tc.command, nil)), " "); at != tc.at {
				t.Errorf("refused at %q, want %q", at, tc.at)
			}
		})
	}
	if at := fieldLocations(connectors.AllowedCommands(nil).Check(connectors.Command{Path: "/usr/bin/any"}, nil)); cmp.Diff([]string{"transport"}, at) != "" {
		t.Errorf("without a list: %q", at)
	}
}

func TestAllowedCommands_DirsAndVariables(t *testing.T) {
	t.Parallel()
	allowed := connectors.AllowedCommands{
		{Path: "/usr/bin/any"},
		{Path: "/usr/bin/kept", Dirs: []string{}, Env: []string{}},
		{Path: "/usr/bin/npx", Args: []string{"some-server"}},
		{Path: "/usr/bin/files", Rule: connectors.ArgsNone, Dirs: []string{"/srv/a", "/srv/b"}, Env: []string{"API_TOKEN", "DEBUG"}},
		{Path: "/usr/bin/files", Args: []string{"-v"}, Rule: connectors.ArgsPrefix, Env: []string{"LOG"}},
	}
	for name, tc := range map[string]struct {
		command connectors.Command
		env     []string
		at      string
	}{
		"any folder with any arguments":       {connectors.Command{Path: "/usr/bin/any", Dir: "/tmp"}, []string{"A"}, ""},
		"none where the operator says so":     {connectors.Command{Path: "/usr/bin/kept", Dir: "/tmp"}, nil, "cwd"},
		"no variable where he says so":        {connectors.Command{Path: "/usr/bin/kept"}, []string{"A"}, "env.A"},
		"a folder with the operator's words":  {connectors.Command{Path: "/usr/bin/npx", Args: []string{"some-server"}, Dir: "/tmp/evil"}, nil, "cwd"},
		"where it works by itself":            {connectors.Command{Path: "/usr/bin/npx", Args: []string{"some-server"}, Dir: "/"}, nil, ""},
		"one of the folders":                  {connectors.Command{Path: "/usr/bin/files", Dir: "/srv/b"}, []string{"DEBUG"}, ""},
		"below one of them":                   {connectors.Command{Path: "/usr/bin/files", Dir: "/srv/b/c"}, nil, "cwd"},
		"above one of them":                   {connectors.Command{Path: "/usr/bin/files", Dir: "/srv"}, nil, "cwd"},
		"another variable":                    {connectors.Command{Path: "/usr/bin/files"}, []string{"API_TOKEN", "HTTPS_PROXY"}, "env.HTTPS_PROXY"},
		"what is no name":                     {connectors.Command{Path: "/usr/bin/files"}, []string{"s3cret line"}, ""}, // refused elsewhere
		"a variable in another case":          {connectors.Command{Path: "/usr/bin/files"}, []string{"debug"}, "env.debug"},
		"what another entry allows":           {connectors.Command{Path: "/usr/bin/files", Args: []string{"-v"}}, []string{"LOG"}, ""},
		"a folder of another entry":           {connectors.Command{Path: "/usr/bin/files", Args: []string{"-v"}, Dir: "/srv/a"}, nil, "cwd"},
		"the nearest entry's refusal is told": {connectors.Command{Path: "/usr/bin/files", Dir: "/tmp"}, []string{"A", "DEBUG"}, "cwd env.A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if at := strings.Join(fieldLocations(allowed.Check(tc.command, tc.env)), " "); at != tc.at {
				t.Errorf("refused at %q, want %q", at, tc.at)
			}
		})
	}
}

func TestAllowedCommands_ListedVariablesAreAllowed(t *testing.T) {
	t.Parallel()
	free := connectors.AllowedCommand{Path: "/usr/bin/npx"}
	fixed := connectors.AllowedCommand{Path: "/usr/bin/npx", Args: []string{"-y", "server@1.2.3"}}
	first := connectors.AllowedCommand{Path: "/usr/bin/npx", Args: []string{"-y", "server@1.2.3"}, Rule: connectors.ArgsPrefix}
	bare := connectors.AllowedCommand{Path: "/usr/bin/npx", Rule: connectors.ArgsNone}
	naming := func(a connectors.AllowedCommand, names ...string) connectors.AllowedCommand {
		a.Env = names
		return a
	}
	for name, tc := range map[string]struct {
		allowed  connectors.AllowedCommand
		variable string
		ok       bool
	}{
		"any arguments":                           {free, "API_TOKEN", true},
		"any arguments, a proxy":                  {free, "HTTPS_PROXY", false},
		"any arguments, a proxy in small letters": {free, "all_proxy", false},
		"any arguments, certificates":             {free, "NODE_EXTRA_CA_CERTS", false},
		"any arguments, a file of certificates":   {free, "SSL_CERT_FILE", false},
		"any arguments, a bundle of certificates": {free, "REQUESTS_CA_BUNDLE", false},
		"any arguments, a temporary folder":       {free, "TMPDIR", false},
		"any arguments, a proxy by name":          {naming(free, "HTTPS_PROXY"), "HTTPS_PROXY", true},
		"fixed arguments":                         {fixed, "API_TOKEN", false},
		"fixed arguments, a proxy":                {fixed, "HTTPS_PROXY", false},
		"fixed arguments, by name":                {naming(fixed, "API_TOKEN"), "API_TOKEN", true},
		"fixed arguments, another name":           {naming(fixed, "API_TOKEN"), "A_CERT", false},
		"first arguments":                         {first, "API_TOKEN", false},
		"no arguments":                            {bare, "API_TOKEN", false},
		"no arguments, by name":                   {naming(bare, "API_TOKEN"), "API_TOKEN", true},
	} {
		command := connectors.Command{Path: tc.allowed.Path, Args: tc.allowed.Args}
		fields := connectors.AllowedCommands{tc.allowed}.Check(command, []string{tc.variable})
		want := []string{"env." + tc.variable}
		if tc.ok {
			want = nil
		}
		if diff := cmp.Diff(want, fieldLocations(fields), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCheckStart_UsesCurrentRules(t *testing.T) {
	t.Parallel()
	fields := connectors.Environment{"API_TOKEN": "x", "NODE_OPTIONS": "--require=/tmp/x.js"}.Validate()
	if diff := cmp.Diff([]string{"env.NODE_OPTIONS"}, fieldLocations(fields)); diff != "" {
		t.Error(diff)
	}
	if fields := connectors.Environment(nil).Validate(); fields != nil {
		t.Error(fields)
	}
}
