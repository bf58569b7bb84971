package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	homePrefix = "pb-chaos-"
	// minimum age: a new home has no lock yet
	minAge = time.Minute
)

// makeHome creates a run's directory. The process holds its lock for life; child processes do not inherit it.
func makeHome(parent string) (home string, lock *os.File, err error) {
	home, err = os.MkdirTemp(parent, homePrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err = os.Create(filepath.Join(home, "lock"))
	if err != nil {
		return "", nil, err
	}
	return home, lock, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
}

// removeAbandoned removes directories and mounts of killed runs, if it can.
func removeAbandoned(parent string, now time.Time) {
	found, _ := filepath.Glob(filepath.Join(cmp.Or(parent, os.TempDir()), homePrefix+"*")) // the pattern is valid
	for _, home := range found {
		if !isAbandoned(home, now) {
			continue
		}
		for _, dir := range []string{"disk", "files"} {
			if mount := filepath.Join(home, dir); isMountedAt(home, mount) {
				smallDisk{mount, true}.remove()
			}
		}
		_ = os.RemoveAll(home)
	}
}

// isAbandoned reports whether no process holds a home's lock. Homes without a lock are of older programs and
// are kept.
func isAbandoned(home string, now time.Time) bool {
	lock, err := os.Open(filepath.Join(home, "lock"))
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }()
	info, err := lock.Stat()
	return err == nil && now.Sub(info.ModTime()) > minAge && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// isMountedAt reports whether dir is on another filesystem than home.
func isMountedAt(home, dir string) bool {
	var outer, inner syscall.Stat_t
	err := errors.Join(syscall.Stat(home, &outer), syscall.Stat(dir, &inner))
	return !errors.Is(err, fs.ErrNotExist) && err == nil && outer.Dev != inner.Dev
}
