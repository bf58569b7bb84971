package connectors

import (
	"net/url"
	"strings"
)

// MaxURL is the length of the longest URL of a connector, in bytes.
const MaxURL = 2048

// url checks the form of a connector's URL. Whether the address may be reached is for the egress rules to say.
func (c *check) url(raw string) {
	if raw == "" {
		c.refuse("url", "A URL is needed.")
		return
	}
	if len(raw) > MaxURL {
		c.refuse("url", "A URL has at most %d characters.", MaxURL)
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || !plainText(raw, "") || strings.ContainsAny(raw, " \\"):
		c.refuse("url", "This is not a URL.")
	case !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https"), u.Hostname() == "":
		c.refuse("url", "A URL begins with https:// or http:// and names a host.")
	case !isASCII(u.Hostname()) || !validPunycode(u.Hostname()):
		c.refuse("url", "The host name of this URL is no valid one, mixes scripts, or holds characters that look like others. Check it, or write it in its xn-- form.")
	case u.User != nil:
		c.refuse("url", "A URL holds no user name or password; set them as authentication.")
	case strings.Contains(raw, "#"):
		c.refuse("url", "A URL of a server has no fragment (#…).")
	}
}

// Origin is the scheme, host and port of a URL: what a secret may be sent to. A URL that cannot be read has none.
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
