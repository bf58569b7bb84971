package connectors

import (
	"net/netip"
	"net/url"
	"strings"
)

// completeURL adds the scheme to an address without one: http for this machine, its network and names without a dot,
// https for others.
func completeURL(typed string) string {
	if typed == "" || strings.Contains(typed, "://") {
		return typed
	}
	u, err := url.Parse("https://" + typed)
	if err != nil || u.Hostname() == "" {
		return typed
	}
	if isLocalHost(u.Hostname()) {
		return "http://" + typed
	}
	return "https://" + typed
}

func isLocalHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".")
}

// suggestName makes a connector's name of its URL: "Linear" of https://mcp.linear.app/mcp; empty if it is not an HTTP
// URL.
func suggestName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	labels := strings.Split(host, ".")
	for len(labels) > 2 && (labels[0] == "mcp" || labels[0] == "api" || labels[0] == "www") {
		labels = labels[1:]
	}
	name := labels[0]
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
