//go:build e2e

package e2e_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// installPeers gets the npm packages once a test binary, at the versions of peers/package-lock.json.
var installPeers = sync.OnceValue(func() error {
	if installed("@modelcontextprotocol/server-everything") && installed("@modelcontextprotocol/server-filesystem") && installed("oidc-provider") &&
		installed("@modelcontextprotocol/inspector") && installed("@modelcontextprotocol/client") && installed("standardwebhooks") && installed("smtp-server") &&
		installed("oauth4webapi") {
		return nil
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=5")
	cmd.Dir = "peers"
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

func installed(name string) bool {
	_, err := os.Stat(filepath.Join("peers/node_modules", name, "package.json"))
	return err == nil
}

// node is the Node.js of peers/package.json, or the machine's where there is none for it.
func node() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	path := "peers/node_modules/node-" + runtime.GOOS + "-" + cmp.Or(arch, runtime.GOARCH) + "/bin/node"
	if _, err := os.Stat(path); err != nil {
		return "node"
	}
	return path
}

// startPeer runs a script of peers until the test ends; env is "NAME=value", besides ours.
func startPeer(t *testing.T, env []string, script string, args ...string) *process {
	t.Helper()
	needPeers(t)
	cmd := exec.Command(node(), append([]string{filepath.Join("peers", script)}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return start(t, cmd)
}

// needPeers gets the peers. Without Node the test is skipped, or fails where CI=true.
func needPeers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real processes")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("Node is not installed, and CI=true")
		}
		t.Skip("Node is not installed")
	}
	if err := installPeers(); err != nil {
		t.Fatal(err)
	}
}
