//go:build !linux

package pgtest

import "syscall"

// dieWithUs does nothing here: a killed test leaves its child.
func dieWithUs(*syscall.SysProcAttr) {}
