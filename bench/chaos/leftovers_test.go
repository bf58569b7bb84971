package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWhatAKilledRunHasLeftIsTakenAwayAndWhatRunsIsNot(t *testing.T) {
	t.Parallel()
	parent, later := t.TempDir(), time.Now().Add(time.Hour)
	made := func() (string, *os.File, small) {
		home, lock, err := makeHome(parent)
		if err != nil {
			t.Fatal(err)
		}
		disk, err := newSmall(t.Context(), filepath.Join(home, "disk"), 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(disk.remove)
		if os.Geteuid() == 0 && disk.mounted != mountedAt(home, disk.dir) {
			t.Errorf("that it is mounted is %t, and is taken for %t", disk.mounted, !disk.mounted)
		}
		return home, lock, disk
	}
	killed, dead, _ := made()
	fresh, gone, _ := made()
	running, held, _ := made()
	defer func() { _ = held.Close() }()
	for _, lock := range []*os.File{dead, gone} { // what the end of a process does
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(parent, homes+"of-another-program")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(fresh, "lock"), later, later); err != nil {
		t.Fatal(err)
	}
	sweep(parent, later)
	for home, stays := range map[string]bool{killed: false, fresh: true, running: true, other: true} {
		if _, err := os.Stat(home); (err == nil) != stays {
			t.Errorf("%s: that it stays should be %t: %v", home, stays, err)
		}
	}
}
