package agentview

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"

	"patchbay/internal/connectors"
)

// Bounds of what is matched. Servers write templates, and the cost of a match is their product.
const (
	maxTemplateBytes = 1 << 10
	maxExpressions   = 8  // of a template
	maxCommas        = 16 // likewise
	maxMatchedURI    = 8 << 10
	maxTemplates     = 50
)

// matchesTemplate reports whether a URI matches a granted template. It tries the first 50 templates with the URI's
// beginning.
func (connector *ConnectorView) matchesTemplate(uri string) bool {
	if !connector.Grant.IncludesItems(connectors.ItemTemplate) {
		return false
	}
	tried := 0
	for _, item := range connector.Items {
		literal, _, _ := strings.Cut(item.Key, "{")
		if item.Kind != connectors.ItemTemplate || !strings.HasPrefix(uri, literal) {
			continue
		}
		if tried++; tried > maxTemplates {
			return false
		}
		if MatchTemplate(item.Key, uri) {
			return true
		}
	}
	return false
}

// MatchTemplate reports whether a URI is an expansion of a URI template (RFC 6570) that is safe to forward. It supports
// levels 1 to 3 and explode modifiers in 1 KiB; other templates match nothing. The scheme is literal, the URI has the template's
// host, and its path has no dot segments, empty segments or backslashes, encoded or not.
func MatchTemplate(template, uri string) bool {
	parts, ok := parseTemplate(template)
	if !ok || len(uri) > maxMatchedURI || !parts.fitsAuthority(uri) || !parts.fitsPath(uri) || !isPlainURI(uri) {
		return false
	}
	parsed, err := uritemplate.New(template)
	return err == nil && parsed.Regexp().MatchString(uri) && parts.fitsQuery(uri, parsed.Varnames())
}

// templateParts are what the matching checks besides the syntax.
type templateParts struct {
	scheme    string // literal
	literal   string // all literal text after the scheme
	hasHost   bool   // "//" follows the scheme
	host      string // literal beginning of the host
	openHost  bool   // the host has an expression
	reserved  bool   // one of these may contain reserved characters
	anyParams bool   // names of query parameters are not the template's
	anyPath   bool   // the template has empty segments
}

// parseTemplate parses what [MatchTemplate] supports. ok is false for other templates.
func parseTemplate(template string) (p templateParts, ok bool) {
	if len(template) > maxTemplateBytes || strings.Count(template, "{") > maxExpressions || strings.Count(template, ",") > maxCommas {
		return p, false
	}
	scheme, rest, ok := strings.Cut(template, ":")
	if !ok || !isScheme(scheme) {
		return p, false
	}
	p.scheme = scheme
	rest, p.hasHost = strings.CutPrefix(rest, "//")
	inHost := p.hasHost
	for rest != "" {
		literal, expression, found := strings.Cut(rest, "{")
		p.literal += literal
		p.anyPath = p.anyPath || strings.Contains(literal, "//")
		if inHost && !p.openHost {
			end := strings.IndexAny(literal, "/?#")
			inHost = end < 0
			if end < 0 {
				end = len(literal)
			}
			p.host += literal[:end]
		} else if strings.ContainsAny(literal, "/?#") {
			inHost = false
		}
		if !found {
			return p, true
		}
		expression, rest, ok = strings.Cut(expression, "}")
		if !ok || expression == "" || strings.ContainsAny(expression, ":;{") {
			return p, false
		}
		inHost = inHost && !strings.ContainsAny(expression[:1], "/?#")
		if inHost {
			p.openHost, p.reserved = true, p.reserved || expression[0] == '+'
		}
		p.anyParams = p.anyParams || strings.ContainsAny(expression[:1], "?&") && strings.Contains(expression, "*")
	}
	return p, true
}

func isScheme(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-.", r))
	})
}

// networkSchemes are the schemes with hosts that programs connect to, and file. In others a host is a name like any other.
var networkSchemes = []string{"http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "file"}

// fitsAuthority reports whether the URI has the template's scheme and host. An expression may stand for a host of a scheme
// that is not one of a network; it then has no user, port or encoded character.
func (p templateParts) fitsAuthority(uri string) bool {
	scheme, rest, _ := strings.Cut(uri, ":")
	if scheme != p.scheme || strings.HasPrefix(rest, "//") != p.hasHost {
		return false
	}
	if !p.hasHost {
		return true
	}
	host := cutAtAny(rest[len("//"):], "/?#")
	switch {
	case host == p.host:
		return true
	case !p.openHost, slices.Contains(networkSchemes, strings.ToLower(scheme)), p.reserved && p.host != "":
		return false
	}
	return !strings.ContainsAny(host, "@:%")
}

// fitsPath reports whether the URI's path has no empty segments, unless the template has some.
func (p templateParts) fitsPath(uri string) bool {
	if p.anyPath {
		return true
	}
	path := cutAtAny(uri[min(len(uri), len(p.scheme)+1):], "?#")
	if p.hasHost {
		path = path[min(len(path), len("//")):]
	}
	path, ok := decodeRepeatedly(path)
	return ok && !strings.Contains(path, "//")
}

// fitsQuery reports whether the template has the names of all query parameters.
func (p templateParts) fitsQuery(uri string, variables []string) bool {
	_, query, found := strings.Cut(cutAtAny(uri, "#"), "?")
	if !found || p.anyParams {
		return true
	}
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		if !slices.Contains(variables, name) && !strings.Contains(p.literal, name) {
			return false
		}
	}
	return true
}

// isPlainURI reports whether the URI has no dot segment, backslash or control character, encoded or not.
func isPlainURI(uri string) bool {
	plain, ok := decodeRepeatedly(uri)
	if !ok || !utf8.ValidString(plain) || strings.ContainsRune(plain, '\\') || strings.ContainsFunc(plain, unicode.IsControl) {
		return false
	}
	segments := strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune("/?#&=;,:@", r) })
	return !slices.Contains(segments, ".") && !slices.Contains(segments, "..")
}

// maxEncodings bounds how often a text is percent-encoded.
const maxEncodings = 4

// decodeRepeatedly returns a text without percent-encoding. ok is false if it is malformed, or encoded more than four
// times.
func decodeRepeatedly(text string) (plain string, ok bool) {
	for i := range maxEncodings + 1 {
		decoded, err := url.PathUnescape(text)
		switch {
		case err != nil:
			return text, i > 0
		case decoded == text:
			return text, true
		}
		text = decoded
	}
	return text, false
}

// cutAtAny returns the text before the first of some characters.
func cutAtAny(text, characters string) string {
	if i := strings.IndexAny(text, characters); i >= 0 {
		return text[:i]
	}
	return text
}
