package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/fault"
)

// lockPurpose is the kind of the lock's holder: a server holds it until it ends, a command briefly.
type lockPurpose string

const (
	purposeServing lockPurpose = "server"
	purposeCommand lockPurpose = "command"
)

// commandTimeout bounds a server's wait for a command that runs the cluster for itself.
const commandTimeout = 20 * time.Second

// fileLock is a held flock. The kernel releases it when its holder ends. PostgreSQL does not inherit it.
type fileLock struct{ file *os.File }

func (l *fileLock) release() {
	if l == nil {
		return
	}
	// Close is not enough: a child that is just being forked has a copy of the descriptor until it execs.
	_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	_ = l.file.Close()
}

// isCurrent reports whether the locked file is still the one at its path. If the data directory was replaced,
// the lock does not protect the new one.
func (l *fileLock) isCurrent() bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.file.Name())
	return err == nil && os.SameFile(mine, there)
}

// tryLock returns nil without an error if another process holds the lock.
func tryLock(path string, how int) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The data directory %s cannot be written.", filepath.Dir(path)))
	}
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return &fileLock{file}, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil //nolint:nilnil // held by another: neither a lock nor a failure
	}
	return nil, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be locked.", path))
}

func clusterLock(dir string) string { return filepath.Join(dir, "postgres.lock") }
func usersLock(dir string) string   { return filepath.Join(dir, "postgres.users") }

// tryClusterLock locks the cluster and writes the holder to the file.
func tryClusterLock(dir string, purpose lockPurpose) (*fileLock, error) {
	lock, err := tryLock(clusterLock(dir), syscall.LOCK_EX)
	if lock == nil {
		return nil, err
	}
	note := fmt.Sprintf("%s %d\n", purpose, os.Getpid())
	if err := errors.Join(lock.file.Truncate(0), writeAt(lock.file, note)); err != nil {
		lock.release()
		return nil, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The data directory %s cannot be written.", dir))
	}
	return lock, nil
}

func writeAt(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text), 0)
	return err
}

// lockForServer locks the cluster. It fails at once if a server holds the lock, and waits for a command.
func lockForServer(ctx context.Context, dir string) (*fileLock, error) {
	deadline := time.Now().Add(commandTimeout)
	for {
		lock, err := tryClusterLock(dir, purposeServing)
		if lock != nil || err != nil {
			return lock, err
		}
		kind, pid := lockHolder(dir)
		if kind != purposeCommand || time.Now().After(deadline) {
			return nil, fault.Errorf(fault.Conflict, "Another Patchbay%s already uses the data directory %s.", pid, dir)
		}
		if err := sleepOrDone(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// lockHolder reads the holder; the pid is text for a sentence.
func lockHolder(dir string) (lockPurpose, string) {
	text, err := os.ReadFile(clusterLock(dir))
	if err != nil {
		return purposeServing, ""
	}
	kind, pid, _ := strings.Cut(string(bytes.TrimSpace(text)), " ")
	if pid != "" {
		pid = " (process " + pid + ")"
	}
	return lockPurpose(kind), pid
}

func sleepOrDone(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
