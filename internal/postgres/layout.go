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

func (l layout) clusterDir() string  { return filepath.Join(l.dir, "postgres") }
func (l layout) pgData() string      { return filepath.Join(l.clusterDir(), "data") }
func (l layout) logFile() string     { return filepath.Join(l.clusterDir(), "log") }
func (l layout) pidFile() string     { return filepath.Join(l.pgData(), "postmaster.pid") }
func (l layout) versionFile() string { return filepath.Join(l.pgData(), "PG_VERSION") }

// socketDir is below the data directory, or a short name derived from it.
func (l layout) socketDir() string {
	dir := filepath.Join(l.clusterDir(), "run")
	if len(filepath.Join(dir, socketName)) <= maxSocketPath {
		return dir
	}
	sum := sha256.Sum256([]byte(l.dir))
	return filepath.Join("/tmp", "patchbay-"+hex.EncodeToString(sum[:8]))
}

// findMajor returns the PostgreSQL version of the cluster; 0: there is none yet.
func (l layout) findMajor() (int, error) {
	text, err := os.ReadFile(l.versionFile())
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The cluster in %s cannot be read.", l.pgData()))
	}
	major, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s has no version.", l.versionFile()))
	}
	return major, nil
}

// pidFile is the content of a running postmaster's pid file.
type pidFile struct {
	pid       int
	socketDir string
	ready     bool
}

// readPIDFile returns the zero value if the file is missing or incomplete.
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

// databaseURL is the URL of a database behind the socket.
func databaseURL(socketDir, name string) string {
	query := url.Values{"host": {socketDir}, "port": {socketPort}, "sslmode": {"disable"}, "connect_timeout": {"5"}}
	u := url.URL{Scheme: "postgres", User: url.User(ownerRole), Host: "", Path: "/" + name, RawQuery: query.Encode()}
	return u.String()
}
