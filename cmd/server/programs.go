package main

import (
	"os"
	"strings"
)

// programEnv is the part of the environment that programs get: PATH, HOME and LANG.
func programEnv() []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"}
	for i, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if value := os.Getenv(name); value != "" {
			env[i] = name + "=" + value
		}
	}
	return env
}

// findLauncher returns the path of this executable, which an upgrade may have replaced in its folder; empty where the system has no such path.
func findLauncher() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		return ""
	}
	return self
}
