package safehttp_test

import "strings"

// attempt is one way to make a public installation connect somewhere.
type attempt struct {
	url string
	// answers are the addresses of the URL's name, separated by commas; empty: one global address.
	answers string
}

func attemptsAt(urls ...string) (all []attempt) {
	for _, u := range urls {
		all = append(all, attempt{url: u})
	}
	return all
}

// attemptsBehind use one name that resolves to each address in turn.
func attemptsBehind(addresses ...string) (all []attempt) {
	for _, a := range addresses {
		all = append(all, attempt{"https://mcp.example.com/", a})
	}
	return all
}

// literals use the addresses in URLs and as the result of a lookup: neither way may allow more.
func literals(addresses ...string) (all []attempt) {
	for _, a := range addresses {
		host := a
		if strings.Contains(a, ":") {
			host = "[" + a + "]"
		}
		all = append(all, attempt{url: "https://" + host + "/"})
	}
	return append(all, attemptsBehind(addresses...)...)
}

// installationHosts are the installation's own names and addresses.
var installationHosts = []string{"patchbay.example.org:443", "9.9.9.9:8080", "[2620:fe::9]:8080"}

// attacks must not connect in public mode.
var attacks = map[string][]attempt{
	"this machine": literals("127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "::1"),
	"private": literals("10.0.0.0", "10.0.0.5", "10.255.255.255", "172.16.0.1", "172.20.10.2", "172.31.255.255",
		"192.168.0.1", "192.168.255.255"),
	"link-local":         literals("169.254.0.1", "169.254.10.10", "169.254.255.255", "fe80::1", "fe80::a00:27ff:fe4e:66a1", "febf:ffff::1"),
	"carrier's NAT":      literals("100.64.0.1", "100.100.100.100", "100.127.255.255"),
	"nobody's":           literals("0.0.0.0", "0.0.0.1", "0.1.2.3", "::"),
	"multicast":          literals("224.0.0.1", "224.0.0.251", "232.1.1.1", "239.255.255.250", "ff02::1", "ff02::fb", "ff05::1:3", "ff0e::1"),
	"broadcast":          literals("255.255.255.255", "240.0.0.1", "254.1.2.3"),
	"protocols' own":     literals("192.0.0.1", "192.0.0.8", "192.0.0.170", "192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1"),
	"documentation":      literals("192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"),
	"benchmarks":         literals("198.18.0.1", "198.19.255.255", "2001:2::1"),
	"discarded":          literals("100::1", "100:0:0:1::1"),
	"IPv6 for one's own": literals("fc00::1", "fd00::1", "fd12:3456:789a:1::1", "fdff:ffff::1", "fec0::1", "feff::1"),
	"IPv6 not in use":    literals("1::1", "4000::1", "5f00::1", "8000::1", "fe00::1", "2001:10::1", "2001:20::1"),
	"mapped IPv4": append(literals("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:7f00:1", "::ffff:0:0"), attemptsAt(
		"https://[::ffff:8.8.8.8]/", "https://[0:0:0:0:0:ffff:7f00:1]/", "https://[::FFFF:127.0.0.1]/", "https://[::ffff:0:7f00:1]/")...),
	"compatible IPv4": literals("::127.0.0.1", "::7f00:1", "::10.0.0.1", "::a9fe:a9fe", "::8.8.8.8"),
	"NAT64": literals("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::192.168.1.1", "64:ff9b:1::a00:1",
		"64:ff9b:1:ffff::7f00:1", "64:ff9b:1::127.0.0.1"),
	"6to4":   literals("2002:7f00:1::", "2002:7f00:1::1", "2002:a00:1::1", "2002:a9fe:a9fe::1", "2002:c0a8:101::1"),
	"Teredo": literals("2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"),
	"zones": attemptsAt("https://[fe80::1%25eth0]/", "https://[fe80::1%25lo]/", "https://[::1%25lo]/", "https://[::1%251]/", "https://[2606:4700:4700::1111%25eth0]/",
		"https://[fe80::1%eth0]/", "https://[fe80::1%25]/"),
	"addresses as numbers": attemptsAt("https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0X7F000001/", "https://0x7f.0x0.0x0.0x1/",
		"https://0177.0.0.1/", "https://0177.0000.0000.0001/", "https://00000177.1/", "https://127.0.0.01/", "https://127.0.00.1/", "https://127.1/",
		"https://127.0.1/", "https://127.65535/", "https://10.1/", "https://0/", "https://00/", "https://0x0/", "https://0x/", "https://1/",
		"https://4294967295/", "https://4294967297/", "https://2852039166/", "https://0xa9fea9fe/", "https://0251.0376.0251.0376/", "https://0xa9.254.0251.254/",
		"https://169.254.43518/", "https://169.16689662/", "https://425.510.425.510/", "https://256.0.0.1/", "https://127.0.0.256/", "https://127.0.0.1.1/",
		"https://127.0.0.1./", "https://127.0.0.1../", "https://127..0.0.1/", "https://.127.0.0.1/", "https://127.0.0.0x1/",
		"https://0b1111111.1/", "https://8.8.8.010/", "https://134744072/", "https://mcp.example.0x7f/", "https://-1/", "https://+127.0.0.1/"),
	"foreign digits and dots": attemptsAt("https://①②⑦.⓪.⓪.①/", "https://１２７.0.0.1/", "https://127。0。0。1/", "https://127．0．0．1/", "https://127｡0｡0｡1/",
		"https://١٢٧.٠.٠.١/", "https://१२७.०.०.१/", "https://𝟏𝟐𝟕.0.0.1/", "https://127.0.0.¹/", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "https://ｌocalhost/",
		"https://localhoſt/", "https://ₗocalhost/", "https://mcp。example。com/", "https://bücher.example/", "https://mcp.example.com／@127.0.0.1/",
		"https://mcp.example.com＠127.0.0.1/", "https://127.0.0.1\u200b/", "https://127.0.0.1\u00ad/", "https://loca\u200dlhost/", "https://\u202e1.0.0.721/",
		"https://patchbаy.example.org/", "https://mcp.example.com\ufeff/", "https://mcp.example.com：6379/", "https://[：：1]/"),
	"names of the network": attemptsAt("https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://app.localhost/", "https://localhost.localdomain/",
		"https://printer/", "https://printer./", "https://printer.local/", "https://PRINTER.LOCAL./", "https://wiki.lan/", "https://intranet.corp/",
		"https://nas.home/", "https://router.home.arpa/", "https://db.private/", "https://wiki.intranet/", "https://api.team.svc/",
		"https://kubernetes.default.svc/", "https://kubernetes.default.svc.cluster.local/", "https://api.svc.prod.example/", "https://a.onion/", "https://host.docker.internal/",
		"https://gateway.docker.internal/", "https://host.containers.internal/"),
	"clouds' metadata": append(attemptsAt("https://169.254.169.254/latest/meta-data/", "https://169.254.170.2/v2/credentials", "https://169.254.169.123/",
		"https://[fd00:ec2::254]/", "https://[fd20:ce::254]/computeMetadata/v1/", "https://[fd00:42::42]/", "https://100.100.100.200/", "https://168.63.129.16/", "https://192.0.0.192/opc/v2/", "https://169.254.42.42/",
		"https://metadata/", "https://instance-data/", "https://metadata.google.internal/computeMetadata/v1/", "https://metadata.goog.internal/",
		"https://instance-data.ec2.internal/", "https://metadata.internal./", "https://metadata.goog/computeMetadata/v1/", "https://METADATA.GOOG./", "https://x.metadata.goog/",
		"https://metadata.azure.internal/", "https://metadata.azure.com/", "https://metadata.tencentyun.com/", "https://metadata.packet.net/", "https://metadata.platformequinix.com/",
		"https://api.metadata.cloud.ibm.com/", "https://metadata.vultr.com/", "https://metadata.digitalocean.com/"),
		attempt{"https://metadata.tencentyun.com/", "169.254.0.23"}, attempt{"https://metadata.example.com/", "168.63.129.16"}, attempt{"https://metadata.example.com/", "fd00:ec2::254"},
		attempt{"https://metadata.example.com/", "100.100.100.200"}, attempt{"https://169.254.169.254.nip.example/", "169.254.169.254"}),
	"names of others that lead inside": {
		{"https://localtest.example.com/", "127.0.0.1"}, {"https://127.0.0.1.nip.example/", "127.0.0.1"}, {"https://10-0-0-5.ip.example/", "10.0.0.5"},
		{"https://xn--bcher-kva.example/", "192.168.1.1"}, {"https://mcp.example.com./", "10.0.0.5"}, {"https://MCP.EXAMPLE.COM:8443/", "169.254.169.254"},
		{"https://mcp.test/", "127.0.0.1"}, {"https://under_score.example.com/", "::1"}, {"https://a.b.c.d.e.f.example.com/", "fe80::1"},
	},
	"answers that are all bad": attemptsBehind("127.0.0.1,10.0.0.5", "::1,127.0.0.1", "169.254.169.254,fe80::1,10.1.2.3", "9.9.9.9,2620:fe::9"),
	"user names": attemptsAt("https://user@mcp.example.com/", "https://user:pw@mcp.example.com/", "https://:pw@mcp.example.com/", "https://@mcp.example.com/", "https://:@mcp.example.com/",
		"https://mcp.example.com@127.0.0.1/", "https://mcp.example.com:443@127.0.0.1/", "https://127.0.0.1@mcp.example.com/", "https://a@b@mcp.example.com/",
		"https://mcp.example.com%40127.0.0.1/", "https://mcp.example.com%2f@127.0.0.1/", "https://user%0d%0a@mcp.example.com/"),
	"backslashes, fragments, white space": attemptsAt(`https://mcp.example.com\@127.0.0.1/`, `https://127.0.0.1\@mcp.example.com/`, `https:\\127.0.0.1\`, `https:/\127.0.0.1/`, `https://mcp.example.com\.127.0.0.1/`,
		"https://127.0.0.1#@mcp.example.com/", "https://127.0.0.1?@mcp.example.com/", "https://mcp.example.com%23@127.0.0.1/",
		" https://127.0.0.1/", "https://127.0.0.1 /", "https:// 127.0.0.1/", "https://mcp.example.com /", "https://127.0.0.1\t/", "https://mcp\t.example.com/",
		"https://mcp.example.com\r\nHost: 127.0.0.1/", "https://mcp.example.com%0d%0aHost:%20x/", "https://127.0.0.1%00.example.com/", "https://mcp.example.com\x00/",
		"https://127.0.0.1%20/", "https://127%2e0%2e0%2e1/", "https://%31%32%37.0.0.1/", "https://%6c%6f%63alhost/", "https://mcp.example.com\x7f/", "https://mcp.example.com;127.0.0.1/",
		"https://mcp.example.com,127.0.0.1/", "https://mcp.example.com|127.0.0.1/", "https://mcp.example.com&127.0.0.1/", "https://{127.0.0.1}/", "https://$HOST/", "https://<127.0.0.1>/"),
	"brackets": attemptsAt("https://[::1/", "https://::1/", "https://[127.0.0.1]/", "https://[localhost]/", "https://[mcp.example.com]/", "https://[]/", "https://[::1]mcp.example.com/",
		"https://[::1].example.com/", "https://[[::1]]/", "https://[v1.a]/", "https://[2606:4700:4700::1111", "https://2606:4700:4700::1111/"),
	"ports": attemptsAt("https://mcp.example.com:22/", "https://mcp.example.com:25/", "https://mcp.example.com:80/", "https://mcp.example.com:5432/", "https://mcp.example.com:6379/",
		"https://mcp.example.com:9200/", "https://mcp.example.com:11211/", "https://mcp.example.com:0/", "https://mcp.example.com:65535/", "https://mcp.example.com:65536/",
		"https://mcp.example.com:65979/", "https://mcp.example.com:-443/", "https://mcp.example.com:+443/", "https://mcp.example.com:443:22/",
		"https://mcp.example.com:0x1bb/", "https://mcp.example.com:４４３/", "https://mcp.example.com:443%20/", "https://8.8.8.8:53/", "https://8.8.8.8:8080/", "https://[2606:4700:4700::1111]:22/"),
	"schemes": attemptsAt("http://mcp.example.com/", "http://8.8.8.8/", "http://mcp.example.com:443/", "http://mcp.example.com:8443/", "ftp://mcp.example.com/", "file:///etc/passwd",
		"file://mcp.example.com/etc/passwd", "gopher://mcp.example.com:443/_x", "dict://mcp.example.com:443/", "ldap://mcp.example.com/", "tftp://mcp.example.com/", "ws://mcp.example.com/",
		"wss://mcp.example.com/", "unix:///var/run/docker.sock", "https+unix://%2Fvar%2Frun%2Fdocker.sock/", "jar:https://mcp.example.com!/", "netdoc:///etc/passwd", "data:text/plain,x", "javascript:alert(1)",
		"https:mcp.example.com", "https:/127.0.0.1/", "https:///127.0.0.1/", "//mcp.example.com/", "mcp.example.com", "", "https://", "https://?", "https://#", ":", "h\u0131ttps://mcp.example.com/", "httpſ://mcp.example.com/"),
	"names that are none": attemptsAt("https://mcp..example.com/", "https://.example.com/", "https://./", "https://../", "https://mcp.example.com../", "https://*.example.com/", "https://"+strings.Repeat("a", 64)+".example.com/", "https://"+strings.Repeat("a.", 130)+"com/"),
	"ourselves": {
		{"https://patchbay.example.org/", ""}, {"https://PATCHBAY.example.ORG/", ""}, {"https://patchbay.example.org./", ""}, {"https://patchbay.example.org:443/mcp", ""},
		{"https://patchbay.example.org:8443/", ""}, {"https://9.9.9.9/", ""}, {"https://9.9.9.9:8443/", ""}, {"https://9.9.9.9:8080/", ""}, {"https://[2620:fe::9]/", ""}, {"https://[2620:fe:0:0:0:0:0:9]/", ""},
		{"https://mcp.example.com/", "9.9.9.9"}, {"https://mcp.example.com/", "2620:fe::9"}, {"https://mcp.example.com:8443/", "9.9.9.9"}, {"https://mcp.example.com/", "::ffff:9.9.9.9"},
	},
}

// legitimate are usual URLs, with the address of their connection in public mode.
var legitimate = []struct {
	attempt
	reaches string
}{
	{attempt{"https://mcp.example.com/mcp", ""}, "1.1.1.1:443"},
	{attempt{"https://mcp.example.com", ""}, "1.1.1.1:443"},
	{attempt{"https://mcp.example.com:443/mcp?team=eu&x=%20", ""}, "1.1.1.1:443"},
	{attempt{"https://mcp.example.com:8443/", ""}, "1.1.1.1:8443"},
	{attempt{"HTTPS://MCP.EXAMPLE.COM/mcp", ""}, "1.1.1.1:443"},
	{attempt{"https://mcp.example.com./mcp", ""}, "1.1.1.1:443"},
	{attempt{"https://xn--bcher-kva.example/mcp", ""}, "1.1.1.1:443"},
	{attempt{"https://under_score.example.com/", ""}, "1.1.1.1:443"},
	{attempt{"https://1e100.example.com/", ""}, "1.1.1.1:443"},
	{attempt{"https://0xcafe.example.com/", ""}, "1.1.1.1:443"},
	{attempt{"https://127.0.0.1.nip.example/", ""}, "1.1.1.1:443"},
	{attempt{"https://127.0.0.1e0/", ""}, "1.1.1.1:443"}, // no resolver reads this as a number
	{attempt{"https://localhost.example.com/", ""}, "1.1.1.1:443"},
	{attempt{"https://internal.example.com/", ""}, "1.1.1.1:443"},
	{attempt{"https://mcp.example.com/@127.0.0.1/?u=http://10.0.0.1/", ""}, "1.1.1.1:443"},
	{attempt{"https://8.8.8.8/", ""}, "8.8.8.8:443"},
	{attempt{"https://172.32.0.1/", ""}, "172.32.0.1:443"},
	{attempt{"https://100.128.0.1/", ""}, "100.128.0.1:443"},
	{attempt{"https://169.253.0.1/", ""}, "169.253.0.1:443"},
	{attempt{"https://11.0.0.1:8443/", ""}, "11.0.0.1:8443"},
	{attempt{"https://[2606:4700:4700::1111]/", ""}, "[2606:4700:4700::1111]:443"},
	{attempt{"https://[2A00:1450:4001:0:0:0:0:200E]:8443/", ""}, "[2a00:1450:4001::200e]:8443"},
	{attempt{"https://mcp.example.com/", "2606:4700:4700::1111"}, "[2606:4700:4700::1111]:443"},
	{attempt{"https://mcp.example.com/", "10.0.0.5,8.8.4.4"}, "8.8.4.4:443"}, // the forbidden one of two is skipped
	{attempt{"https://mcp.example.com/", "8.8.4.4,127.0.0.1"}, "8.8.4.4:443"},
	{attempt{"https://mcp.example.com/", "::1,8.8.4.4,fe80::1"}, "8.8.4.4:443"},
}
