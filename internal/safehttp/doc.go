// Package safehttp is the only HTTP client for outbound requests. It decides where Patchbay may connect.
//
// Tenants enter the addresses of servers, so they are checked twice: the URL when it is entered
// ([Policy.CheckURL], url.go), and the resolved address at every connection ([Policy.Client], client.go and
// address.go), because DNS answers change.
//
//	mode     scheme       addresses            ports
//	public   https        global               443, 8443
//	local    http, https  global               80, 443, 8443
//	                      loopback             any, by loopback address or localhost
//	any      http, https  an operator's Exception, its port; another server beside Patchbay, too
//
// Forbidden in any mode: userinfo or a fragment in the URL, an address in numeric or folded form (host.go),
// Patchbay's own address. Redirects are not followed, and HTTP_PROXY is ignored. A refusal does not reveal what
// a name resolves to.
//
// With the operator's [Proxy] (proxy.go) everything but loopback goes through it. URLs and addresses are
// checked as before. A name is checked by its addresses here, if it has any, and resolved again by the proxy.
//
// Each tenant has its own connections (tenant.go).
package safehttp
