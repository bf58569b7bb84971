package respond_test

import (
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/respond"
)

// FuzzOwnPath: a browser resolves an accepted path to this site only, however it parses addresses.
func FuzzOwnPath(f *testing.F) {
	for _, seed := range []string{
		"/connectors?q=a&cursor=b#c", "//evil.example", `/\evil.example`, "/\t/evil.example", "https://evil.example/", "javascript:alert(1)", "/%2f%2fevil.example", "/..//evil.example",
		"/.//evil.example", "/a:b", "/?//evil.example", "/@evil.example", "/%5cevil.example", "/a%0d%0aSet-Cookie:%20x", "///evil.example", "/[::1]", "/%", "/\u2028", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		const fallback = "/home"
		path := respond.OwnPath(raw, fallback)
		if again := respond.OwnPath(path, fallback); again != path {
			t.Errorf("%q is %q, and that is %q", raw, path, again)
		}
		if path != fallback && path != strings.SplitN(raw, "#", 2)[0] && unescaped(path) != unescaped(strings.SplitN(raw, "#", 2)[0]) {
			t.Errorf("%q leads to %q", raw, path)
		}
		if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q is put into a header as %q", raw, path)
		}
		base, err := url.Parse("https://patchbay.example.com/agents/a")
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range []string{path, browsers(path)} {
			at, err := base.Parse(read)
			if err != nil || at.Scheme != base.Scheme || at.Host != base.Host || at.User != nil {
				t.Errorf("%q leads to %v, %v", raw, at, err)
			}
		}
	})
}

// browsers normalizes an address as browsers do: without dropped characters, backslashes as slashes (WHATWG
// URL, §4.4).
func browsers(address string) string {
	return strings.NewReplacer("\t", "", "\r", "", "\n", "", `\`, "/").Replace(strings.Trim(address, "\x00 \t\r\n\f\v"))
}

func unescaped(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return plain
}
