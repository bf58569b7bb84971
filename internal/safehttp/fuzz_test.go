package safehttp_test

import (
	"net/netip"
	"strings"
	"testing"

	"patchbay/internal/safehttp"
)

// FuzzCheckURL: without an exception, an allowed URL is https with a public port. Its host is a global address
// in canonical form or a name that is no number. Local mode also refuses private addresses.
func FuzzCheckURL(f *testing.F) {
	for _, c := range urls {
		f.Add(c.url)
	}
	public, local := safehttp.New(safehttp.Options{Mode: safehttp.Public}), safehttp.New(safehttp.Options{Mode: safehttp.Local})
	f.Fuzz(func(t *testing.T, raw string) {
		if u, err := public.CheckURL(raw); err == nil {
			host := u.Hostname()
			if u.Scheme != "https" || u.User != nil || u.Fragment != "" || u.Port() != "" && u.Port() != "443" && u.Port() != "8443" {
				t.Errorf("%q passes as %s", raw, u)
			}
			addr, err := netip.ParseAddr(host)
			switch {
			case err == nil && (!addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is4In6() || addr.Zone() != ""):
				t.Errorf("%q leads to %s", raw, addr)
			case err != nil && (!strings.Contains(strings.TrimSuffix(host, "."), ".") || strings.ContainsAny(host, "%@\\/ \x00") || isNumber(host)):
				t.Errorf("%q leads to %q", raw, host)
			}
		}
		if u, err := local.CheckURL(raw); err == nil {
			if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !addr.IsLoopback() && (addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()) {
				t.Errorf("%q leads to %s", raw, addr)
			}
		}
	})
}

// isNumber reports whether some resolver reads a name as an address: its last label is a number.
func isNumber(host string) bool {
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == ""
}

// FuzzParseAllow: exceptions are parsed or refused, and allow no more than they name.
func FuzzParseAllow(f *testing.F) {
	f.Add("10.0.0.0/8:443, [fd00::/8]:*,printer.lan:8443")
	f.Add(":*,[]:1,%:0")
	f.Fuzz(func(t *testing.T, csv string) {
		allow, err := safehttp.ParseAllow(csv)
		if err != nil {
			return
		}
		p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow})
		if _, err := p.CheckURL("https://169.254.169.254/"); err == nil && !strings.Contains(csv, "/") && !strings.Contains(csv, "169.254.169.254") {
			t.Errorf("%q frees the machine's own metadata", csv)
		}
	})
}
