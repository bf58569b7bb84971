//go:build !linux

package mcp

import (
	"os/exec"
	"syscall"
)

// setParentDeathSignal does nothing here: the end of its input ends the child.
func setParentDeathSignal(*syscall.SysProcAttr) {}

func setLimits(int, Limits) {}

// Launch does nothing here: commands run without limits.
func Launch([]string) {}

func startLimited(cmd *exec.Cmd, _ string, _ Limits) error { return cmd.Start() }

// awaitExit returns after the exit. The pid may be reused from then on, which is unlikely to happen at once.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

func killTree(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// processInfo is empty here: processes that leave the process group are not found.
type processInfo struct{}

func findDescendants(int) []processInfo { return nil }

func killOrphans([]processInfo) {}
