//go:build !linux

package postgres

import "syscall"

// setDeathSignal does nothing here: the next start stops an orphan.
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}
