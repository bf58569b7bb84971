package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRemoveAbandoned_KeepsRunningHomes(t *testing.T) {
	t.Parallel()
	parent, later := t.TempDir(), time.Now().Add(time.Hour)
	newHome := func() (string, *os.File, smallDisk) {
		home, lock, err := makeHome(parent)
		if err != nil {
			t.Fatal(err)
		}
		disk, err := newSmallDisk(t.Context(), filepath.Join(home, "disk"), 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(disk.remove)
		if os.Geteuid() == 0 && disk.mounted != isMountedAt(home, disk.dir) {
			t.Errorf("that it is mounted is %t, and is taken for %t", disk.mounted, !disk.mounted)
		}
		return home, lock, disk
	}
	killed, killedLock, _ := newHome()
	fresh, freshLock, _ := newHome()
	running, runningLock, _ := newHome()
	defer func() { _ = runningLock.Close() }()
	for _, lock := range []*os.File{killedLock, freshLock} { // as at the end of a process
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(parent, homePrefix+"of-another-program")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(fresh, "lock"), later, later); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(parent, later)
	for home, stays := range map[string]bool{killed: false, fresh: true, running: true, other: true} {
		if _, err := os.Stat(home); (err == nil) != stays {
			t.Errorf("%s: that it stays should be %t: %v", home, stays, err)
		}
	}
}
