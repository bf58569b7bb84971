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
	homes = "pb-chaos-"
	// A home of which nobody has the lock may be one that is just being made.
	justMade = time.Minute
)

// makeHome makes the directory of a run. As long as the process lives it has the directory's lock, which no program that it starts inherits.
func makeHome(parent string) (home string, lock *os.File, err error) {
	home, err = os.MkdirTemp(parent, homes)
	if err != nil {
		return "", nil, err
	}
	lock, err = os.Create(filepath.Join(home, "lock"))
	if err != nil {
		return "", nil, err
	}
	return home, lock, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
}

// sweep takes away what runs have left that were killed: their directories, and the memory that they have mounted there, which nobody else gives
// back. What cannot be taken away stays.
func sweep(parent string, now time.Time) {
	left, _ := filepath.Glob(filepath.Join(cmp.Or(parent, os.TempDir()), homes+"*")) // the pattern is ours
	for _, home := range left {
		if !abandoned(home, now) {
			continue
		}
		for _, dir := range []string{"disk", "files"} {
			if at := filepath.Join(home, dir); mountedAt(home, at) {
				small{at, true}.remove()
			}
		}
		_ = os.RemoveAll(home)
	}
}

// abandoned tells whether nobody has a home's lock. One of which there is no lock is of an older program: it is left alone.
func abandoned(home string, now time.Time) bool {
	lock, err := os.Open(filepath.Join(home, "lock"))
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }()
	info, err := lock.Stat()
	return err == nil && now.Sub(info.ModTime()) > justMade && syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// mountedAt tells whether another file system than home's begins at dir.
func mountedAt(home, dir string) bool {
	var outer, inner syscall.Stat_t
	err := errors.Join(syscall.Stat(home, &outer), syscall.Stat(dir, &inner))
	return !errors.Is(err, fs.ErrNotExist) && err == nil && outer.Dev != inner.Dev
}
