package pgtest

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"patchbay/internal/postgres"
)

// startTimeout bounds the start of the private server: two cores may be busy with other packages' tests.
const startTimeout = 4 * time.Minute

// server returns the address of the server's maintenance database, starting a private server once per binary.
var server = sync.OnceValues(func() (string, error) {
	if url := os.Getenv("TEST_DATABASE_URL"); url != "" {
		return url, dropOldDatabases(url)
	}
	return startServer()
})

func startServer() (string, error) {
	dir, err := os.MkdirTemp(memory(), "patchbay-test-")
	if err != nil {
		return "", fmt.Errorf("make the test server's directory: %w", err)
	}
	if err := leaveNothing(dir); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := copyCluster(ctx, dir); err != nil {
		return "", err
	}
	cluster, err := startCluster(ctx, dir)
	if err != nil {
		return "", err
	}
	return cluster.URL(), nil
}

func startCluster(ctx context.Context, dir string) (*postgres.Cluster, error) {
	cluster, err := postgres.Start(ctx, postgres.Options{
		Dir: dir, Throwaway: true,
		Settings: map[string]string{
			"max_connections": "300",
			"max_wal_size":    "4GB",   // no checkpoint in between
			"shared_buffers":  "128MB", // PostgreSQL's default; initdb writes less where little shared memory is free
		},
	})
	if err != nil {
		return nil, fmt.Errorf("start the test server: %w", err)
	}
	return cluster, nil
}

// memory is a directory in memory, where there is one with room for it; else the usual temporary one. The name is
// short enough for a socket.
func memory() string {
	const room = 1 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &stat); err != nil || stat.Bavail*uint64(stat.Bsize) < room {
		return ""
	}
	if probe, err := os.MkdirTemp("/dev/shm", "patchbay-probe-"); err == nil {
		_ = os.Remove(probe)
		return "/dev/shm"
	}
	return ""
}

// lifeline is held, not used: the garbage collector would close what nobody refers to.
var lifeline io.Closer //nolint:unused // held for its being held

// leaveNothing starts a shell that waits for this process's end, by whatever cause, then ends the server and removes
// its directory. A test binary has no hook for its end, and a killed one could not run it.
func leaveNothing(dir string) error {
	const script = `
read -r _
pid=$(head -n 1 "$1/postgres/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then
	kill -QUIT "$pid" 2>/dev/null
	n=0
	while kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n + 1)); done
fi
rm -rf "$1"
`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// The pipe's other end is ours and never closed: the kernel closes it when we end. Nothing else is inherited, since
	// `go test` waits for whoever holds its output.
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("make the clean-up's pipe: %w", err)
	}
	lifeline = pipe
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the clean-up: %w", err)
	}
	return nil
}
