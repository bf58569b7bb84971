//go:build e2e && interop

package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const serversTable = "interop/servers.txt"

// installInterop gets the npm packages once a test binary, at the versions of interop/package-lock.json.
var installInterop = sync.OnceValue(func() error {
	if _, err := os.Stat("interop/node_modules/.package-lock.json"); err == nil { // written last
		return nil
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=5")
	cmd.Dir = "interop"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// needInterop gets the packages of interop/, and a Node.js that is new enough for them.
func needInterop(t *testing.T) {
	t.Helper()
	needPeers(t)
	if err := installInterop(); err != nil {
		t.Fatal(err)
	}
}

// npmVersion is the installed version of a package of interop/.
func npmVersion(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("interop/node_modules", name, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Version string }
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return p.Version
}

// goModules are those that require Go packages of interop/, each with the versions that it needs.
var goModules = []string{"interop", "interop/grafana"}

// goModule returns the directory of the module that requires a package's module, and the latter's version.
func goModule(t *testing.T, name string) (dir, version string) {
	t.Helper()
	for _, dir := range goModules {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(strings.TrimPrefix(line, "require ")); len(fields) > 1 && strings.HasPrefix(name+"/", fields[0]+"/") && strings.HasPrefix(fields[1], "v") {
				return dir, fields[1]
			}
		}
	}
	t.Fatalf("no go.mod of %s requires the module of %s", goModules, name)
	return "", ""
}

// goProgram builds a program of goModules, once for a version. A server without script is a program itself.
func goProgram(t *testing.T, s interopServer) string {
	t.Helper()
	dir, version := goModule(t, s.name)
	path, err := filepath.Abs(filepath.Join("../bin/interop", strings.ReplaceAll(s.name, "/", "_")+"@"+version))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil && s.script == "" {
		return path
	}
	source := cmp.Or(s.script, s.name)
	if s.script != "" {
		source = "./" + s.script
	}
	cmd := exec.Command("go", "build", "-o", path, source)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", source, err, out)
	}
	return path
}

// replaceIn replaces what stands for something in arguments or an environment.
func replaceIn(list []string, replacer *strings.Replacer) []string {
	out := []string{}
	for _, one := range list {
		out = append(out, replacer.Replace(one))
	}
	return out
}

// command returns the program of a server, its arguments and its environment.
func (s interopServer) command(t *testing.T, dir string, port int) (path string, args, env []string) {
	t.Helper()
	modules, err := filepath.Abs("interop/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.Abs(node()); err != nil {
		t.Fatal(err)
	}
	if node() == "node" {
		path, _ = exec.LookPath("node")
	}
	replacer := strings.NewReplacer("{dir}", dir, "{port}", fmt.Sprint(port), "{modules}", modules, "{node}", path)
	args, env = replaceIn(s.args, replacer), replaceIn(s.env, replacer)
	if s.isGo() {
		return goProgram(t, s), args, env
	}
	script := filepath.Join(modules, s.name, s.script)
	if strings.HasPrefix(s.script, "servers/") {
		script = filepath.Join(filepath.Dir(modules), s.script)
	}
	if !strings.HasSuffix(script, "js") {
		return script, args, env
	}
	return path, append([]string{script}, args...), env
}

// interopHost is an installation that runs the programs of servers.
type interopHost struct {
	client
	dir string   // home of the programs
	env []string // of the programs, besides their own
}

func startInteropHost(t *testing.T) *interopHost {
	t.Helper()
	needInterop(t)
	h := &interopHost{dir: t.TempDir()}
	var names, programs []string
	for _, s := range interopServers {
		path, _, env := s.command(t, h.dir, 0)
		programs = append(programs, path)
		for _, line := range env {
			name, _, _ := strings.Cut(line, "=")
			names = append(names, "env="+name)
		}
	}
	slices.Sort(names)
	slices.Sort(programs)
	prefix := strings.Join(slices.Compact(names), " ")
	programs = slices.Compact(programs)
	for i, path := range programs {
		programs[i] = prefix + " " + path
	}
	h.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "LANG=C.UTF-8"}
	home := newHome(t, "HOME="+h.dir, "LANG=C.UTF-8", "PATCHBAY_STDIO_COMMANDS="+strings.Join(programs, ","))
	h.client = client{t: t, base: home.serve().base, key: home.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	return h
}

// TestServersAreListedAsTheySay compares the tools of each server, and the results of some calls, with those of a plain conversation
// with the server.
func TestServersAreListedAsTheySay(t *testing.T) {
	t.Parallel()
	h := startInteropHost(t)
	var slugs []string
	for _, s := range interopServers {
		slugs = append(slugs, s.slug)
	}
	wantRowsOf(t, serversTable, slugs)
	t.Run("servers", func(t *testing.T) {
		for _, s := range interopServers {
			t.Run(s.slug, func(t *testing.T) {
				t.Parallel()
				h.checkServer(t, s)
			})
		}
	})
}

func (h *interopHost) checkServer(t *testing.T, s interopServer) {
	port := 0
	if s.path != "" {
		port = freePort(t)
	}
	path, args, env := s.command(t, h.dir, port)
	all := slices.Concat(h.env, env)
	connector := object{"name": s.slug, "slug": s.slug, "timeout_ms": 60_000, "sync_interval_s": 0}
	var plain *plainSession
	if s.path == "" {
		plain = openProgram(t, s.modern, path, args, all)
		given := object{}
		for _, line := range env {
			name, value, _ := strings.Cut(line, "=")
			given[name] = value
		}
		connector["transport"], connector["command"], connector["args"], connector["env"] = "stdio", path, args, given
	} else {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = h.dir, all
		address := startOnPort(t, cmd, port) + s.path
		plain = openPlain(t, s, address)
		connector["url"], connector["transport"] = address, s.transport()
	}
	c := client{t: t, base: h.base, key: h.key}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", connector)
	defer c.must(http.StatusNoContent, http.MethodDelete, "/api/v1/connectors/"+s.slug, nil)
	c.must(http.StatusOK, http.MethodPost, "/connectors/"+s.slug+"/sync_tools", nil)
	robin := c.hire("agent-of-"+s.slug, s.slug)
	through := openStreamable(t, s.modern, h.base+"/mcp/"+s.slug, robin.token)

	direct, listed := plain.listTools(), through.listTools()
	equal := 0
	for _, name := range slices.Sorted(maps.Keys(direct)) {
		if listed[name] == direct[name] {
			equal++
		} else {
			showDifference(t, name, direct[name], listed[name])
		}
	}
	if len(listed) != len(direct) {
		t.Errorf("the gateway lists %d tools, the server %d", len(listed), len(direct))
	}
	same := 0
	for _, call := range s.calls {
		arguments := strings.ReplaceAll(cmp.Or(call.arguments, "{}"), "{dir}", h.dir)
		want, have := plain.callTool(call.tool, arguments), through.callTool(call.tool, arguments)
		if call.differs != nil {
			want, have = call.differs.ReplaceAllString(want, "…"), call.differs.ReplaceAllString(have, "…")
		}
		if want == have {
			same++
		} else {
			showDifference(t, call.tool, want, have)
		}
	}
	calls := "–"
	if len(s.calls) > 0 {
		calls = fmt.Sprintf("%d of %d", same, len(s.calls))
	}
	wantRow(t, serversTable, s.slug, s.name, s.version(t), s.transport(), len(direct), fmt.Sprintf("%d of %d", equal, len(direct)), calls, s.note)
}

// showDifference shows two texts around their first difference.
func showDifference(t *testing.T, what, direct, through string) {
	t.Helper()
	i := 0
	for i < min(len(direct), len(through)) && direct[i] == through[i] {
		i++
	}
	from := max(i-100, 0)
	t.Errorf("%s, from byte %d:\nserver  %.300s\ngateway %.300s", what, from, direct[min(from, len(direct)):], through[min(from, len(through)):])
}

// startOnPort starts a program that listens on a port, and returns its address.
func startOnPort(t *testing.T, cmd *exec.Cmd, port int) string {
	t.Helper()
	p := start(t, cmd)
	eventually(t, func() error {
		select {
		case <-p.exited:
			t.Fatalf("%s ended: %s", strings.Join(cmd.Args, " "), p.stderr.tail(20))
		default:
		}
		connection, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", port))
		if err != nil {
			return err
		}
		return connection.Close()
	})
	return fmt.Sprintf("http://localhost:%d", port)
}

func openPlain(t *testing.T, s interopServer, address string) *plainSession {
	t.Helper()
	if s.sse {
		return openEventStream(t, address)
	}
	return openStreamable(t, s.modern, address, "")
}
