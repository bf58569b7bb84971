package safehttp

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/fault"
)

const maxURLLength = 2048

// CheckURL parses a server's URL and checks what needs no lookup. The error is a *BlockedError, or a
// *fault.Error if the text is no URL.
func (p *Policy) CheckURL(raw string) (*url.URL, error) {
	if len(raw) > maxURLLength {
		return nil, fault.Errorf(fault.Invalid, "The URL is longer than %d characters.", maxURLLength)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.Scheme == "" {
		return nil, fault.Errorf(fault.Invalid, "Enter a URL like https://mcp.example.com/mcp.")
	}
	if strings.Contains(raw, "#") {
		return nil, newBlockedError(u.Hostname(), "The URL of %s has a fragment (#); remove it.")
	}
	if err := p.checkURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

// needsHTTPS refuses http, which would show credentials on the way. Mode Local permits it on this machine.
const needsHTTPS = "The URL of %s must begin with https://. The operator can allow http in PATCHBAY_EGRESS_ALLOW."

// checkURL returns a *BlockedError unless a request to u is allowed.
func (p *Policy) checkURL(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return newBlockedError(host, "The URL of %s must begin with https://.")
	case u.User != nil:
		return newBlockedError(host, "The URL of %s contains a user name; enter credentials separately.")
	}
	port, ok := parsePort(u)
	if !ok {
		return newBlockedError(host, "The URL of %s has an invalid port.")
	}
	if strings.HasPrefix(u.Host, "[") || isDotted(host) {
		return p.checkLiteral(u.Scheme, host, port)
	}
	return p.checkName(u.Scheme, host, port)
}

// checkLiteral checks a URL whose host is an address.
func (p *Policy) checkLiteral(scheme, host string, port uint16) error {
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" || addr.Is4In6() || addr.Is4() && addr.String() != host {
		return newBlockedError(host, "The address %s isn't in canonical form.")
	}
	at := netip.AddrPortFrom(addr, port)
	if err := p.checkAddress(at, false); err != nil {
		return err
	}
	if scheme == "http" && !(p.local && addr.IsLoopback()) && !p.allowsAddress(at) {
		return newBlockedError(host, needsHTTPS)
	}
	return nil
}

// checkName checks a URL whose host is a name. Its addresses are checked at each connection.
func (p *Policy) checkName(scheme, host string, port uint16) error {
	if defect := hostDefect(host); defect != "" {
		if !strings.Contains(defect, "%s") {
			return &BlockedError{Host: host, Why: defect}
		}
		return newBlockedError(host, defect)
	}
	host = strings.TrimSuffix(host, ".")
	freed := p.allowsHost(host, port)
	switch {
	case p.isOwn(host, port, freed), isLocalhost(host) && p.isOwnLoopback(port):
		return newBlockedError(host, "The host %s is Patchbay itself.")
	case freed, p.local && isLocalhost(host):
		return nil
	case isMetadata(host):
		return newBlockedError(host, "The name %s is a cloud metadata service and is blocked.")
	case isInternal(host):
		return newBlockedError(host, "The name %s is internal. The operator can allow it in PATCHBAY_EGRESS_ALLOW.")
	case scheme == "http":
		return newBlockedError(host, needsHTTPS)
	case !slices.Contains(p.ports, port):
		return newBlockedError(host, "The port in the URL of %s is blocked. The operator can allow it in PATCHBAY_EGRESS_ALLOW.")
	}
	return nil
}

// isDotted reports whether a host is an IPv4 address in canonical form.
func isDotted(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Is4()
}

func parsePort(u *url.URL) (port uint16, ok bool) {
	text := u.Port()
	switch {
	case text == "" && strings.HasSuffix(u.Host, ":"):
		return 0, false
	case text == "" && u.Scheme == "https":
		return 443, true
	case text == "":
		return 80, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n > 0
}
