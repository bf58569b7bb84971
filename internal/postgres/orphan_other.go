//go:build !linux

package postgres

import (
	"context"
	"strconv"
	"syscall"
	"time"
)

// orphanPIDs stops a postmaster by pg_ctl, which knows its pid file. Without /proc there is no list of
// processes by directory.
func (c *Cluster) orphanPIDs(ctx context.Context) []int {
	pid := c.layout.readPIDFile().pid
	if pid == 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fastTimeout+immediateTimeout)
	defer cancel()
	seconds := strconv.Itoa(int(fastTimeout / time.Second))
	_ = runCommand(ctx, c.id.newCommand(c.bin, "pg_ctl", c.layout.clusterDir(), "stop", "-D", c.layout.pgData(), "-m", "fast", "-w", "-t", seconds))
	return nil
}

// dropStalePIDFile leaves the file to PostgreSQL: without /proc a reused pid looks like a running server.
func (c *Cluster) dropStalePIDFile() error { return nil }
