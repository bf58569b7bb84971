package main

import (
	"os"
	"strings"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
)

// allowedCommands are the programs that the operator lets connectors start.
func allowedCommands(server config.Server) connectors.AllowedCommands {
	var allowed connectors.AllowedCommands
	for _, entry := range server.Stdio {
		allowed = append(allowed, connectors.AllowedCommand{
			Path: entry.Path, Args: entry.Args, Rule: connectors.AllowedArgs(entry.Rule), Dirs: entry.Dirs, Env: entry.Env,
		})
	}
	return allowed
}

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
