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

// small is a filesystem of bounded size, where the machine lets us make one.
type small struct {
	dir     string
	mounted bool
}

// newSmall mounts memory at dir. Without the right to, dir is an ordinary directory that is never filled.
func newSmall(ctx context.Context, dir string, mib int) (small, error) {
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // as root, PostgreSQL runs as another user
		return small{}, err
	}
	err := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=0711", mib), "tmpfs", dir).Run() //nolint:gosec // our own words
	return small{dir, err == nil}, nil
}

// fill leaves no room; empty gives it back.
func (s small) fill() error {
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

func (s small) empty() error { return os.Remove(filepath.Join(s.dir, "filler")) }

func (s small) remove() {
	if s.mounted {
		_ = exec.Command("umount", "-l", s.dir).Run() //nolint:gosec,noctx // our own mount, also when everything is over
	}
}

// engine is PostgreSQL. internal/postgres starts it again where it dies by itself.
type engine struct {
	disk    small
	cluster *postgres.Cluster
	held    []net.Conn // sessions that leave none free
}

func (e *engine) start(ctx context.Context) (err error) {
	e.cluster, err = postgres.Start(ctx, postgres.Options{Dir: e.dir(), Settings: map[string]string{
		"max_connections": "90", "shared_buffers": "32MB", "max_wal_size": "64MB", "min_wal_size": "32MB",
	}})
	return err
}

func (e *engine) dir() string { return filepath.Join(e.disk.dir, "pg") }

func (e *engine) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return e.cluster.Stop(ctx)
}

// kill kills the postmaster as no operator would.
func (e *engine) kill() error {
	text, err := os.ReadFile(filepath.Join(e.dir(), "postgres", "data", "postmaster.pid"))
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

// socket is where it listens.
func (e *engine) socket() (string, error) {
	u, err := url.Parse(e.cluster.URL())
	if err != nil {
		return "", err
	}
	return filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port")), nil
}

// exhaust opens sessions until PostgreSQL has none left.
func (e *engine) exhaust() error {
	socket, err := e.socket()
	if err != nil {
		return err
	}
	for range 200 {
		conn, err := greet(socket)
		if err != nil {
			return nil //nolint:nilerr // none was left, which was the wish
		}
		e.held = append(e.held, conn)
	}
	return nil
}

func (e *engine) relieve() {
	for _, conn := range e.held {
		_ = conn.Close()
	}
	e.held = nil
}

// greet begins a session by the protocol's first message (version 3.0), and waits until it is granted.
func greet(socket string) (net.Conn, error) {
	to := net.Dialer{Timeout: time.Second}
	conn, err := to.DialContext(context.Background(), "unix", socket)
	if err != nil {
		return nil, err
	}
	words := []byte("user\x00patchbay\x00database\x00patchbay\x00\x00")
	hello := binary.BigEndian.AppendUint32(nil, uint32(8+len(words))) //nolint:gosec // short
	hello = append(binary.BigEndian.AppendUint32(hello, 3<<16), words...)
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	answer := make([]byte, 1)
	_, err = conn.Write(hello)
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

// dump is all that is stored, as text.
func (e *engine) dump(ctx context.Context) ([]byte, error) {
	bin, err := postgres.FindBinaries(ctx, e.dir(), os.Getenv("PATCHBAY_POSTGRES_BIN"))
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, filepath.Join(bin.Dir, "pg_dump"), e.cluster.URL()).Output() //nolint:gosec // our own cluster
}
