package main

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	"patchbay/internal/catalog"
	"patchbay/internal/config"
	"patchbay/internal/connect"
	"patchbay/internal/safehttp"
	"patchbay/internal/tracing/otlp"
)

// settings reports what is misspelt or refused.
func (e *examination) settings(environ []string, err error) {
	for _, name := range config.UnknownVariables(environ) {
		e.problem("settings", "%s is set, and no setting has that name. patchbay serve --help lists them.", name)
	}
	if err != nil {
		e.failed("settings", err)
		return
	}
	e.ok("settings", "all are legal")
}

// traces tells where they go: what is misspelt is silence elsewhere.
func (e *examination) traces(environ []string) {
	const what = "traces"
	s, err := otlp.Read(environ)
	switch at, bad := url.Parse(s.Endpoint); {
	case err != nil:
		e.failed(what, err)
	case s.Endpoint != "" && bad == nil:
		e.ok(what, "are sent to %s", at.Host)
	}
}

func (e *examination) baseURL(server config.Server) {
	const what = "base URL"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		e.problem(what, "PATCHBAY_ADDR names a host that is not known: %s.", server.Addr)
		return
	}
	base := server.BaseURL(addr)
	loopback := config.IsLoopback(base.Hostname())
	switch {
	case base.Scheme == "http" && !loopback:
		e.problem(what, "%s is plain http: passwords and keys travel readable. Put a proxy with https in front and set PATCHBAY_BASE_URL to its address.", base)
	case !server.BaseURLIsSet() && !config.IsLoopback(addr.IP.String()):
		e.problem(what, "the server listens on %s, and links are made for %s. Set PATCHBAY_BASE_URL to the address that people use.", server.Addr, base)
	default:
		e.ok(what, "%s", base)
	}
}

// callback tells what to register at authorization servers that know no registration by program, and whether they can take it.
func (e *examination) callback(server config.Server) {
	const what = "OAuth callback"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return // as base URL says
	}
	base := server.BaseURL(addr)
	url, loopback := connect.CallbackURL(strings.TrimSuffix(base.String(), "/")), config.IsLoopback(base.Hostname())
	switch {
	case base.Scheme != "https" && !loopback:
		e.problem(what, "%s is plain http: authorization servers refuse it, and codes would travel readable. Set PATCHBAY_BASE_URL to an https address, and register the callback below that.", url)
	case loopback && server.Egress == config.EgressPublic:
		e.note(what, "%s is this machine alone, while connectors lead outside: only a browser on this machine comes back from connecting an account. Set PATCHBAY_BASE_URL to the https address that people use.", url)
	default:
		e.ok(what, "%s: register it as redirect URI where you make a client by hand", url)
	}
}

func (e *examination) egress(server config.Server) {
	const what = "egress"
	allow, err := safehttp.ParseAllow(server.EgressAllow)
	if err != nil {
		e.failed(what, err)
		return
	}
	if server.Egress == config.EgressLocal && !server.IsLocal() {
		e.problem(what, "local, while others can reach this server: every tenant's admin reaches this machine and its network. Set PATCHBAY_EGRESS=public, and PATCHBAY_EGRESS_ALLOW for exceptions.")
		return
	}
	e.ok(what, "%s, with %d exceptions", server.Egress, len(allow))
}

// httpMode reports which implementation speaks HTTP.
func (e *examination) httpMode(server config.Server) {
	const what = "HTTP"
	if server.HTTP == config.HTTPStandard {
		e.ok(what, "standard: net/http alone, at more CPU for each call than with PATCHBAY_HTTP=fast")
		return
	}
	e.ok(what, "fast")
}

// proxy asks the operator's proxy for a host that cannot exist: nobody else hears of it.
func (e *examination) proxy(ctx context.Context, server config.Server) {
	const what = "egress proxy"
	p, err := egressProxy(server)
	switch {
	case err != nil:
		e.failed(what, err)
		return
	case p == nil:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	err = p.Try(ctx)
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		e.problem(what, "%s: %s%s", p, cmp.Or(failed.Mend, failed.Why), inBrackets(failed.Err))
		return
	}
	if err != nil {
		e.failed(what, err)
		return
	}
	e.ok(what, "%s answers; what leaves this machine goes through it", p)
}

func inBrackets(cause error) string {
	if cause == nil {
		return ""
	}
	return " (" + cause.Error() + ")"
}

func (e *examination) catalog(server config.Server) {
	const what = "catalog"
	offered, err := loadCatalog(server.Catalog)
	if err != nil {
		e.failed(what, err)
		return
	}
	e.ok(what, "%d servers, Patchbay's own of %s", len(offered.Entries(catalog.Filter{})), offered.Date)
}
