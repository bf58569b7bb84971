package agentview_test

import (
	"strings"
	"testing"

	"patchbay/internal/agentview"
)

func TestMatchTemplate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		template string
		yes, no  []string
	}{
		{
			"file:///docs/{name}",
			[]string{"file:///docs/a.md", "file:///docs/a%20b", "file:///docs/a%2Fb", "file:///docs/..a"},
			[]string{
				"file:///docs/a/b", "file:///docs/..", "file:///docs/.", "file:///docs/%2e%2E", "file:///docs/%2e%2e%2fetc", "file:///docs/%252e%252e%252fetc",
				"file:///docs/%2Fetc%2Fpasswd", "file:///docs/..%5Cetc", "file:///docs/a%00", "file:///docs/a%0A", "file:///docs/a?b", "file:///docs/a#b", "file:///docs/%zz",
				"file:///docs/a ", "file:///etc/a", "file://host/docs/a", "files:///docs/a", "FILE:///docs/a", "http:///docs/a", "/docs/a", "", "file:///docs/%25252525252e%25252525252e",
			},
		},
		{
			"file:///docs/{+path}", []string{"file:///docs/a/b.md", "file:///docs/a"},
			[]string{
				"file:///docs/../etc/passwd", "file:///docs/a/../../etc", "file:///docs//etc/passwd", "file:///docs/a/%2e%2e/b", `file:///docs/..\etc`,
				"file:///docs/a?b=c", "file:///docs/./a",
			},
		},
		{"file://{+path}", []string{"file:///etc/hosts"}, []string{"file://host/share", "file://../a", "file:////host/share"}},
		{
			"https://example.com/{id}", []string{"https://example.com/7"},
			[]string{"https://example.com.evil.org/7", "https://example.com@evil.org/7", "https://evil.org/7", "http://example.com/7", "https://example.com:8443/7", "https://EXAMPLE.com/7"},
		},
		{
			"https://example.com{+path}", []string{"https://example.com/a/b"},
			[]string{"https://example.com.evil.org/a", "https://example.com@evil.org/a", "https://example.com:8443/a", "https://example.com%2eevil.org/"},
		},
		{"https://{host}/a", nil, []string{"https://evil.org/a", "https://localhost/a"}},
		{
			"repo://{owner}/{repo}/contents{/path*}", []string{"repo://o/r/contents/a/b", "repo://o/r/contents", "repo://a.b/r/contents/x"},
			[]string{"repo://o@p/r/contents", "repo://o:1/r/contents", "repo://o%40p/r/contents", "repo://o/r/contents/../x", "repo://o/r/contents/a//b", "repo:/o/r/contents", "repo://o/r/other"},
		},
		{"x://host{+rest}", []string{"x://host/a"}, []string{"x://host.evil/a", "x://hosts"}},
		{"note:{id}", []string{"note:7"}, []string{"note://evil/7", "note:a/b", "notes:7"}},
		{"note:{+id}", []string{"note:a/b"}, []string{"note://evil/7", "note:../b"}},
		{
			"search://items{?q,limit}", []string{"search://items?q=a", "search://items?q=a&limit=3", "search://items"},
			[]string{"search://items?admin=1", "search://items?q=a&admin=1", "search://items?q=../a", "search://other?q=a"},
		},
		{"search://items{?filters*}", []string{"search://items?a=1&b=2"}, []string{"search://items/a?b=2"}},
		{"a://b/?fixed=1{&q}", []string{"a://b/?fixed=1&q=2"}, []string{"a://b/?fixed=2&q=2", "a://b/?fixed=1&r=2"}},
		{"{+uri}", nil, []string{"file:///etc/passwd", "https://evil.org/"}},
		{"{scheme}://a/b", nil, []string{"file://a/b"}},
		{"a:{b:3}", nil, []string{"a:b", "a:bcd"}},
		{"a:{;b}", nil, []string{"a:;b=c"}},
		{"a:{b", nil, []string{"a:b", "a:{b"}},
		{"a:" + strings.Repeat("{b}", 9), nil, []string{"a:b"}},
		{"a:" + strings.Repeat("b", 1100) + "{c}", nil, []string{"a:" + strings.Repeat("b", 1100) + "c"}},
	} {
		for _, uri := range tc.yes {
			if !agentview.MatchTemplate(tc.template, uri) {
				t.Errorf("%.200s does not match %.200s", tc.template, uri)
			}
		}
		for _, uri := range tc.no {
			if agentview.MatchTemplate(tc.template, uri) {
				t.Errorf("%.200s matches %.200s", tc.template, uri)
			}
		}
	}
}

// FuzzMatchTemplate checks that matching never panics, and that what matches stays below the template's scheme.
func FuzzMatchTemplate(f *testing.F) {
	f.Add("file:///{+path}", "file:///a/b")
	f.Add("repo://{owner}/{repo}{/path*}{?q,r*}", "repo://o/r/a?q=1")
	f.Add("a:{b,c,d,e*}{#f}{.g}{&h}", "a:b,c#d.e&h=1")
	f.Fuzz(func(t *testing.T, template, uri string) {
		if !agentview.MatchTemplate(template, uri) {
			return
		}
		scheme, _, _ := strings.Cut(template, ":")
		if !strings.HasPrefix(uri, scheme+":") || strings.Contains(uri, "/../") || strings.Contains(uri, `\`) {
			t.Errorf("%q matches %q", template, uri)
		}
	})
}
