//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"patchbay/internal/testing/executable"
)

// TestNoProcessOfTheSameUserReadsTheServersMemory runs a server as an ordinary user, and looks at it as the programs of connectors
// could, which run as that user.
func TestNoProcessOfTheSameUserReadsTheServersMemory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	folder := filepath.Join(h.dir, "ordinary")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var ordinary *syscall.SysProcAttr
	if os.Getuid() == 0 { // not restricted
		const nobody = 65534
		ordinary = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if err := os.Chown(folder, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	cmd := h.command(context.Background())
	cmd.Path = copied(t, cmd.Path, filepath.Join(folder, "patchbay"))
	cmd.Dir, cmd.Env, cmd.SysProcAttr = folder, append(cmd.Env, "HOME="+folder, "PATCHBAY_DATA_DIR="+filepath.Join(folder, "data")), ordinary
	s := &server{process: start(t, cmd)}
	s.waitReady()
	for _, secret := range []string{"environ", "maps", "fd/0"} {
		look := exec.Command("head", "-c", "1", fmt.Sprintf("/proc/%d/%s", cmd.Process.Pid, secret))
		look.SysProcAttr = ordinary
		if out, err := look.CombinedOutput(); err == nil {
			t.Errorf("%s can be read: %q", secret, out)
		}
	}
	if code := s.terminate(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
}

// copied is a copy of a program that every user can execute.
func copied(t *testing.T, from, to string) string {
	t.Helper()
	program, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	return executable.Write(t, to, string(program))
}
