package safehttp_test

import (
	"errors"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// urls have verdicts for both modes: y is allowed, n blocked, x not a URL.
var urls = []struct{ url, public, local string }{
	// Usual URLs.
	{"https://mcp.example.com/mcp", "y", "y"},
	{"https://mcp.example.com", "y", "y"},
	{"https://mcp.example.com:443/mcp?team=eu&x=%20", "y", "y"},
	{"https://mcp.example.com:8443/", "y", "y"},
	{"HTTPS://MCP.EXAMPLE.COM/mcp", "y", "y"},
	{"https://mcp.example.com./mcp", "y", "y"},
	{"https://xn--bcher-kva.example/mcp", "y", "y"},
	{"https://under_score.example.com/", "y", "y"},
	{"https://8.8.8.8/", "y", "y"},
	{"https://[2606:4700:4700::1111]/", "y", "y"},
	{"https://1e100.net/", "y", "y"},
	{"https://0xcafe.example.com/", "y", "y"},

	// Schemes.
	{"http://mcp.example.com/mcp", "n", "n"},
	{"http://8.8.8.8/", "n", "n"},
	{"http://mcp.example.com:443/", "n", "n"},
	{"ftp://mcp.example.com/", "n", "n"},
	{"file:///etc/passwd", "n", "n"},
	{"gopher://mcp.example.com:70/_x", "n", "n"},
	{"javascript:alert(1)", "x", "x"},
	{"https:mcp.example.com", "x", "x"},
	{"//mcp.example.com/mcp", "x", "x"},
	{"mcp.example.com/mcp", "x", "x"},
	{"", "x", "x"},
	{"https://", "n", "n"},
	{"https:///mcp", "n", "n"},

	// Ports.
	{"https://mcp.example.com:22/", "n", "n"},
	{"https://mcp.example.com:6379/", "n", "n"},
	{"https://mcp.example.com:80/", "n", "n"},
	{"https://mcp.example.com:0/", "n", "n"},
	{"https://mcp.example.com:65536/", "n", "n"},
	{"https://mcp.example.com:/", "n", "n"},
	{"https://mcp.example.com:https/", "x", "x"},
	{"https://8.8.8.8:53/", "n", "n"},

	// Userinfo, fragments, odd characters.
	{"https://user@mcp.example.com/", "n", "n"},
	{"https://user:pw@mcp.example.com/", "n", "n"},
	{"https://mcp.example.com@127.0.0.1/", "n", "n"},
	{"https://127.0.0.1#@mcp.example.com/", "n", "n"},
	{"https://mcp.example.com/#top", "n", "n"},
	{"https://mcp.example.com/#", "n", "n"},
	{"https://mcp.example.com\\@127.0.0.1/", "x", "x"},
	{"https://mcp.example.com\t/", "x", "x"},
	{"https://mcp.example.com\r\nHost: x/", "x", "x"},
	{"https://mcp example.com/", "x", "x"},
	{" https://mcp.example.com/", "x", "x"},
	{"https://mcp..example.com/", "n", "n"},
	{"https://.example.com/", "n", "n"},
	{"https://mcp.example.com,127.0.0.1/", "n", "n"},
	{"https://mcp.example.com;127.0.0.1/", "n", "n"},
	{"https://" + strings.Repeat("a", 64) + ".example.com/", "n", "n"},
	{"https://" + strings.Repeat("a.", 130) + "com/", "n", "n"},
	{"https://mcp.example.com/" + strings.Repeat("a", 2048), "x", "x"},

	// Names that are valid in one network only.
	{"https://localhost/", "n", "y"},
	{"http://localhost:3001/mcp", "n", "y"},
	{"https://LOCALHOST./", "n", "y"},
	{"https://app.localhost/", "n", "y"},
	{"https://printer/", "n", "n"},
	{"https://printer.local/", "n", "n"},
	{"https://PRINTER.LOCAL./", "n", "n"},
	{"https://metadata.google.internal/", "n", "n"},
	{"http://metadata.google.internal/computeMetadata/v1/", "n", "n"},
	{"https://metadata.goog/computeMetadata/v1/", "n", "n"},
	{"http://METADATA.goog./", "n", "n"},
	{"https://a.metadata.goog/", "n", "n"},
	{"http://metadata/", "n", "n"},
	{"http://instance-data/latest/meta-data/", "n", "n"},
	{"https://metadata.azure.internal/metadata/instance", "n", "n"},
	{"http://metadata.tencentyun.com/latest/", "n", "n"},
	{"http://api.metadata.cloud.ibm.com/", "n", "n"},
	{"http://metadata.platformequinix.com/", "n", "n"},
	{"https://metadata.example.com/", "y", "y"}, // a name that anyone may own
	{"https://my-metadata.goog/", "y", "y"},
	{"https://wiki.lan/", "n", "n"},
	{"https://router.home.arpa/", "n", "n"},
	{"https://api.team.svc/", "n", "n"},
	{"https://api.team.svc.cluster.local/", "n", "n"},
	{"https://kubernetes.default.svc.example/", "n", "n"},
	{"https://mcp.invalid/", "y", "y"}, // not internal: the lookup fails
	{"https://mcp.test/", "y", "y"},

	// IPv4 addresses that are not global.
	{"http://127.0.0.1:3001/mcp", "n", "y"},
	{"https://127.0.0.1/", "n", "y"},
	{"https://127.255.255.254/", "n", "y"},
	{"https://0.0.0.0/", "n", "n"},
	{"https://10.0.0.5/", "n", "n"},
	{"https://172.16.0.1/", "n", "n"},
	{"https://172.31.255.255/", "n", "n"},
	{"https://172.32.0.1/", "y", "y"},
	{"https://192.168.1.1/", "n", "n"},
	{"https://169.254.169.254/latest/meta-data/", "n", "n"},
	{"https://100.64.0.1/", "n", "n"},
	{"https://100.100.100.200/", "n", "n"},
	{"https://168.63.129.16/", "n", "n"},
	{"https://192.0.0.1/", "n", "n"},
	{"https://192.0.2.1/", "n", "n"},
	{"https://198.18.0.1/", "n", "n"},
	{"https://203.0.113.9/", "n", "n"},
	{"https://224.0.0.1/", "n", "n"},
	{"https://255.255.255.255/", "n", "n"},

	// IPv6 addresses that are not global, or hide an IPv4 one.
	{"http://[::1]:3001/", "n", "y"},
	{"https://[::]/", "n", "n"},
	{"https://[fe80::1]/", "n", "n"},
	{"https://[fe80::1%25eth0]/", "n", "n"},
	{"https://[fd00::1]/", "n", "n"},
	{"https://[fec0::1]/", "n", "n"},
	{"https://[ff02::1]/", "n", "n"},
	{"https://[::ffff:127.0.0.1]/", "n", "n"},
	{"https://[::ffff:10.0.0.1]/", "n", "n"},
	{"https://[::ffff:8.8.8.8]/", "n", "n"},
	{"https://[::127.0.0.1]/", "n", "n"},
	{"https://[64:ff9b::7f00:1]/", "n", "n"},
	{"https://[64:ff9b:1::a00:1]/", "n", "n"},
	{"https://[2002:7f00:1::]/", "n", "n"},
	{"https://[2001:0:7f00:1::]/", "n", "n"},
	{"https://[2001:db8::1]/", "n", "n"},
	{"https://[100::1]/", "n", "n"},
	{"https://[::1/", "x", "x"},

	// Numeric, folded and foreign forms.
	{"https://2130706433/", "n", "n"},
	{"https://0x7f000001/", "n", "n"},
	{"https://0x7f.1/", "n", "n"},
	{"https://127.1/", "n", "n"},
	{"https://127.0.1/", "n", "n"},
	{"https://0177.0.0.1/", "n", "n"},
	{"https://127.0.0.01/", "n", "n"},
	{"https://127.0.0.1./", "n", "n"},
	{"https://127.0.0.1.5/", "n", "n"},
	{"https://256.1.1.1/", "n", "n"},
	{"https://127.0.0.0x1/", "n", "n"},
	{"https://①②⑦.0.0.1/", "n", "n"},
	{"https://１２７.0.0.1/", "n", "n"},
	{"https://127。0。0。1/", "n", "n"},
	{"https://ⓛocalhost/", "n", "n"},
	{"https://bücher.example/", "n", "n"},
	{"https://%31%32%37.0.0.1/", "x", "x"},
	{"https://127%2e0.0.1/", "x", "x"},

	// Patchbay itself.
	{"https://patchbay.example.org/mcp", "n", "y"},
	{"https://PATCHBAY.example.org./mcp", "n", "y"},
	{"https://patchbay.example.org:8443/mcp", "n", "n"},
	{"https://9.9.9.9/", "n", "n"},
}

var ownHosts = []string{"patchbay.example.org:8443", "9.9.9.9", "127.0.0.1", ""}

func TestCheckURL_EveryClassOfURL(t *testing.T) {
	t.Parallel()
	public := safehttp.New(safehttp.Options{Mode: safehttp.Public, OwnHosts: ownHosts})
	local := safehttp.New(safehttp.Options{Mode: safehttp.Local, OwnHosts: ownHosts})
	for _, c := range urls {
		for mode, want := range map[*safehttp.Policy]string{public: c.public, local: c.local} {
			name := map[*safehttp.Policy]string{public: "public", local: "local"}[mode]
			_, err := mode.CheckURL(c.url)
			if got := verdictOf(err); got != want {
				t.Errorf("%s %q: %s (%v), want %s", name, c.url, got, err, want)
			}
		}
	}
}

func verdictOf(err error) string {
	if err == nil {
		return "y"
	}
	if _, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return "n"
	}
	if fault.Is(err, fault.Invalid) {
		return "x"
	}
	return "?"
}

func TestBlockedError_IsSentence(t *testing.T) {
	t.Parallel()
	p := safehttp.New(safehttp.Options{})
	const byException = " The operator can allow it in PATCHBAY_EGRESS_ALLOW."
	for url, want := range map[string]string{
		"https://10.0.0.5/":           "The address 10.0.0.5 is private." + byException,
		"https://127.0.0.1/":          "The address 127.0.0.1 is loopback." + byException,
		"https://169.254.169.254/":    "The address 169.254.169.254 is link-local." + byException,
		"https://2130706433/":         "The host 2130706433 is a number; use an address like 192.0.2.1.",
		"https://a.internal/":         "The name a.internal is internal." + byException,
		"http://mcp.example.com/":     "The URL of mcp.example.com must begin with https://. The operator can allow http in PATCHBAY_EGRESS_ALLOW.",
		"https://10.0.0.5:9000/":      "The address 10.0.0.5 is private." + byException,
		"https://8.8.8.8:9000/":       "The port of 8.8.8.8 is blocked." + byException,
		"https://mcp.example.com:22/": "The port in the URL of mcp.example.com is blocked." + byException,
	} {
		if _, err := p.CheckURL(url); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

func TestException_OpensWhatItNames(t *testing.T) {
	t.Parallel()
	allow, err := safehttp.ParseAllow(" 10.1.0.0/16:8443, 10.2.0.5:*,wiki.LAN:80 ,[fd00::/8]:443, [2001:db8::7]:9000,tools:7000")
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow})
	for url, want := range map[string]string{
		"https://10.1.2.3:8443/":       "y",
		"http://10.1.2.3:8443/":        "y",
		"https://10.1.2.3/":            "n",
		"https://10.2.0.5:1234/":       "y",
		"https://10.2.0.6:1234/":       "n",
		"http://wiki.lan/":             "y",
		"http://wiki.lan./":            "y",
		"https://wiki.lan/":            "n",
		"http://other.wiki.lan/":       "n",
		"https://[fd12::1]/":           "y",
		"https://[fd12::1]:8443/":      "n",
		"https://[2001:db8::7]:9000/":  "y",
		"http://tools:7000/mcp":        "y",
		"http://tools:7001/mcp":        "n",
		"https://[::ffff:10.2.0.5]/":   "n",
		"https://u@tools:7000/":        "n",
		"http://mcp.example.com:8443/": "n",
	} {
		if _, err := p.CheckURL(url); verdictOf(err) != want {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

func TestException_NeverOpensPatchbayItself(t *testing.T) {
	t.Parallel()
	allow, err := safehttp.ParseAllow("127.0.0.1/32:9000, 127.0.0.1/32:8080, localhost:9000, localhost:8080, patchbay.example.org:9000, patchbay.example.org:443")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []safehttp.Mode{safehttp.Public, safehttp.Local} {
		p := safehttp.New(safehttp.Options{Mode: mode, Allow: allow, OwnHosts: []string{"patchbay.example.org:443", "127.0.0.1:8080"}})
		for url, want := range map[string]string{
			"http://127.0.0.1:9000/mcp":           "y",
			"http://localhost:9000/mcp":           "y",
			"http://patchbay.example.org:9000/":   "y",
			"http://127.0.0.1:8080/mcp":           "n",
			"http://localhost:8080/mcp":           "n",
			"http://LOCALHOST.:8080/mcp":          "n",
			"https://patchbay.example.org/mcp":    "n",
			"https://127.0.0.1:9001/mcp":          map[safehttp.Mode]string{safehttp.Public: "n", safehttp.Local: "y"}[mode],
			"https://patchbay.example.org:8443/x": map[safehttp.Mode]string{safehttp.Public: "n", safehttp.Local: "y"}[mode],
		} {
			if _, err := p.CheckURL(url); verdictOf(err) != want {
				t.Errorf("%s, %s: %v, want %s", mode, url, err, want)
			}
		}
	}
}

func TestParseAllow_RefusesInvalid(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"10.0.0.0/8", "10.0.0.0/33:443", "10.0.0.5:0", "10.0.0.5:65536", "10.0.0.5:http", ":443", "*:443", "fd00::/8:443",
		"[fd00::/8:443", "[10.0.0.0/8]:443", "[wiki]:80", "bad host:80", "127.1:80", "[::ffff:10.0.0.0/104]:80", "10.0.0.1:80,nonsense",
	} {
		if _, err := safehttp.ParseAllow(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v, want a refusal", text, err)
		}
	}
	if none, err := safehttp.ParseAllow(" , "); err != nil || len(none) != 0 {
		t.Errorf("nothing: %v, %v", none, err)
	}
}
