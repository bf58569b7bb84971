package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/config"
)

func TestStdioCommandsAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][][]string{
		"":                                  nil,
		" , ,":                              nil,
		"/usr/bin/a":                        {{"/usr/bin/a"}},
		" /usr/bin/a , /opt//b/../c ":       {{"/usr/bin/a"}, {"/opt/c"}},
		"/usr/bin/a --stdio  -v,/usr/bin/a": {{"/usr/bin/a", "--stdio", "-v"}, {"/usr/bin/a"}},
		`/usr/bin/a "a b" 'c,d' e"f g"h ""`: {{"/usr/bin/a", "a b", "c,d", "ef gh", ""}},
		`"/opt/my servers/a"`:               {{"/opt/my servers/a"}},
		"/usr/bin/a $HOME *":                {{"/usr/bin/a", "$HOME", "*"}},
	} {
		s, err := config.ServerFlags{Stdio: list}.Check()
		if diff := cmp.Diff(want, s.Stdio); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", list, err, diff)
		}
	}
}

func TestStdioCommandsAreRefused(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"npx", "./a", "/usr/bin/a, b", "/", "/..", `/usr/bin/a "b`, `""`} {
		_, err := config.ServerFlags{Stdio: list}.Check()
		if diff := cmp.Diff([]string{"PATCHBAY_STDIO_COMMANDS"}, locations(t, err)); diff != "" {
			t.Errorf("%s: %s", list, diff)
		}
	}
}
