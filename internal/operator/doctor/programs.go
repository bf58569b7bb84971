package doctor

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/installation"
	"patchbay/internal/store"
)

const stdioCommands = "stdio commands"

// checkCommands reports the programs that connectors may start, and which of them other users could replace.
func (r *report) checkCommands(server config.Server) {
	if len(server.Stdio) == 0 {
		r.reportOK(stdioCommands, "none allowed")
		return
	}
	for i, allowed := range installation.AllowedCommands(server) {
		if r.checkProgram(allowed) && r.checkFolders(server.Stdio[i]) {
			r.checkArguments(allowed)
		}
	}
}

// checkProgram checks the program's file.
func (r *report) checkProgram(allowed connectors.AllowedCommand) bool {
	info, err := os.Stat(allowed.Path)
	switch {
	case err != nil:
		r.reportProblem(stdioCommands, "%s is allowed in PATCHBAY_STDIO_COMMANDS but doesn't exist here.", allowed.Path)
	case info.IsDir() || info.Mode()&0o111 == 0:
		r.reportProblem(stdioCommands, "%s is allowed in PATCHBAY_STDIO_COMMANDS but isn't a program.", allowed.Path)
	case isWorldWritable(info):
		r.reportProblem(stdioCommands, "%s is allowed in PATCHBAY_STDIO_COMMANDS but writable by everyone on this machine: whoever changes it runs code as Patchbay.", allowed.Path)
	default:
		return true
	}
	return false
}

// checkFolders checks the program's working directories.
func (r *report) checkFolders(p config.Program) bool {
	fine := true
	for _, dir := range p.Dirs {
		info, err := os.Stat(dir)
		switch {
		case err != nil || !info.IsDir():
			r.reportProblem(stdioCommands, "%s is allowed in the folder %s, which doesn't exist here.", p.Path, dir)
		case isWorldWritable(info):
			r.reportProblem(stdioCommands, "%s is allowed in the folder %s, which is writable by everyone on this machine: some programs load code from their working folder.", p.Path, dir)
		default:
			continue
		}
		fine = false
	}
	return fine
}

func isWorldWritable(info fs.FileInfo) bool { return info.Mode()&0o002 != 0 }

// checkArguments reports which arguments a connector may choose.
func (r *report) checkArguments(allowed connectors.AllowedCommand) {
	open := allowed.AnyArgs() || allowed.Rule == connectors.ArgsPrefix && hasOnlyOptions(allowed.Args)
	switch {
	case open && canRunAnyCode(allowed.Path):
		r.reportNote(stdioCommands, "%s runs any code that its arguments name: every tenant's admins can run code as Patchbay's user. Add its arguments, with absolute paths.", allowed.Path)
	case allowed.AnyArgs():
		r.reportOK(stdioCommands, "%s with any arguments: every tenant's admins can run it as Patchbay's user", allowed.Path)
	case allowed.Rule == connectors.ArgsNone:
		r.reportOK(stdioCommands, "%s without arguments", allowed.Path)
	case allowed.Rule == connectors.ArgsPrefix:
		r.reportOK(stdioCommands, "%s with its %d arguments, and any after them", allowed.Path, len(allowed.Args))
	default:
		r.reportOK(stdioCommands, "%s with its %d arguments", allowed.Path, len(allowed.Args))
	}
}

func hasOnlyOptions(args []string) bool {
	return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
}

// interpreters run code from their arguments. Version suffixes are omitted.
var interpreters = []string{
	"ash", "awk", "bash", "bun", "bunx", "busybox", "cargo", "dash", "deno", "docker", "dotnet", "env", "find", "fish", "gawk", "git", "go", "groovy",
	"java", "jbang", "julia", "ksh", "lua", "luajit", "make", "mawk", "nerdctl", "nice", "node", "nodejs", "nohup", "npm", "npx", "perl", "php", "pip", "pipx", "pnpm", "podman",
	"pwsh", "pypy", "python", "rbash", "ruby", "rscript", "sh", "ssh", "sudo", "tclsh", "timeout", "ts-node", "tsx", "uv", "uvx", "xargs", "yarn", "zsh",
}

// canRunAnyCode reports whether a program is a known interpreter, by its name or its symlink's target.
func canRunAnyCode(path string) bool {
	known := func(path string) bool {
		name := strings.TrimRight(strings.ToLower(filepath.Base(path)), "0123456789.-")
		return slices.Contains(interpreters, name)
	}
	target, err := filepath.EvalSymlinks(path)
	linked := err == nil && filepath.Base(target) != "busybox" // busybox acts by the link's name
	return known(path) || linked && known(target)
}

// checkStoredPrograms reports connectors whose programs the operator does not allow any more.
func (r *report) checkStoredPrograms(ctx context.Context, st *store.Store) {
	const what = "stdio connectors"
	n, refused := 0, 0
	err := forEachConnector(ctx, st, func(tenant connectors.Tenant, c connectors.Connector) {
		if c.Transport != connectors.TransportStdio {
			return
		}
		n++
		if why := r.refusalReasons(c); why != "" {
			refused++
			r.reportNote(what, "%s of the tenant %s isn't started. %s", c.Slug, tenant.Slug, why)
		}
	})
	switch {
	case err != nil:
		r.reportError(what, err)
	case refused == 0:
		r.reportOK(what, "%d, all allowed", n)
	}
}

// forEachConnector calls do for the connectors of all tenants.
func forEachConnector(ctx context.Context, st *store.Store, do func(connectors.Tenant, connectors.Connector)) error {
	tenants, err := st.System().Tenants(ctx)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		for page := (store.Page{Limit: 200}); ; {
			list, err := st.Tenant(tenant.ID).Connectors().List(ctx, store.ConnectorFilter{Page: page})
			if err != nil {
				return err
			}
			for _, c := range list.Items {
				do(tenant, c)
			}
			if page.Cursor = list.Next; page.Cursor == "" {
				break
			}
		}
	}
	return nil
}

// refusalReasons are the reasons not to start a stored connector's program; empty: none. It needs only the
// names of the environment, which stays sealed.
func (r *report) refusalReasons(c connectors.Connector) string {
	env := connectors.Environment{}
	for _, name := range c.EnvNames {
		env[name] = ""
	}
	var reasons []string
	for _, field := range r.allowedCommands.CheckStart(c.Command, env) {
		reasons = append(reasons, field.Message)
	}
	return strings.Join(reasons, " ")
}
