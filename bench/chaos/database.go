package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/postgres"
)

// smallDisk is a small filesystem, if the machine allows to mount one.
type smallDisk struct {
	dir     string
	mounted bool
}

// newSmallDisk mounts a tmpfs at dir. Without the permission dir is an ordinary directory, which is never
// filled.
func newSmallDisk(ctx context.Context, dir string, mib int) (smallDisk, error) {
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // as root, PostgreSQL runs as another user
		return smallDisk{}, err
	}
	err := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=0711", mib), "tmpfs", dir).Run() //nolint:gosec // our own words
	return smallDisk{dir, err == nil}, nil
}

// fillUp leaves no space; freeSpace undoes it.
func (s smallDisk) fillUp() error {
	file, err := os.Create(filepath.Join(s.dir, "filler"))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for part := make([]byte, 1<<20); len(part) > 0; {
		n, err := file.Write(part)
		switch {
		case errors.Is(err, syscall.ENOSPC) && n == 0:
			part = part[:len(part)/2]
		case err != nil && !errors.Is(err, syscall.ENOSPC):
			return err
		}
	}
	return nil
}

func (s smallDisk) freeSpace() error { return os.Remove(filepath.Join(s.dir, "filler")) }

func (s smallDisk) remove() {
	if s.mounted {
		_ = exec.Command("umount", "-l", s.dir).Run() //nolint:gosec,noctx // our own mount, also when everything is over
	}
}

// database is PostgreSQL. Package postgres restarts it if it crashes.
type database struct {
	disk       smallDisk
	cluster    *postgres.Cluster
	exhausting []net.Conn // connections that leave none free
}

func (e *database) startCluster(ctx context.Context) (err error) {
	e.cluster, err = postgres.Start(ctx, postgres.Options{Dir: e.clusterDir(), Settings: map[string]string{
		"max_connections": "90", "shared_buffers": "32MB", "max_wal_size": "64MB", "min_wal_size": "32MB",
	}})
	return err
}

func (e *database) clusterDir() string { return filepath.Join(e.disk.dir, "pg") }

func (e *database) stopCluster(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return e.cluster.Stop(ctx)
}

// killPostmaster kills PostgreSQL with SIGKILL.
func (e *database) killPostmaster() error {
	text, err := os.ReadFile(filepath.Join(e.clusterDir(), "postgres", "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return fmt.Errorf("no postmaster: %w", err)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

func (e *database) socketPath() (string, error) {
	u, err := url.Parse(e.cluster.URL())
	if err != nil {
		return "", err
	}
	return filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port")), nil
}

// exhaustConnections opens connections until PostgreSQL has none left.
func (e *database) exhaustConnections() error {
	socket, err := e.socketPath()
	if err != nil {
		return err
	}
	for range 200 {
		conn, err := openConnection(socket)
		if err != nil {
			return nil //nolint:nilerr // none was left, which was the wish
		}
		e.exhausting = append(e.exhausting, conn)
	}
	return nil
}

func (e *database) releaseConnections() {
	for _, conn := range e.exhausting {
		_ = conn.Close()
	}
	e.exhausting = nil
}

// openConnection sends the startup message (protocol 3.0), and waits for the answer.
func openConnection(socket string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(context.Background(), "unix", socket)
	if err != nil {
		return nil, err
	}
	params := []byte("user\x00patchbay\x00database\x00patchbay\x00\x00")
	startup := binary.BigEndian.AppendUint32(nil, uint32(8+len(params))) //nolint:gosec // short
	startup = append(binary.BigEndian.AppendUint32(startup, 3<<16), params...)
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	answer := make([]byte, 1)
	_, err = conn.Write(startup)
	if err == nil {
		_, err = conn.Read(answer)
	}
	if err != nil || !bytes.Equal(answer, []byte("R")) {
		_ = conn.Close()
		return nil, fmt.Errorf("PostgreSQL grants no session: %w", err)
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, nil
}

func (e *database) dumpAll(ctx context.Context) ([]byte, error) {
	bin, err := postgres.FindBinaries(ctx, e.clusterDir(), os.Getenv("PATCHBAY_POSTGRES_BIN"))
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, filepath.Join(bin.Dir, "pg_dump"), e.cluster.URL()).Output() //nolint:gosec // our own cluster
}
