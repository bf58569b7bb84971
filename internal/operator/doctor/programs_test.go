package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// findings are the doctor's lines about the allowed programs.
func findings(t *testing.T, list string) string {
	t.Helper()
	server, err := config.ServerFlags{Stdio: list}.Check()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	e := &report{out: &said}
	e.checkCommands(server)
	return said.String()
}

func TestDoctor_WarnsOfInterpreters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // past the umask
			t.Fatal(err)
		}
		return path
	}
	folder := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	python, server, open := file("python3.12", 0o755), file("mcp-time", 0o755), file("everybody", 0o757)
	link := filepath.Join(dir, "tool")
	if err := os.Symlink(python, link); err != nil {
		t.Fatal(err)
	}
	own, shared := folder("own", 0o755), folder("shared", 0o777)
	for list, want := range map[string]string{
		"":                                "OK       stdio commands none allowed",
		server:                            "OK       stdio commands " + server + " with any arguments: every tenant's admins can run it as Patchbay's user",
		"args=none " + server:             "OK       stdio commands " + server + " without arguments",
		server + " --stdio":               "OK       stdio commands " + server + " with its 1 arguments",
		"args=prefix " + server + " -a b": "OK       stdio commands " + server + " with its 2 arguments, and any after them",
		python:                            "NOTE     stdio commands " + python + " runs any code that its arguments name",
		link:                              "NOTE     stdio commands " + link + " runs any code that its arguments name",
		"args=prefix " + python + " -u":   "NOTE     stdio commands " + python + " runs any code that its arguments name",
		python + " -u /opt/x.py":          "OK       stdio commands " + python + " with its 2 arguments",
		"cwd=" + own + " " + server:       "OK       stdio commands " + server + " with any arguments",
		"cwd=" + shared + " " + server:    "PROBLEM  stdio commands " + server + " is allowed in the folder " + shared + ", which is writable by everyone",
		"cwd=" + dir + "/no " + server:    "PROBLEM  stdio commands " + server + " is allowed in the folder " + dir + "/no, which doesn't exist here.",
		dir + "/no":                       "PROBLEM  stdio commands " + dir + "/no is allowed in PATCHBAY_STDIO_COMMANDS but doesn't exist here.",
		own:                               "PROBLEM  stdio commands " + own + " is allowed in PATCHBAY_STDIO_COMMANDS but isn't a program.",
		open + " -v":                      "PROBLEM  stdio commands " + open + " is allowed in PATCHBAY_STDIO_COMMANDS but writable by everyone",
	} {
		if got := findings(t, list); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s:\n%s", list, got)
		}
	}
}

func TestDoctor_NamesRefusedStoredPrograms(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	stored := func(slug string, change func(*connectors.Draft)) connectors.Connector {
		return w.Connector(t, func(d *connectors.Draft) {
			d.Slug, d.Transport, d.URL = slug, connectors.TransportStdio, ""
			d.Command = connectors.Command{Path: "/usr/bin/npx", Args: []string{"some-server"}}
			change(d)
		})
	}
	stored("fine", func(*connectors.Draft) {})
	stored("folder", func(d *connectors.Draft) { d.Command.Dir = "/tmp/evil" })
	stored("args", func(d *connectors.Draft) { d.Command.Args = nil })
	variable := stored("variable", func(*connectors.Draft) {})
	if err := w.Door().Connectors().SetEnvironment(t.Context(), variable, connectors.Environment{"TOKEN": "sekret", "NODE_OPTIONS": "sekret"}); err != nil {
		t.Fatal(err)
	}
	w.Connector(t)
	examine := func(allowed connectors.AllowedCommand) string {
		var said bytes.Buffer
		e := &report{out: &said, allowedCommands: connectors.AllowedCommands{allowed}}
		e.checkStoredPrograms(t.Context(), w.St)
		if e.problems > 0 || strings.Contains(said.String(), "sekret") {
			t.Errorf("%d problems:\n%s", e.problems, said.String())
		}
		return said.String()
	}
	got := examine(connectors.AllowedCommand{Path: "/usr/bin/npx", Args: []string{"some-server"}})
	for _, want := range []string{
		"isn't started. /usr/bin/npx isn't allowed to run in this folder. Leave the folder empty.", "isn't started. /usr/bin/npx isn't allowed with these arguments.",
		"isn't started. /usr/bin/npx isn't allowed to receive NODE_OPTIONS", "/usr/bin/npx isn't allowed to receive TOKEN: the operator must allow it with env=TOKEN.",
		"NODE_OPTIONS can't be set: it changes which code runs.",
	} {
		if !strings.Contains(got, want) || strings.Count(got, "\n") != 3 {
			t.Errorf("%q is not said:\n%s", want, got)
		}
	}
	if got := examine(connectors.AllowedCommand{Path: "/usr/bin/other"}); strings.Count(got, "NOTE") != 4 {
		t.Errorf("another program is allowed:\n%s", got)
	}
}
