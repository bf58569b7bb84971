package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

const stdioCommands = "stdio commands"

// commands reports which programs connectors may start, and which of them others could replace.
func (e *examination) commands(server config.Server) {
	if len(server.Stdio) == 0 {
		e.ok(stdioCommands, "none may be started")
		return
	}
	for i, allowed := range allowedCommands(server) {
		if e.program(allowed) && e.folders(server.Stdio[i]) {
			e.latitude(allowed)
		}
	}
}

// program looks at the file itself.
func (e *examination) program(allowed connectors.AllowedCommand) bool {
	info, err := os.Stat(allowed.Path)
	switch {
	case err != nil:
		e.problem(stdioCommands, "%s is allowed in PATCHBAY_STDIO_COMMANDS, and does not exist here.", allowed.Path)
	case info.IsDir() || info.Mode()&0o111 == 0:
		e.problem(stdioCommands, "%s is allowed in PATCHBAY_STDIO_COMMANDS, and is no program.", allowed.Path)
	case everybodyWrites(info):
		e.problem(stdioCommands, "%s is allowed in PATCHBAY_STDIO_COMMANDS, and everybody on this machine may write to it: whoever does runs as Patchbay.", allowed.Path)
	default:
		return true
	}
	return false
}

// folders looks at those in which it may work.
func (e *examination) folders(p config.Program) bool {
	fine := true
	for _, dir := range p.Dirs {
		info, err := os.Stat(dir)
		switch {
		case err != nil || !info.IsDir():
			e.problem(stdioCommands, "%s is allowed in the folder %s, which does not exist here.", p.Path, dir)
		case everybodyWrites(info):
			e.problem(stdioCommands, "%s is allowed in the folder %s, and everybody on this machine may write to it: some programs look for their code where they work.", p.Path, dir)
		default:
			continue
		}
		fine = false
	}
	return fine
}

func everybodyWrites(info fs.FileInfo) bool { return info.Mode()&0o002 != 0 }

// latitude tells how much of a program is the connector's choice.
func (e *examination) latitude(allowed connectors.AllowedCommand) {
	open := allowed.AnyArgs() || allowed.Rule == connectors.ArgsPrefix && onlyOptions(allowed.Args)
	switch {
	case open && runsAnyCode(allowed.Path):
		e.note(stdioCommands, "%s runs whatever code its arguments say: with it every tenant's admins run any code as Patchbay's own user. Write its arguments after it, with absolute paths in them.", allowed.Path)
	case allowed.AnyArgs():
		e.ok(stdioCommands, "%s with any arguments: every tenant's admins run it as Patchbay's own user", allowed.Path)
	case allowed.Rule == connectors.ArgsNone:
		e.ok(stdioCommands, "%s without arguments", allowed.Path)
	case allowed.Rule == connectors.ArgsPrefix:
		e.ok(stdioCommands, "%s with its %d arguments, and any after them", allowed.Path, len(allowed.Args))
	default:
		e.ok(stdioCommands, "%s with its %d arguments", allowed.Path, len(allowed.Args))
	}
}

func onlyOptions(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
}

// interpreters take their code, or the name of it, from their arguments. Versions at the end are left out.
var interpreters = []string{
	"ash", "awk", "bash", "bun", "bunx", "busybox", "cargo", "dash", "deno", "docker", "dotnet", "env", "find", "fish", "gawk", "git", "go", "groovy",
	"java", "jbang", "julia", "ksh", "lua", "luajit", "make", "mawk", "nerdctl", "nice", "node", "nodejs", "nohup", "npm", "npx", "perl", "php", "pip", "pipx", "pnpm", "podman",
	"pwsh", "pypy", "python", "rbash", "ruby", "rscript", "sh", "ssh", "sudo", "tclsh", "timeout", "ts-node", "tsx", "uv", "uvx", "xargs", "yarn", "zsh",
}

// runsAnyCode tells whether a program is known for that, by its own name or by that of what it links to.
func runsAnyCode(path string) bool {
	known := func(path string) bool {
		name := strings.TrimRight(strings.ToLower(filepath.Base(path)), "0123456789.-")
		return slices.Contains(interpreters, name)
	}
	target, err := filepath.EvalSymlinks(path)
	linked := err == nil && filepath.Base(target) != "busybox" // which does what the link's name says
	return known(path) || linked && known(target)
}

// storedPrograms tells which connectors are no longer started, because the operator allows less than when they were made.
func (e *examination) storedPrograms(ctx context.Context, st *store.Store) {
	const what = "stdio connectors"
	n, refused := 0, 0
	err := eachConnector(ctx, st, func(tenant connectors.Tenant, c connectors.Connector) {
		if c.Transport != connectors.TransportStdio {
			return
		}
		n++
		if why := e.notStarted(c); why != "" {
			refused++
			e.note(what, "%s of the tenant %s is not started. %s", c.Slug, tenant.Slug, why)
		}
	})
	switch {
	case err != nil:
		e.failed(what, err)
	case refused == 0:
		e.ok(what, "%d, all allowed", n)
	}
}

// eachConnector visits the connectors of all tenants.
func eachConnector(ctx context.Context, st *store.Store, visit func(connectors.Tenant, connectors.Connector)) error {
	tenants, err := st.System().Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		for page := (store.Page{Limit: 200}); ; {
			list, err := st.Tenant(tenant.ID).Connectors(ctx, store.ConnectorFilter{Page: page})
			if err != nil {
				return err
			}
			for _, c := range list.Items {
				visit(tenant, c)
			}
			if page.Cursor = list.Next; page.Cursor == "" {
				break
			}
		}
	}
	return nil
}

// notStarted is everything for which a stored connector's program is not started; empty: it is. Its environment stays sealed: the
// names are enough.
func (e *examination) notStarted(c connectors.Connector) string {
	env := connectors.Environment{}
	for _, name := range c.EnvNames {
		env[name] = ""
	}
	var reasons []string
	for _, field := range e.allowed.CheckStart(c.Command, env) {
		reasons = append(reasons, field.Message)
	}
	return strings.Join(reasons, " ")
}
