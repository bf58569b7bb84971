package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/config"
)

func TestStdio_ParsesCommands(t *testing.T) {
	t.Parallel()
	type programs = []config.Program
	for list, want := range map[string]programs{
		"":                                  nil,
		" , ,":                              nil,
		"/usr/bin/a":                        {{Path: "/usr/bin/a"}},
		" /usr/bin/a , /opt//b/../c ":       {{Path: "/usr/bin/a"}, {Path: "/opt/c"}},
		"/usr/bin/a --stdio  -v,/usr/bin/a": {{Path: "/usr/bin/a", Args: []string{"--stdio", "-v"}}, {Path: "/usr/bin/a"}},
		`/usr/bin/a "a b" 'c,d' e"f g"h ""`: {{Path: "/usr/bin/a", Args: []string{"a b", "c,d", "ef gh", ""}}},
		`"/opt/my servers/a"`:               {{Path: "/opt/my servers/a"}},
		"/usr/bin/a $HOME *":                {{Path: "/usr/bin/a", Args: []string{"$HOME", "*"}}},
		"/usr/bin/a args=none cwd=/x":       {{Path: "/usr/bin/a", Args: []string{"args=none", "cwd=/x"}}}, // after the path they are arguments
		"args=none /usr/bin/a":              {{Path: "/usr/bin/a", Rule: "none"}},
		"args=any /usr/bin/a":               {{Path: "/usr/bin/a"}},
		"args=prefix /usr/bin/a -v":         {{Path: "/usr/bin/a", Args: []string{"-v"}, Rule: "prefix"}},
	} {
		s, err := config.ServerFlags{Stdio: list}.Check()
		if diff := cmp.Diff(want, s.Stdio, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", list, err, diff)
		}
	}
}

func TestStdio_ParsesFoldersAndVariables(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]config.Program{
		"/a":          {}, // no rules
		"cwd=none /a": {Dirs: []string{}},
		"env=none /a": {Env: []string{}},
		`cwd=/srv//x/ "cwd=/srv/my files" env=API_TOKEN args=none env=DEBUG /a`: {
			Rule: "none", Dirs: []string{"/srv/x", "/srv/my files"}, Env: []string{"API_TOKEN", "DEBUG"},
		},
	} {
		s, err := config.ServerFlags{Stdio: list}.Check()
		if err != nil || len(s.Stdio) != 1 {
			t.Errorf("%s: %v", list, err)
			continue
		}
		got := s.Stdio[0]
		want.Path, want.Args = "/a", []string{}
		if diff := cmp.Diff(want, got); diff != "" { // nil differs from empty here
			t.Errorf("%s: %s", list, diff)
		}
	}
}

func TestStdio_RefusesInvalid(t *testing.T) {
	t.Parallel()
	for _, list := range []string{
		"npx", "./a", "/usr/bin/a, b", "/", "/..", `/usr/bin/a "b`, `""`, "npx -y /usr/bin/a",
		"args=none", "args=none /usr/bin/a -v", "args=any /usr/bin/a -v", "args=prefix /usr/bin/a", "args=few /usr/bin/a", "args=none args=any /usr/bin/a",
		"cwd=srv /usr/bin/a", "cwd= /usr/bin/a", "cwd=none cwd=/srv /usr/bin/a", "cwd=/srv cwd=none /usr/bin/a",
		"env= /usr/bin/a", "env=none env=A /usr/bin/a", "env=A=b /usr/bin/a", "env=AWS_* /usr/bin/a", "DEBUG=1 /usr/bin/a",
	} {
		_, err := config.ServerFlags{Stdio: list}.Check()
		if diff := cmp.Diff([]string{"PATCHBAY_STDIO_COMMANDS"}, locations(t, err)); diff != "" {
			t.Errorf("%s: %s", list, diff)
		}
	}
}
