package clientconfig_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

func TestRead_ProgramWithEnvironment(t *testing.T) {
	t.Parallel()
	e := readOne(t, `{"mcpServers": {"files": {"command": "/usr/bin/npx", "args": ["-y", "server", 7], "cwd": "/srv", "timeout": 60,
		"env": {"DEBUG": "${DEBUG:-false}", "TOKEN": "s3cret", "KEY": "${input:key}", "PORT": 80}}}}`)
	d := e.Draft()
	command := connectors.Command{Path: "/usr/bin/npx", Args: []string{"-y", "server", "7"}, Dir: "/srv"}
	env := connectors.Environment{"DEBUG": "false", "TOKEN": "s3cret", "PORT": "80"}
	if diff := cmp.Diff(command, d.Command); diff != "" || d.Transport != connectors.TransportStdio || d.URL != "" {
		t.Errorf("%+v %s", d, diff)
	}
	if diff := cmp.Diff(env, d.Env, cmp.Comparer(func(a, b secret.Text) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"The variable KEY is missing: the document has ${input:key}. Set it."}, e.Notices); diff != "" {
		t.Error(diff)
	}
	if problems := d.Normalized().Validate(); len(problems) > 0 {
		t.Error(problems)
	}
	if d := readOne(t, `{"command": ["/usr/bin/npx", "-y"], "args": ["x"], "env": {"KEY": "${KEY}"}}`).Draft(); d.Env != nil || !slices.Equal(d.Command.Args, []string{"-y", "x"}) {
		t.Errorf("%+v", d)
	}
}

func TestWrite_ProgramWithoutSecrets(t *testing.T) {
	t.Parallel()
	c := sampleConnector("files", func(c *connectors.Connector) {
		c.Transport, c.URL, c.EnvNames = connectors.TransportStdio, "", []string{"TOKEN"}
		c.Command = connectors.Command{Path: "/usr/bin/server", Args: []string{"--token", "s3cret", "--api-key=s3cret", "--root", "/srv", "-x"}, Dir: "/srv"}
	})
	for _, client := range clientconfig.Clients {
		raw, err := json.Marshal(clientconfig.Write(client, []connectors.Connector{c}))
		if err != nil || strings.Contains(string(raw), "s3cret") || strings.Contains(string(raw), `"url"`) {
			t.Errorf("%s: %s %v", client, raw, err)
		}
	}
	var asked []string
	for _, input := range clientconfig.Write(clientconfig.VSCode, []connectors.Connector{c}).Inputs {
		asked = append(asked, input.ID)
	}
	if diff := cmp.Diff([]string{"files-token", "files-api-key"}, asked); diff != "" { // each once
		t.Error(diff)
	}
	got := clientconfig.Write(clientconfig.Claude, []connectors.Connector{c}).MCPServers["files"]
	want := clientconfig.FileServer{
		Type: "stdio", Command: "/usr/bin/server", Dir: "/srv", Env: map[string]string{"TOKEN": "${FILES_TOKEN}"},
		Args: []string{"--token", "${FILES_TOKEN}", "--api-key=${FILES_API_KEY}", "--root", "/srv", "-x"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRead_SecretArgumentIsReported(t *testing.T) {
	t.Parallel()
	e := readOne(t, `{"command": "/bin/x", "args": ["--token", "s3cret"]}`)
	if len(e.Notices) != 1 || !strings.HasPrefix(e.Notices[0], "Argument 2 looks like a secret") || strings.Contains(e.Notices[0], "s3cret") {
		t.Error(e.Notices)
	}
	for _, args := range []string{`["--token", "-v"]`, `["--token="]`, `["server", "--root", "/"]`, `["--token"]`} {
		if e := readOne(t, `{"command": "/bin/x", "args": `+args+`}`); len(e.Notices) > 0 {
			t.Errorf("%s: %v", args, e.Notices)
		}
	}
}
