package installation

import (
	"net"
	"net/netip"
	"net/url"

	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// EgressProxy parses the operator's proxy; nil: none.
func EgressProxy(server config.Server) (*safehttp.Proxy, error) {
	p, err := safehttp.ParseProxy(server.EgressProxy)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_EGRESS_PROXY "+fault.As(err).Message)
	}
	return p, nil
}

// NewEgressPolicy returns the server's egress policy. A command has no listener, so the server's own address
// comes from its settings.
func NewEgressPolicy(server config.Server) (*safehttp.Policy, error) {
	allow, err := safehttp.ParseAllow(server.EgressAllow)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_EGRESS_ALLOW "+fault.As(err).Message)
	}
	addr, err := net.ResolveTCPAddr("tcp", server.Addr)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "PATCHBAY_ADDR has no address.")
	}
	proxy, err := EgressProxy(server)
	if err != nil {
		return nil, err
	}
	own := OwnHosts(server.BaseURL(addr), addr.String(), server)
	return safehttp.New(safehttp.Options{Mode: safehttp.Mode(server.Egress), Allow: allow, OwnHosts: own, Proxy: proxy, Standard: true}), nil
}

// OwnHosts are the names and addresses that lead back to Patchbay, which no connector may use. If connectors
// can reach loopback, the private listener is among them: a person who may add a connector need not see
// profiles.
func OwnHosts(base *url.URL, listening string, server config.Server) []string {
	port := base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[base.Scheme]
	}
	hosts := append([]string{net.JoinHostPort(base.Hostname(), port)}, localAddresses(listening)...)
	if server.Egress == config.EgressLocal {
		hosts = append(hosts, localAddresses(server.PrivateAddr)...)
	}
	return hosts
}

// localAddresses are the addresses of a listener on this machine; none without a listener.
func localAddresses(listening string) []string {
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		return nil
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return []string{listening, "127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port}
	}
	return []string{listening}
}
