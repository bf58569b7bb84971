//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const everything = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"

// everythingCommand is npm's server-everything as a program: Node's path, and the arguments.
func everythingCommand(t *testing.T) (path string, args []string) {
	t.Helper()
	needPeers(t)
	path, err := filepath.Abs(node())
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("peers", everything))
	if err != nil {
		t.Fatal(err)
	}
	return path, []string{script, "stdio"}
}

// TestTheSameToolsArriveOverEveryTransport syncs server-everything as a program, over the HTTP+SSE of 2024 and over Streamable HTTP:
// with nothing said but the address, too.
func TestTheSameToolsArriveOverEveryTransport(t *testing.T) {
	t.Parallel()
	path, args := everythingCommand(t)
	old := startEverythingSSE(t)
	h := newHome(t, "PATCHBAY_STDIO_COMMANDS=env=SOME_TOKEN "+path+" "+strings.Join(args, " "))
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	for name, connector := range map[string]object{
		"streamable": {"url": startEverything(t)},
		"old":        {"url": old, "transport": "sse"},
		"found":      {"url": old},
		"program":    {"transport": "stdio", "command": path, "args": args, "env": object{"SOME_TOKEN": "sekret-of-the-program"}},
	} {
		connector["name"], connector["timeout_ms"] = name, 60_000
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", connector)
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+name+"/sync_tools", nil)
	}
	want := c.tools("streamable")
	for _, name := range []string{"old", "found", "program"} {
		if diff := cmp.Diff(want, c.tools(name)); diff != "" || len(want) < 5 {
			t.Errorf("%s: %s", name, diff)
		}
	}
	c.must(http.StatusOK, http.MethodPost, "/connectors/program/sync_tools", nil) // its era is known now
	wantNoProgram(t, "sekret-of-the-program")
	if text := s.stdout.text() + s.stderr.text(); strings.Contains(text, "sekret-of-the-program") {
		t.Error("the log holds what the program's environment holds")
	}
}

// TestAgentsHaveProgramsOfTheirOwn uses a tool of server-everything that turns something on for its session, and off when it is
// called again.
func TestAgentsHaveProgramsOfTheirOwn(t *testing.T) {
	t.Parallel()
	path, args := everythingCommand(t)
	h := newHome(t, "PATCHBAY_STDIO_COMMANDS="+path+" "+strings.Join(args, " "))
	c := client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	for _, agent := range []string{"one", "two"} {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": agent, "approval": "auto"})
	}
	toggle := func(agent, connector string) string {
		call := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/"+agent+"/tool_calls?format=text", object{"tool": "mcp_" + connector + "__toggle-simulated-logging"})
		text, _ := call["formatted"].(string)
		word, _, _ := strings.Cut(text, " ")
		return word
	}
	round := func(connector string) []string {
		return []string{toggle("one", connector), toggle("two", connector), toggle("one", connector)}
	}
	for _, connector := range []string{"own", "shared"} {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": connector, "transport": "stdio", "command": path, "args": args, "timeout_ms": 60_000, "session_per_agent": connector == "own",
		})
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+connector+"/sync_tools", nil)
		for _, agent := range []string{"one", "two"} {
			c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/"+agent+"/connectors/"+connector, object{"tools": "all"})
		}
	}
	if diff := cmp.Diff([]string{"Started", "Started", "Stopped"}, round("own")); diff != "" {
		t.Errorf("sessions of their own (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Started", "Stopped", "Started"}, round("shared")); diff != "" {
		t.Errorf("a shared session (-want +got):\n%s", diff)
	}
}

// TestOnlyWhatTheOperatorAllowsIsStarted asks for other programs, and for other arguments.
func TestOnlyWhatTheOperatorAllowsIsStarted(t *testing.T) {
	t.Parallel()
	h := newHome(t, "PATCHBAY_STDIO_COMMANDS=/bin/cat, /bin/echo hello")
	c := client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	for _, connector := range []object{
		{"command": "/bin/sh", "args": []string{"-c", "id"}},
		{"command": "/bin/echo"},
		{"command": "/bin/echo", "args": []string{"hello", "you"}},
		{"command": "/bin/../bin/sh"},
		{"command": "cat"},
		{"command": "/bin/cat", "env": object{"LD_PRELOAD": "/tmp/x.so"}},
		{"command": "/bin/echo", "args": []string{"hello"}, "cwd": "/tmp"},
		{"command": "/bin/echo", "args": []string{"hello"}, "env": object{"HTTPS_PROXY": "http://127.0.0.1:9"}},
	} {
		connector["name"], connector["transport"] = "Other", "stdio"
		for _, path := range []string{"/api/v1/connectors", "/api/v1/connectors/test"} {
			c.must(http.StatusUnprocessableEntity, http.MethodPost, path, connector)
		}
	}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Cat", "transport": "stdio", "command": "/bin/cat", "timeout_ms": 1000, "retry_attempts": 0})
	if status, answer := c.call(http.MethodPost, "/connectors/cat/sync_tools", nil); status != http.StatusBadGateway {
		t.Errorf("a program that only repeats: %d, %v", status, answer)
	}
	if found := h.run("doctor"); !strings.Contains(found, "OK       stdio connectors 1, all allowed") {
		t.Errorf("the doctor says:\n%s", found)
	}
	if found := h.run("doctor", "--stdio-commands", "args=none cwd=none /bin/cat, /bin/sh"); !strings.Contains(found, "/bin/cat without arguments") ||
		!strings.Contains(found, "/bin/sh runs any code that its arguments name") || !strings.Contains(found, "stdio connectors 1, all allowed") {
		t.Errorf("of another list the doctor says:\n%s", found)
	}
	if found := h.run("doctor", "--stdio-commands", "/bin/cat -u"); !strings.Contains(found, "NOTE     stdio connectors cat of the tenant default isn't started. /bin/cat isn't allowed with these arguments") {
		t.Errorf("of a stricter list the doctor says:\n%s", found)
	}
	eventually(t, func() error {
		for _, line := range childrenOf(os.Getpid()) {
			if strings.HasPrefix(line, "/bin/cat") {
				return fmt.Errorf("%s is left", line)
			}
		}
		return nil
	})
}

// wantNoProgram wants no process to have something in its environment, once those that were killed are dead.
func wantNoProgram(t *testing.T, mark string) {
	t.Helper()
	eventually(t, func() error {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			if environ, _ := os.ReadFile(file); bytes.Contains(environ, []byte(mark)) {
				return fmt.Errorf("%s is left", filepath.Dir(file))
			}
		}
		return nil
	})
}

// childrenOf are the command lines below a process.
func childrenOf(ancestor int) []string {
	parents, lines := map[string]string{}, map[string]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, _ := os.ReadFile(file)
		pid := filepath.Base(filepath.Dir(file))
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 1 {
			parents[pid] = string(fields[1])
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			lines[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
	var below []string
	for pid := range parents {
		for up := parents[pid]; up != "" && up != "0"; up = parents[up] {
			if up == fmt.Sprint(ancestor) {
				below = append(below, lines[pid])
				break
			}
		}
	}
	slices.Sort(below)
	return below
}

// startEverythingSSE runs npm's server-everything with the HTTP+SSE of 2024, and returns the stream's address.
func startEverythingSSE(t *testing.T) string {
	t.Helper()
	port := freePort(t)
	p := startPeer(t, []string{fmt.Sprintf("PORT=%d", port)}, everything, "sse")
	if _, ok := p.stderr.wait("running on port", p.exited); !ok {
		t.Fatalf("server-everything did not start: %s", p.stderr.text())
	}
	return fmt.Sprintf("http://127.0.0.1:%d/sse", port)
}
