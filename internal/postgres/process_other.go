//go:build !linux

package postgres

import "syscall"

// dieWithUs does nothing here: the next start stops an orphan.
func dieWithUs(*syscall.SysProcAttr, syscall.Signal) {}
