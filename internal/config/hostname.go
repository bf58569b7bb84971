package config

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// checkEgressAllow returns the exceptions with internationalised host names in xn-- form (RFC 5891). Package
// safehttp parses the rest.
func (c *fieldErrors) checkEgressAllow(list string) string {
	items := strings.Split(list, ",")
	for i, item := range items {
		colon := strings.LastIndexByte(item, ':')
		if colon < 0 || isASCII(item) {
			continue
		}
		// Only case is mapped. Other mappings would turn full-width letters and circled digits into another host.
		name := strings.ToLower(norm.NFC.String(strings.TrimSpace(item[:colon])))
		host, err := idna.Registration.ToASCII(name)
		if err != nil {
			c.addField("PATCHBAY_EGRESS_ALLOW", "must have valid host names; %q is not. Check it, or use its xn-- form.", name)
			continue
		}
		items[i] = host + item[colon:]
	}
	return strings.Join(items, ",")
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
