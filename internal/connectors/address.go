package connectors

import (
	"net/url"
	"strings"
)

// MaxURL bounds a connector's URL, in bytes.
const MaxURL = 2048

const invalidHostName = "The host name of this URL is no valid one, mixes scripts, or holds characters that look like others. Check it, or write it in its xn-- form."

// checkURL checks a URL's form. The egress rules decide whether its address may be reached.
func (c *validation) checkURL(raw string) {
	if raw == "" {
		c.addField("url", "A URL is needed.")
		return
	}
	if len(raw) > MaxURL {
		c.addField("url", "A URL has at most %d characters.", MaxURL)
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || !isPlainText(raw, "") || strings.ContainsAny(raw, " \\"):
		c.addField("url", "This is not a URL.")
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"), u.Hostname() == "":
		c.addField("url", "A URL begins with https:// or http:// and names a host.")
	case !isASCII(u.Hostname()) || !isValidPunycode(u.Hostname()):
		c.addField("url", invalidHostName)
	case u.User != nil:
		c.addField("url", "A URL holds no user name or password; set them as authentication.")
	case strings.Contains(raw, "#"):
		c.addField("url", "A URL of a server has no fragment (#…).")
	}
}

// Origin returns the scheme, host and port of a URL, the scope of a secret; "" for an invalid URL.
func Origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
