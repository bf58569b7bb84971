//go:build !linux

package db

import "syscall"

// boundSilence leaves it to keep-alives.
func boundSilence(string, string, syscall.RawConn) error { return nil }
