//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A real bash completes commands, flags, their values, and the names of what the installation has.
func TestTheShellCompletesCommandsAndNames(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	h.env = append(h.env, "PATCHBAY_URL="+s.base, "PATCHBAY_API_KEY="+h.run("apikey", "create", "--tenant", "default", "--role", "viewer", "--name", "completion"))
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"linear": {"url": "http://127.0.0.1:9/mcp"}, "github": {"url": "http://127.0.0.1:9/mcp"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("import", "--tenant", "default", file)
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	script := h.run("completion", "bash") + `
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _patchbay; echo "${COMPREPLY[*]}"`
	for line, want := range map[string]string{
		"conn":                          "",
		"ct":                            "ctl",
		"ctl conn":                      "connectors",
		"ctl connectors get ":           "github\nlinear",
		"ctl connectors get li":         "linear",
		"ctl -o ":                       "table\njson",
		"ctl --key-file x connectors g": "get",
		"apply --ch":                    "--check",
		"ctl api P":                     "POST\nPUT\nPATCH",
		"ctl api GET audit_events/":     "audit_events/key\naudit_events/verify",
		"ctl api GET connectors/li":     "connectors/linear",
		"ctl api POST /api/v1/inv":      "/api/v1/invitations\n/api/v1/invitations/{id}/send",
		"completion ":                   "bash\nzsh\nfish",
		"keys rotate --":                "--help\n--version",
	} {
		words := append([]string{"-c", "IFS=$'\\n'\n" + script, "bash", program}, strings.Split(line, " ")...)
		cmd := exec.CommandContext(t.Context(), "bash", words...)
		cmd.Env, cmd.Dir = h.command(t.Context()).Env, filepath.Dir(program)
		said, err := cmd.Output()
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if got := strings.TrimSpace(string(said)); got != want && !(line == "keys rotate --" && strings.HasPrefix(got, want)) {
			t.Errorf("%q is completed to %q, want %q", line, got, want)
		}
	}

	h.env = append(h.env, "PATCHBAY_API_KEY=")
	if said := h.run("completion", "words", "--", "ctl", "connectors", "get", ""); said != "" {
		t.Errorf("without a key: %q", said)
	}
}
