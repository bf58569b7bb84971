package doctor

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
	"patchbay/internal/installation"
	"patchbay/internal/safehttp"
	"patchbay/internal/tracing/otlp"
)

// checkSettings reports unknown and invalid settings.
func (r *report) checkSettings(environ []string, err error) {
	for _, name := range config.UnknownVariables(environ) {
		r.reportProblem("settings", "%s is set, and no setting has that name. patchbay serve --help lists them.", name)
	}
	if err != nil {
		r.reportError("settings", err)
		return
	}
	r.reportOK("settings", "all are legal")
}

// checkTraces reports where traces go. The server ignores misspelt settings of traces.
func (r *report) checkTraces(environ []string) {
	const what = "traces"
	s, err := otlp.Read(environ)
	switch at, bad := url.Parse(s.Endpoint); {
	case err != nil:
		r.reportError(what, err)
	case s.Endpoint != "" && bad == nil:
		r.reportOK(what, "are sent to %s", at.Host)
	}
}

func (r *report) checkBaseURL(server config.Server) {
	const what = "base URL"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		r.reportProblem(what, "PATCHBAY_ADDR names a host that is not known: %s.", server.Addr)
		return
	}
	base := server.BaseURL(addr)
	loopback := config.IsLoopback(base.Hostname())
	switch {
	case base.Scheme == "http" && !loopback:
		r.reportProblem(what, "%s is plain http: passwords and keys travel readable. Put a proxy with https in front and set PATCHBAY_BASE_URL to its address.", base)
	case !server.BaseURLIsSet() && !config.IsLoopback(addr.IP.String()):
		r.reportProblem(what, "the server listens on %s, and links are made for %s. Set PATCHBAY_BASE_URL to the address that people use.", server.Addr, base)
	default:
		r.reportOK(what, "%s", base)
	}
}

// checkCallback reports the callback to register at authorization servers without dynamic registration, and
// whether they can accept it.
func (r *report) checkCallback(server config.Server) {
	const what = "OAuth callback"
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return // checkBaseURL reports it
	}
	base := server.BaseURL(addr)
	url, loopback := connect.CallbackURL(strings.TrimSuffix(base.String(), "/")), config.IsLoopback(base.Hostname())
	switch {
	case base.Scheme != "https" && !loopback:
		r.reportProblem(what, "%s is plain http: authorization servers refuse it, and codes would travel readable. Set PATCHBAY_BASE_URL to an https address, and register the callback below that.", url)
	case loopback && server.Egress == config.EgressPublic:
		r.reportNote(what, "%s is this machine alone, while connectors lead outside: only a browser on this machine comes back from connecting an account. Set PATCHBAY_BASE_URL to the https address that people use.", url)
	default:
		r.reportOK(what, "%s: register it as redirect URI where you make a client by hand", url)
	}
}

func (r *report) checkEgress(server config.Server) {
	const what = "egress"
	allow, err := safehttp.ParseAllow(server.EgressAllow)
	if err != nil {
		r.reportError(what, err)
		return
	}
	if server.Egress == config.EgressLocal && !server.IsLocal() {
		r.reportProblem(what, "local, while others can reach this server: every tenant's admin reaches this machine. Set PATCHBAY_EGRESS=public, and PATCHBAY_EGRESS_ALLOW for exceptions.")
		return
	}
	r.reportOK(what, "%s, with %d exceptions", server.Egress, len(allow))
}

// reportHTTPMode reports which implementation serves HTTP.
func (r *report) reportHTTPMode(server config.Server) {
	const what = "HTTP"
	if server.HTTP == config.HTTPStandard {
		r.reportOK(what, "standard: net/http alone, at more CPU for each call than with PATCHBAY_HTTP=fast")
		return
	}
	r.reportOK(what, "fast")
}

// checkProxy asks the operator's proxy for a host that cannot exist, so that no server gets a request.
func (r *report) checkProxy(ctx context.Context, server config.Server) {
	const what = "egress proxy"
	p, err := installation.EgressProxy(server)
	switch {
	case err != nil:
		r.reportError(what, err)
		return
	case p == nil:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err = p.Try(ctx)
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		r.reportProblem(what, "%s: %s%s", p, cmp.Or(failed.OperatorHint, failed.Why), addParentheses(failed.Err))
		return
	}
	if err != nil {
		r.reportError(what, err)
		return
	}
	r.reportOK(what, "%s answers; what leaves this machine goes through it", p)
}

func addParentheses(cause error) string {
	if cause == nil {
		return ""
	}
	return " (" + cause.Error() + ")"
}

func (r *report) checkCatalog(server config.Server) {
	const what = "catalog"
	offered, err := installation.LoadCatalog(server.Catalog)
	if err != nil {
		r.reportError(what, err)
		return
	}
	r.reportOK(what, "%d servers, Patchbay's own of %s", len(offered.Entries(catalog.Filter{})), offered.Date)
}
