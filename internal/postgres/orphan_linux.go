package postgres

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"patchbay/internal/fault"
)

// orphanPIDs lists the running PostgreSQL processes whose working directory is in the data directory. A zombie
// has no directory and does not count.
func (c *Cluster) orphanPIDs(context.Context) []int {
	data, err := filepath.EvalSymlinks(c.layout.pgData())
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err == nil && pid != os.Getpid() && isWorkingIn(pid, data) && isPostgres(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func isWorkingIn(pid int, data string) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	dir, err := os.Readlink(filepath.Join(proc, "cwd"))
	if err == nil {
		return dir == data
	}
	if !errors.Is(err, fs.ErrPermission) {
		return false
	}
	// A container without SYS_PTRACE hides other users' directories from root, but not the postmaster's
	// arguments.
	args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	return err == nil && bytes.Contains(args, []byte("-D\x00"+data+"\x00"))
}

// isPostgres excludes a person's shell in that directory.
func isPostgres(pid int) bool {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	return err == nil && bytes.HasPrefix(name, []byte("postgres"))
}

// dropStalePIDFile removes a killed postmaster's pid file if its pid is now another program's or a zombie's:
// PostgreSQL would take that for a postmaster and refuse to start. Containers reuse low pids soon.
func (c *Cluster) dropStalePIDFile() error {
	pid := c.layout.readPIDFile().pid
	if pid == 0 || !canSignal(pid) {
		return nil // PostgreSQL itself notices a dead pid
	}
	c.opts.Log.Warn("removing postmaster.pid of a dead PostgreSQL", "pid", pid)
	if err := os.Remove(c.layout.pidFile()); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The file postmaster.pid of a dead PostgreSQL cannot be removed.")
	}
	return nil
}

func canSignal(pid int) bool { return syscall.Kill(pid, 0) == nil }
