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
		r.reportProblem("settings", "%s is set but isn't a known setting. patchbay serve --help lists them.", name)
	}
	if err != nil {
		r.reportError("settings", err)
		return
	}
	r.reportOK("settings", "all valid")
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
		r.reportProblem(what, "PATCHBAY_ADDR names an unknown host: %s.", server.Addr)
		return
	}
	base := server.BaseURL(addr)
	loopback := config.IsLoopback(base.Hostname())
	switch {
	case base.Scheme == "http" && !loopback:
		r.reportProblem(what, "%s is plain http: passwords and keys are sent unencrypted. Put an https proxy in front and set PATCHBAY_BASE_URL to its URL.", base)
	case !server.BaseURLIsSet() && !config.IsLoopback(addr.IP.String()):
		r.reportProblem(what, "the server listens on %s, but links point to %s. Set PATCHBAY_BASE_URL to the URL that people use.", server.Addr, base)
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
		r.reportProblem(what, "%s is plain http: authorization servers reject it, and codes would be sent unencrypted. Set PATCHBAY_BASE_URL to an https URL and register the callback under it.", url)
	case loopback && server.Egress == config.EgressPublic:
		r.reportNote(what, "%s works only on this machine, but connectors lead outside: only a browser on this machine can connect accounts. Set PATCHBAY_BASE_URL to the https URL that people use.", url)
	default:
		r.reportOK(what, "%s: use it as the redirect URI when you register a client by hand", url)
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
		r.reportProblem(what, "local, but others can reach this server: every tenant's admins can reach this machine. Set PATCHBAY_EGRESS=public, and PATCHBAY_EGRESS_ALLOW for exceptions.")
		return
	}
	r.reportOK(what, "%s, with %d exceptions", server.Egress, len(allow))
}

// reportHTTPMode reports which implementation serves HTTP.
func (r *report) reportHTTPMode(server config.Server) {
	const what = "HTTP"
	if server.HTTP == config.HTTPStandard {
		r.reportOK(what, "standard: net/http only, which takes more CPU per call than PATCHBAY_HTTP=fast")
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
	r.reportOK(what, "%s answers; all outbound traffic uses it", p)
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
	r.reportOK(what, "%d servers; Patchbay's own list is from %s", len(offered.Entries(catalog.Filter{})), offered.Date)
}
