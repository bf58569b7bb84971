//go:build e2e

package e2e_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAuthorize_Inspector: the MCP project's inspector, on the command line. It keeps its tokens in its home,
// so a second run needs no consent. In each era it asks for tools in that era's revision only.
func TestAuthorize_Inspector(t *testing.T) {
	t.Parallel()
	front := newBetween(t)
	d := newDoorstep(t, front.env...)
	for era, revision := range map[string]string{"legacy": "2025-11-25", "modern": newest} {
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
			d.renews(dir, era)
			if diff := cmp.Diff([]string{"tools/call in " + revision, "tools/list in " + revision}, front.since()); diff != "" {
				t.Errorf("what it asked for, and in which revision: %s", diff)
			}
		})
	}
}

// renews invalidates the inspector's access token. It refreshes by itself without consent, and stores the next
// refresh token: reuse of the former would revoke its access.
func (d doorstep) renews(dir, era string) {
	d.t.Helper()
	file, kept := keptBy(d.t, dir)
	access, refresh := regexp.MustCompile(`pb_agent_\w+`), regexp.MustCompile(`pb_refresh_\w+`)
	was := refresh.FindString(kept)
	if was == "" || !access.MatchString(kept) {
		d.t.Fatalf("the inspector keeps no tokens in %s", file)
	}
	past := access.ReplaceAllLiteralString(kept, "past-its-end")
	if err := os.WriteFile(file, []byte(past), 0o600); err != nil {
		d.t.Fatal(err)
	}
	for range 2 { // the second time with what the first has left
		again := d.inspects(dir, era, "tools/call", "--tool-name", "mcp_tools__search_issues", "--tool-arg", "query=login", "--stored-auth-only")
		if code := again.wait(); code != 0 || !strings.Contains(again.stdout.text(), "content") {
			d.t.Fatalf("past its end it ended with %d: %s\n%s", code, again.stdout.text(), again.stderr.text())
		}
	}
	if _, kept = keptBy(d.t, dir); refresh.FindString(kept) == was || !access.MatchString(kept) {
		d.t.Error("it has renewed nothing")
	}
}

// keptBy finds the file in which the inspector keeps its tokens.
func keptBy(t *testing.T, dir string) (file, kept string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "pb_refresh_") {
			file, kept = path, string(text)
		}
		return err
	})
	if err != nil || file == "" {
		t.Fatalf("it keeps no refresh token: %v", err)
	}
	return file, kept
}

// inspects starts the inspector with nothing but the gateway's address.
func (d doorstep) inspects(dir, era, method string, args ...string) *process {
	d.t.Helper()
	const inspector = "peers/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	cmd := exec.Command(node(), append([]string{
		inspector, "--cli", d.base + "/mcp", "--transport", "http", "--protocol-era", era, "--callback-url", fmt.Sprintf("http://127.0.0.1:%d/oauth/callback", freePort(d.t)), "--method", method,
	}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "BROWSER=true", "MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file") // there is no terminal; the browser is ours
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
