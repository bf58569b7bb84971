package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"patchbay/internal/fault"
)

const (
	socketPort = "5432" // part of the socket's name; nothing listens on a port
	socketName = ".s.PGSQL." + socketPort
	// The kernel's limit for a socket's path is 107 bytes on Linux and 103 on macOS.
	maxSocketPath = 103
)

// layout names the cluster's files.
type layout struct {
	dir string // absolute
}

func (l layout) home() string        { return filepath.Join(l.dir, "postgres") }
func (l layout) data() string        { return filepath.Join(l.home(), "data") }
func (l layout) log() string         { return filepath.Join(l.home(), "log") }
func (l layout) pidFile() string     { return filepath.Join(l.data(), "postmaster.pid") }
func (l layout) versionFile() string { return filepath.Join(l.data(), "PG_VERSION") }

// socketDir is below the data directory, or has a short name that follows from it.
func (l layout) socketDir() string {
	dir := filepath.Join(l.home(), "run")
	if len(filepath.Join(dir, socketName)) <= maxSocketPath {
		return dir
	}
	sum := sha256.Sum256([]byte(l.dir))
	return filepath.Join("/tmp", "patchbay-"+hex.EncodeToString(sum[:8]))
}

// major is the PostgreSQL version that made the cluster; 0 where there is none yet.
func (l layout) major() (int, error) {
	text, err := os.ReadFile(l.versionFile())
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The cluster in %s cannot be read.", l.data()))
	}
	major, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s does not hold a version.", l.versionFile()))
	}
	return major, nil
}

// pidFile is what a running postmaster says about itself.
type pidFile struct {
	pid       int
	socketDir string
	ready     bool
}

// readPIDFile returns the zero value where no postmaster has written one, or not yet all of it.
func (l layout) readPIDFile() pidFile {
	text, err := os.ReadFile(l.pidFile())
	if err != nil {
		return pidFile{}
	}
	lines := strings.Split(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 {
		return pidFile{}
	}
	p := pidFile{pid: pid}
	if len(lines) > 4 {
		p.socketDir = strings.TrimSpace(lines[4])
	}
	if len(lines) > 7 {
		p.ready = strings.TrimSpace(lines[7]) == "ready"
	}
	return p
}

// address is the URL of a database behind the socket.
func address(socketDir, name string) string {
	query := url.Values{"host": {socketDir}, "port": {socketPort}, "sslmode": {"disable"}, "connect_timeout": {"5"}}
	u := url.URL{Scheme: "postgres", User: url.User(ownerRole), Host: "", Path: "/" + name, RawQuery: query.Encode()}
	return u.String()
}
