package clientconfig

import (
	"slices"
	"strings"
)

// unwrapBridge reads through mcp-remote, by which clients without HTTP reach a server by its URL:
//
//	"command": "npx", "args": ["-y", "mcp-remote", "https://…", "--header", "Authorization:${AUTH}"], "env": {"AUTH": "Bearer …"}
//
// Patchbay connects to the URL itself.
func (r *serverReader) unwrapBridge() {
	at := slices.IndexFunc(r.args, func(arg string) bool { return arg == "mcp-remote" || strings.HasPrefix(arg, "mcp-remote@") })
	rest := r.args[at+1:]
	if base := strings.TrimSuffix(r.command[strings.LastIndexAny(r.command, `/\`)+1:], ".cmd"); base == "mcp-remote" {
		rest = r.args
	} else if at < 0 {
		return
	}
	to := slices.IndexFunc(rest, func(arg string) bool { return strings.HasPrefix(arg, "https://") || strings.HasPrefix(arg, "http://") })
	if to < 0 {
		return
	}
	r.kind = ""
	for i, arg := range rest[to+1:] {
		next := ""
		if to+2+i < len(rest) {
			next = rest[to+2+i]
		}
		switch arg {
		case "--header":
			if next == "" {
				continue
			}
		case "--transport":
			r.kind = bridgeTransports[next]
			continue
		default:
			if strings.HasPrefix(arg, "--") {
				option, _, _ := strings.Cut(arg, "=") // the value may be a secret
				r.ignored = append(r.ignored, option)
			}
			continue
		}
		name, value, _ := strings.Cut(next, ":")
		h := header{strings.TrimSpace(name), strings.TrimSpace(r.expandEnv(value))}
		if !h.hasValidName() {
			r.addProblem("args", "Write mcp-remote headers as Name:value.")
			continue
		}
		r.headers = append(r.headers, h)
	}
	r.urls["url"], r.command, r.args, r.env = rest[to], "", nil, nil
	r.addNotice("Patchbay connects to its URL directly, without mcp-remote.")
}

// bridgeTransports are the values of mcp-remote's --transport that leave one transport.
var bridgeTransports = map[string]string{"sse-only": "sse", "http-only": "http"}

// expandEnv replaces references to the entry's own variables.
func (r *serverReader) expandEnv(value string) string {
	return braced.ReplaceAllStringFunc(value, func(found string) string {
		if v, ok := r.env[strings.TrimPrefix(found[2:len(found)-1], "env:")]; ok {
			return v
		}
		return found
	})
}
