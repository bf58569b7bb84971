package safehttp

import (
	"net/netip"
	"strconv"
	"strings"
)

// hostDefect returns a sentence with %s for the host if it is no unambiguous host name, else "". Resolvers read
// numeric, folded and non-ASCII forms differently ("127.1", "0x7f.1", "2130706433", "①27.0.0.1"), so the check
// could see another host than the connection.
func hostDefect(host string) string {
	name := strings.TrimSuffix(host, ".")
	if name == "" || len(name) > 253 {
		return "The URL has no valid host."
	}
	for _, c := range []byte(name) {
		if c >= 0x80 {
			return "The host %s isn't ASCII; use its xn-- form."
		}
		if !isLetter(c) && !isDigit(c) && c != '-' && c != '.' && c != '_' {
			return "The host %s contains an invalid character."
		}
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return "The host %s is invalid."
		}
	}
	if last := labels[len(labels)-1]; isNumeric(last) {
		return "The host %s is a number; use an address like 192.0.2.1."
	}
	return ""
}

// isNumeric reports whether a last label makes a resolver read the whole host as an IPv4 address (WHATWG URL,
// "ends in a number").
func isNumeric(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(strings.ToLower(label), "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// internalSuffixes end names that are valid in one network only (RFC 6761, RFC 6762, RFC 8375, and customs).
// .test and .invalid are missing: no lookup finds them.
var internalSuffixes = []string{
	"localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa", "svc", "localdomain",
	"onion",
}

// isInternal reports whether a name is internal, or has a single label.
func isInternal(host string) bool {
	name := strings.TrimSuffix(host, ".")
	if !strings.Contains(name, ".") {
		return true
	}
	for _, suffix := range internalSuffixes {
		if strings.HasSuffix(name, "."+suffix) {
			return true
		}
	}
	return strings.Contains(name, ".svc.") // Kubernetes: name.namespace.svc.cluster.local
}

// metadataHosts are the metadata services of clouds, which return a machine's credentials. They resolve to
// internal addresses on the clouds' machines only, which Patchbay does not see behind an egress proxy.
var metadataHosts = []string{
	"metadata", "instance-data", "instance-data.ec2.internal", "metadata.google.internal", "metadata.goog", "metadata.azure.internal", "metadata.azure.com",
	"metadata.platformequinix.com", "metadata.packet.net", "metadata.tencentyun.com", "api.metadata.cloud.ibm.com", "metadata.vultr.com", "metadata.digitalocean.com",
	"rancher-metadata", "rancher-metadata.rancher.internal",
}

// isMetadata reports whether a name is a cloud's metadata service, or a subdomain of one.
func isMetadata(host string) bool {
	for _, name := range metadataHosts {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}

// isLocalhost reports whether a name means this machine (RFC 6761 section 6.3).
func isLocalhost(host string) bool {
	name := strings.TrimSuffix(host, ".")
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parseHostPort parses "host" or "host:port". Port 0 means that there is none.
func parseHostPort(text string) (host string, port uint16) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().String(), at.Port()
	}
	host = text
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.Contains(text[:i], ":") {
		if n, err := strconv.ParseUint(text[i+1:], 10, 16); err == nil {
			host, port = text[:i], uint16(n)
		}
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.Unmap().String()
	}
	return host, port
}
