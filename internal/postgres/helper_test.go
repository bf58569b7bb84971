//go:build e2e

package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/postgres"
)

// The tests kill servers, so a server is another process of this test binary, which the environment selects.
const helperDir = "PATCHBAY_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperDir); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	_ = os.RemoveAll(templateDir)
	os.Exit(code)
}

func serve(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := postgres.Start(ctx, throwaway(dir))
	if err != nil {
		return err
	}
	fmt.Println("ready", c.URL())
	<-ctx.Done()
	return c.Stop(context.Background())
}

// throwaway skips fsync, but not the WAL: a commit survives a killed process.
func throwaway(dir string) postgres.Options {
	return postgres.Options{Dir: dir, Throwaway: true, Settings: map[string]string{"synchronous_commit": "on", "full_page_writes": "on"}}
}

// helperServer is a running helper process.
type helperServer struct {
	cmd    *exec.Cmd
	url    string
	exited chan error
}

func startServer(t *testing.T, dir string) *helperServer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ready {
		_ = cmd.Process.Kill()
		t.Fatalf("the server did not start: %q, %v", line, err)
	}
	s := &helperServer{cmd: cmd, url: url, exited: make(chan error, 1)}
	go func() { s.exited <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return s
}

// testTimeout bounds the wait for a process's end and for a restart of the cluster.
const testTimeout = 2 * time.Minute

// end sends a signal and waits for the server's end.
func (s *helperServer) end(t *testing.T, sig syscall.Signal) error {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.exited:
		return err
	case <-time.After(testTimeout):
		t.Fatalf("the server lives on after %v", sig)
		return nil
	}
}

// dataDir is a directory that PostgreSQL's user can pass through to.
func dataDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(makePassable(t), "data")
}

// passable is a temporary directory whose parents other users can pass through, unlike those of t.TempDir. A
// user namespace would do without, but a chroot and strict containers allow none.
func makePassable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// templateDir is set once a test has used the template.
var templateDir string

// makeTemplate creates a stopped cluster once: copying it costs a tenth of initdb.
var makeTemplate = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "patchbay-template-")
	if err != nil {
		return "", err
	}
	templateDir = dir
	if err := os.Chmod(dir, 0o711); err != nil {
		return dir, err
	}
	c, err := postgres.Start(context.Background(), throwaway(dir))
	if err != nil {
		return dir, err
	}
	return dir, c.Stop(context.Background())
})

// newClusterDir is a data directory with a cluster in it.
func newClusterDir(t *testing.T) string {
	t.Helper()
	from, err := makeTemplate()
	if err != nil {
		t.Fatalf("make a cluster to copy: %v", err)
	}
	dir := dataDir(t)
	data := filepath.Join("postgres", "data")
	if err := os.CopyFS(filepath.Join(dir, data), os.DirFS(filepath.Join(from, data))); err != nil {
		t.Fatalf("copy a cluster: %v", err)
	}
	for _, path := range []string{"postgres", data} {
		if err := os.Chmod(filepath.Join(dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func startCluster(t *testing.T, opts postgres.Options) *postgres.Cluster {
	t.Helper()
	c, err := postgres.Start(t.Context(), opts)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return c
}

func stopCluster(t *testing.T, c *postgres.Cluster) {
	t.Helper()
	if err := c.Stop(t.Context()); err != nil {
		t.Fatalf("stop: %v", err)
	}
}

func postmaster(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "postgres/data/postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func exec1(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func text(t *testing.T, url, sql string) string {
	t.Helper()
	value, err := query(t.Context(), url, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func query(ctx context.Context, url, sql string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var value string
	err = conn.QueryRow(ctx, sql).Scan(&value)
	return value, err
}
