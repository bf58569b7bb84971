//go:build !linux

package postgres

import (
	"context"
	"strconv"
	"syscall"
	"time"
)

// leftovers asks pg_ctl, which knows a postmaster by its process id file, to stop it; without /proc there is no list
// of processes by directory.
func (c *Cluster) leftovers(ctx context.Context) []int {
	pid := c.layout.readPIDFile().pid
	if pid == 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fastPatience+immediatePatience)
	defer cancel()
	seconds := strconv.Itoa(int(fastPatience / time.Second))
	_ = run(ctx, c.id.program(c.bin, "pg_ctl", c.layout.home(), "stop", "-D", c.layout.data(), "-m", "fast", "-w", "-t", seconds))
	return nil
}

// dropStalePIDFile leaves the file to PostgreSQL: without /proc nothing tells a reused process id from a living server.
func (c *Cluster) dropStalePIDFile() error { return nil }
