//go:build e2e && interop

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/testing/browser"
)

// installApps gets the example servers of MCP Apps once a test binary, at the versions of apps/package-lock.json.
var installApps = sync.OnceValue(func() error {
	if _, err := os.Stat("apps/node_modules/@modelcontextprotocol/server-wiki-explorer/package.json"); err == nil {
		return nil
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=5")
	cmd.Dir = "apps"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// appServers is an installation with example servers of MCP Apps, which run as programs.
type appServers struct {
	client
	dir   string // has a file of each server, with the tools that it was asked to call
	node  string
	added map[string]bool // connectors
}

func startAppServers(t *testing.T, examples []appExample) *appServers {
	t.Helper()
	needPeers(t)
	if err := installApps(); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(node())
	if err != nil {
		t.Fatal(err)
	}
	a := &appServers{dir: t.TempDir(), node: path, added: map[string]bool{}}
	if err := os.WriteFile(filepath.Join(a.dir, "one.pdf"), []byte(onePagePDF()), 0o600); err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, e := range examples {
		commands = append(commands, path+" "+strings.Join(a.nodeArguments(t, e), " "))
	}
	h := newHome(t, "PATCHBAY_STDIO_COMMANDS="+strings.Join(commands, ","))
	a.client = client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	return a
}

// clientFor returns the same installation for a subtest.
func (a *appServers) clientFor(t *testing.T) client { return client{t: t, base: a.base, key: a.key} }

// nodeArguments are those of Node for a server, with a count of its calls.
func (a *appServers) nodeArguments(t *testing.T, e appExample) []string {
	t.Helper()
	script, err := filepath.Abs("apps/counted.mjs")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{script, "server-" + e.slug, filepath.Join(a.dir, e.slug)}
	if e.hasFile {
		args = append(args, filepath.Join(a.dir, "one.pdf"))
	}
	return args
}

// addConnectors creates and syncs the connectors of servers that have none.
func (a *appServers) addConnectors(t *testing.T, examples ...appExample) {
	t.Helper()
	for _, e := range examples {
		if a.added[e.slug] {
			continue
		}
		a.added[e.slug] = true
		a.clientFor(t).must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": e.slug, "slug": e.slug, "transport": "stdio", "command": a.node, "args": a.nodeArguments(t, e), "timeout_ms": 60_000, "sync_interval_s": 0,
		})
		a.clientFor(t).must(http.StatusOK, http.MethodPost, "/connectors/"+e.slug+"/sync_tools", nil)
	}
}

// removeConnector deletes a connector, and so stops its program.
func (a *appServers) removeConnector(t *testing.T, e appExample) {
	t.Helper()
	if a.added[e.slug] {
		a.added[e.slug] = false
		a.clientFor(t).must(http.StatusNoContent, http.MethodDelete, "/api/v1/connectors/"+e.slug, nil)
	}
}

// calledTools are the tools that a server was asked to call so far.
func (a *appServers) calledTools(t *testing.T, slug string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.dir, slug))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// appHost is a browser with apps/host.html, which reaches the gateway as an agent.
type appHost struct {
	t       *testing.T
	tab     *browser.Tab
	sandbox string
	token   string // of the agent
}

func openAppHost(t *testing.T, base string) *appHost {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	h := &appHost{t: t}
	failed := func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) } // as when an app is closed
	proxy := &httputil.ReverseProxy{Transport: localTransport, FlushInterval: -1, ErrorHandler: failed, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.URL.Path = "/" + r.In.PathValue("path")
		r.Out.Header.Set("Authorization", "Bearer "+r.In.PathValue("token"))
		r.Out.Header.Del("Origin") // a host that is a program sends none
		// net/http closes the page's body when the reply begins. A transport that still wants its end would drop the connection.
		if r.Out.Body != nil {
			body, _ := io.ReadAll(r.Out.Body) // the transport refuses one that is too short
			r.Out.Body = io.NopCloser(bytes.NewReader(body))
		}
	}}
	pages := http.NewServeMux()
	pages.Handle("/as/{token}/{path...}", proxy)
	pages.Handle("/modules/", http.StripPrefix("/modules/", http.HandlerFunc(serveModule)))
	pages.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "apps/host.html") })
	// Another origin, as SEP-1865 requires. Apps reach nothing beyond it, also where the machine has a network.
	h.sandbox = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:")
		http.ServeFile(w, r, "apps/sandbox.html")
	})) + "/"
	host := serve(t, pages)
	h.tab = browser.Open(t)
	h.tab.Go(host)
	h.tab.WaitText("#state", "ready")
	return h
}

// serveModule serves a module of the published packages.
func serveModule(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ".mjs") {
		w.Header().Set("Content-Type", "text/javascript")
	}
	http.ServeFileFS(w, r, os.DirFS("apps/node_modules"), r.URL.Path)
}

// runScript begins something in the page, and waits for how it ends.
func (h *appHost) runScript(script, done string) string {
	h.t.Helper()
	browser.Eval[bool](h.tab, "("+script+", true)")
	var state string
	eventually(h.t, func() error {
		if state = browser.Eval[string](h.tab, `document.querySelector("#state").textContent`); state == "working" {
			return fmt.Errorf("%s goes on", script)
		}
		return nil
	})
	answer, ok := strings.CutPrefix(state, done+": ")
	if !ok {
		h.t.Fatalf("%.300s: %s", script, state)
	}
	return answer
}

// openApp calls a tool at an address, and shows its app. It returns when the app is initialized.
func (h *appHost) openApp(id, address, tool, input string, modern bool) {
	h.t.Helper()
	h.runScript(fmt.Sprintf("openApp({id: %q, address: %q, tool: %q, input: %s, modern: %t, sandbox: %q})", id, "/as/"+h.token+address, tool, input, modern, h.sandbox), "open")
}

// evaluateIn evaluates a script in an app.
func (h *appHost) evaluateIn(id, script string) string {
	h.t.Helper()
	return h.runScript(fmt.Sprintf("inApp(%q, %q)", id, script), "answer")
}

func (h *appHost) closeApp(id string) {
	h.t.Helper()
	h.runScript(fmt.Sprintf("closeApp(%q)", id), "closed")
}

// onePagePDF is a document with one page, which has a black rectangle.
func onePagePDF() string {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << >> >>",
		"<< /Length 18 >>\nstream\n50 50 200 100 re f\nendstream",
	}
	text, table := "%PDF-1.4\n", "0000000000 65535 f \n"
	for i, o := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(text))
		text += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	size := len(objects) + 1
	return text + fmt.Sprintf("xref\n0 %d\n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", size, table, size, len(text))
}
