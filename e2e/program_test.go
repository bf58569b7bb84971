//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait for a process. It is long because all tests share the machine.
const patience = 90 * time.Second

// binary builds the program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "patchbay-e2e-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "patchbay")
	out, err := exec.Command("go", "build", "-o", path, "patchbay/cmd/server").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	if os.Getenv(sdkPeer) != "" {
		beSDKServer()
		return
	}
	code := m.Run()
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	if dir := migrated.dir; dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// home is one installation: a data directory and the environment that goes with it.
type home struct {
	t     *testing.T
	dir   string
	env   []string
	empty bool // the server makes its database cluster itself
}

// newHome makes an installation with the given extra environment, "NAME=value".
func newHome(t *testing.T, env ...string) *home {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real processes")
	}
	// Not t.TempDir(): its parents are closed to the user that PostgreSQL runs as where the tests run as root.
	dir, err := os.MkdirTemp(memory(), "pb-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the installation is kept in %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the installation: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir}
	h.env = append(cleanEnv(), "PATCHBAY_DATA_DIR="+h.data(), "PATCHBAY_ADDR=127.0.0.1:0", "PATCHBAY_LOG_LEVEL=debug",
		"PATCHBAY_API_RATE=0", "PATCHBAY_API_TENANT_RATE=0", "PATCHBAY_STRANGER_RATE=0", "PATCHBAY_AGENT_RATE=0") // tests ask as fast as they can
	if mode := os.Getenv("E2E_HTTP"); mode != "" {
		h.env = append(h.env, "PATCHBAY_HTTP="+mode)
	}
	h.env = append(h.env, env...)
	return h
}

// inEachHTTPMode runs test once with each value of PATCHBAY_HTTP. setting is for newHome.
func inEachHTTPMode(t *testing.T, test func(t *testing.T, setting string)) {
	t.Helper()
	for _, mode := range []string{"fast", "standard"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(t, "PATCHBAY_HTTP="+mode)
		})
	}
}

// memory is a directory in memory, where there is one with room for several clusters: what PostgreSQL syncs to a disk
// takes most of its start. Empty is the usual directory for temporary files.
func memory() string {
	const dir, room = "/dev/shm", 2 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil || stat.Bavail*uint64(stat.Bsize) < room {
		return ""
	}
	return dir
}

func (h *home) data() string { return filepath.Join(h.dir, "data") }

// cleanEnv is our environment without settings of the machine that would reach the program.
func cleanEnv() []string {
	var env []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "PATCHBAY_") && !strings.HasPrefix(line, "DATABASE_URL=") {
			env = append(env, line)
		}
	}
	// What a developer's machine says about PostgreSQL stays.
	if bin := os.Getenv("PATCHBAY_POSTGRES_BIN"); bin != "" {
		env = append(env, "PATCHBAY_POSTGRES_BIN="+bin)
	}
	return env
}

func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	h.t.Helper()
	path, err := binary()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// outcome is what a command left behind.
type outcome struct {
	stdout, stderr string
	code           int
}

// try runs a command to its end.
func (h *home) try(args ...string) outcome {
	h.t.Helper()
	if _, err := binary(); err != nil { // the first to ask waits for it to be built, which on a busy machine takes longer than a command may
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	cmd := h.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		h.t.Fatalf("patchbay %s: %v", strings.Join(args, " "), err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// run runs a command that has to succeed, and returns its standard output without the last line's end.
func (h *home) run(args ...string) string {
	h.t.Helper()
	o := h.try(args...)
	if o.code != 0 {
		h.t.Fatalf("patchbay %s ended with %d: %s", strings.Join(args, " "), o.code, o.stderr)
	}
	return strings.TrimSuffix(o.stdout, "\n")
}

// server is a running patchbay serve.
type server struct {
	*process
	base string // without a slash at its end
}

// serve starts the server and waits until it is ready.
func (h *home) serve(args ...string) *server {
	h.t.Helper()
	s := h.launch(args...)
	s.waitReady()
	return s
}

// launch starts the server, which is what the program does without a command, and does not wait.
func (h *home) launch(args ...string) *server {
	h.t.Helper()
	if !h.empty {
		h.copyCluster()
	}
	return &server{process: h.start(args...)}
}

// waitReady waits for the line with the address, and for /readyz.
func (s *server) waitReady() {
	s.t.Helper()
	s.base = strings.TrimRight(addressIn(s.line("is at http")), "/")
	eventually(s.t, func() error { return s.readyz(http.StatusOK) })
}

func (s *server) readyz(want int) error {
	res, err := localClient.Get(s.base + "/readyz")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != want {
		return fmt.Errorf("/readyz answers %d: %s", res.StatusCode, body)
	}
	return nil
}

// devMCP starts the program's own small MCP server and returns its address, without a path.
func (h *home) devMCP(args ...string) string {
	h.t.Helper()
	p := h.start(append([]string{"dev-mcp", "--addr", "127.0.0.1:0"}, args...)...)
	return strings.TrimSuffix(addressIn(p.line("/mcp ")), "/mcp")
}

// addressIn is the first word of the line that is an address.
func addressIn(line string) string {
	for word := range strings.FieldsSeq(line) {
		if strings.HasPrefix(word, "http") {
			return word
		}
	}
	return ""
}

// postmaster reads the process id of the embedded PostgreSQL.
func (h *home) postmaster() int {
	h.t.Helper()
	var pid int
	err := filepath.WalkDir(h.data(), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() != "postmaster.pid" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err = strconv.Atoi(strings.TrimSpace(first))
		return err
	})
	if err != nil || pid == 0 {
		h.t.Fatalf("there is no postmaster.pid below %s: %v", h.data(), err)
	}
	return pid
}
