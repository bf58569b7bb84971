//go:build e2e

package e2e_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refused starts a server that must not start, and returns its last words.
func refused(t *testing.T, h *home, args ...string) string {
	t.Helper()
	o := h.try(append([]string{"serve"}, args...)...)
	if o.code != 1 {
		t.Fatalf("the server ended with %d: %s", o.code, o.stderr)
	}
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	return lines[len(lines)-1]
}

func TestSecondServerOnADataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	if said := refused(t, h); !strings.Contains(said, "already uses the data directory "+h.data()) {
		t.Errorf("it says: %s", said)
	}
	if err := s.readyz(http.StatusOK); err != nil {
		t.Errorf("the first server suffered: %v", err)
	}
}

func TestPortInUseIsSaid(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	said := refused(t, newHome(t), "--addr", taken.Addr().String())
	if !strings.Contains(said, "Another program uses the address "+taken.Addr().String()) || !strings.Contains(said, "PATCHBAY_ADDR") {
		t.Errorf("it says: %s", said)
	}
}

func TestAnotherKeysetIsRefused(t *testing.T) {
	t.Parallel()
	h, s, c, names := synced(t)
	s.terminate()

	other := *h
	other.env = append(other.env[:len(other.env):len(other.env)], "PATCHBAY_KEYSET="+h.run("keys", "new"))
	if said := refused(t, &other); !strings.Contains(said, "PATCHBAY_KEYSET") || strings.Contains(said, "{") {
		t.Errorf("with another keyset it says: %s", said)
	}

	file := filepath.Join(h.data(), "keyset")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the keyset's mode: %v, %v", info.Mode(), err)
	}
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	if said := refused(t, h); !strings.Contains(said, file+" is missing") {
		t.Errorf("without its keyset it says: %s", said)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a new keyset was made for an old database")
	}

	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	again := h.serve()
	c.base = again.base
	if have := c.tools("tools"); len(have) != len(names) {
		t.Errorf("the right keyset opens %v", have)
	}
}

func TestDatabaseURLNeedsAKeyset(t *testing.T) {
	t.Parallel()
	said := refused(t, newHome(t, "DATABASE_URL=postgres://nobody:hunter2@127.0.0.1:1/none"))
	if !strings.Contains(said, "PATCHBAY_KEYSET must be set together with DATABASE_URL") {
		t.Errorf("it says: %s", said)
	}
}

func TestUnreachableDatabaseIsSaidWithoutThePassword(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL=postgres://nobody:hunter2@127.0.0.1:1/none")
	o := h.try("serve")
	if o.code != 1 || strings.Contains(o.stderr, "hunter2") || !strings.Contains(o.stderr, "database") {
		t.Errorf("it says: %s", o.stderr)
	}
}
