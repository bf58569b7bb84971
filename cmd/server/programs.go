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
