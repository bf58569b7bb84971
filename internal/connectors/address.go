package connectors

import (
	"net/url"
	"strings"
)

// MaxURL bounds a connector's URL, in bytes.
const MaxURL = 2048

const invalidHostName = "The host name is invalid, mixes scripts or has lookalike characters. Check it or use its xn-- form."

// checkURL checks a URL's form. The egress rules decide whether its address may be reached.
func (c *validation) checkURL(raw string) {
	if raw == "" {
		c.addField("url", "Enter a URL.")
		return
	}
	if len(raw) > MaxURL {
		c.addField("url", "At most %d characters.", MaxURL)
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || !isPlainText(raw, "") || strings.ContainsAny(raw, " \\"):
		c.addField("url", "Not a URL.")
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"), u.Hostname() == "":
		c.addField("url", "Enter an http:// or https:// URL with a host.")
	case !isASCII(u.Hostname()) || !isValidPunycode(u.Hostname()):
		c.addField("url", invalidHostName)
	case u.User != nil:
		c.addField("url", "Set credentials as authentication, not in the URL.")
	case strings.Contains(raw, "#"):
		c.addField("url", "Remove the fragment (#…).")
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
