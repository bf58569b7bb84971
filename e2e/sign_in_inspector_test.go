package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestTheInspectorSignsInFromTheGatewaysAddressAlone: the MCP project's inspector, on the command line. It keeps its tokens in its home: nobody is asked a
// second time.
func TestTheInspectorSignsInFromTheGatewaysAddressAlone(t *testing.T) {
	t.Parallel()
	d := newDoorstep(t)
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			d := doorstep{home: &home{t: t, dir: d.dir, env: d.env}, base: d.base}
			dir := t.TempDir()
			asks := d.inspects(dir, era, "tools/list")
			d.answers(asks.finds(regexp.MustCompile(regexp.QuoteMeta(d.base)+`/oauth/authorize\?[^\s"]+`)), "MCP Inspector", "close this")
			if code := asks.wait(); code != 0 || !strings.Contains(asks.stdout.text(), "mcp_tools__search_issues") {
				t.Fatalf("it ended with %d: %s\n%s", code, asks.stdout.text(), asks.stderr.text())
			}
			calls := d.inspects(dir, era, "tools/call", "--tool-name", "mcp_tools__search_issues", "--tool-arg", "query=login", "--stored-auth-only")
			if code := calls.wait(); code != 0 || !strings.Contains(calls.stdout.text(), "content") {
				t.Errorf("with what it kept it ended with %d: %s\n%s", code, calls.stdout.text(), calls.stderr.text())
			}
		})
	}
}

// inspects starts the inspector with nothing but the gateway's address.
func (d doorstep) inspects(dir, era, method string, args ...string) *process {
	d.t.Helper()
	const inspector = "peers/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	cmd := exec.Command(node(), append([]string{
		inspector, "--cli", d.base + "/mcp", "--transport", "http", "--protocol-era", era, "--callback-url", fmt.Sprintf("http://127.0.0.1:%d/oauth/callback", freePort(d.t)), "--method", method,
	}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "BROWSER=true", "MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file") // nobody is at a terminal; the browser is ours
	return start(d.t, cmd)
}

// finds waits for what a program says, wherever it says it.
func (p *process) finds(what *regexp.Regexp) (found string) {
	p.t.Helper()
	eventually(p.t, func() error {
		if found = what.FindString(p.stdout.text() + "\n" + p.stderr.text()); found != "" {
			return nil
		}
		select {
		case <-p.exited:
			p.t.Fatalf("it ended: %s\n%s", p.stdout.text(), p.stderr.text())
		default:
		}
		return fmt.Errorf("it does not say %s", what)
	})
	return found
}
