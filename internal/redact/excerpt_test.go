package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"patchbay/internal/redact"
)

// quoteJSON returns the text as a JSON string.
func quoteJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(quoted)
}

// escapeRunes formats each character of the text.
func escapeRunes(s, format string) string {
	var out strings.Builder
	for _, c := range s {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

func escapeBytes(s string) string {
	var out strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&out, "%%%02x", c)
	}
	return out.String()
}

// encodings are the usual spellings of a secret.
var encodings = map[string]func(string) string{
	"plain":               func(s string) string { return s },
	"base64":              func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 unpadded":     func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64url":           func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64url unpadded":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 of a pair":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	"base64 in JSON":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(`{"a":"` + s + `"}`)) },
	"hex":                 func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex in capitals":     func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"URL query":           url.QueryEscape,
	"URL path":            url.PathEscape,
	"percent each":        escapeBytes,
	"JSON":                quoteJSON,
	"JSON twice":          func(s string) string { return quoteJSON(quoteJSON(s)) },
	"JSON escape each":    func(s string) string { return escapeRunes(s, `\u%04x`) },
	"HTML":                html.EscapeString,
	"HTML each":           func(s string) string { return escapeRunes(s, "&#x%x;") },
	"HTML of a query":     func(s string) string { return html.EscapeString(url.QueryEscape(s)) },
	"on two lines":        func(s string) string { return s[:len(s)/2] + "\n" + s[len(s)/2:] },
	"on two DOS lines":    func(s string) string { return s[:len(s)/2] + "\r\n  " + s[len(s)/2:] },
	"two lines in JSON":   func(s string) string { return quoteJSON(s[:len(s)/2] + "\n" + s[len(s)/2:]) },
	"base64 on two lines": func(s string) string { b := base64.StdEncoding.EncodeToString([]byte(s)); return b[:5] + "\n" + b[5:] },
}

var knownSecrets = []string{"correct horse battery", `p"a<s>&s'w\d+/=%`, "ümläut-gehéim", "s3cret"}

func TestExcerpt_RemovesKnownSecretsInEveryEncoding(t *testing.T) {
	t.Parallel()
	for _, secret := range knownSecrets {
		for name, encode := range encodings {
			form := encode(secret)
			got := redact.Excerpt(redact.Source{Text: "before <" + form + "> after"}, redact.NewSecrets("other", secret))
			if strings.Contains(got, form) || strings.Contains(got, strings.Trim(form, `"`)) || !strings.Contains(got, "[redacted]") {
				t.Errorf("%s of %q is shown: %s", name, secret, got)
			}
			if !strings.HasPrefix(got, "before <") || !strings.HasSuffix(got, "> after") {
				t.Errorf("%s of %q takes more with it: %s", name, secret, got)
			}
		}
	}
}

func TestExcerpt_RemovesLinesOfAKey(t *testing.T) {
	t.Parallel()
	known := redact.NewSecrets("first line of it\nsecond\nmagic!")
	if got := redact.Excerpt(redact.Source{Text: "a second b\nfirst line of it\nc"}, known); got != "a [redacted] b\n[redacted]\nc" {
		t.Error(got)
	}
}

func TestExcerpt_RemovesLikelySecrets(t *testing.T) {
	t.Parallel()
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	for in, want := range map[string]string{
		"Authorization: Bearer abcdefgh12":            "Authorization: [redacted]",
		"got Bearer abcdefgh12, sorry":                "got Bearer [redacted], sorry",
		"id " + jwt + " ended":                        "id [redacted] ended",
		"ghp_0123456789abcdefghijABCDEFGHIJ":          "[redacted]",
		"github_pat_0123456789abcdefghijABCDEFGHIJ":   "[redacted]",
		"xoxb-123456789012-abcdefghijkl":              "[redacted]",
		"sk-proj-abcdefghijklmnopqrst":                "[redacted]",
		`{"error":"no","access_token":"short"}`:       `{"error":"no","access_token":"[redacted]"}`,
		`<p>{"password": "hunter2"}</p>`:              `<p>{"password": "[redacted]"}</p>`,
		`a " quote, then password="hun ter2" and all`: `a " quote, then password="[redacted]" and all`,
		"client_secret=hunter2&grant=x":               "client_secret=[redacted]&grant=x",
		"key: aB3dE5gH7jK9mN1p":                       "key: [redacted]",
		"key: production":                             "key: production",
		"db down, 3 of 5 replicas":                    "db down, 3 of 5 replicas",
	} {
		if got := redact.Excerpt(redact.Source{Text: in}); got != want {
			t.Errorf("%s\n  is %s\nwant %s", in, got, want)
		}
	}
}

func TestExcerpt_ShowsUnseenCharacters(t *testing.T) {
	t.Parallel()
	in := "a\x1b[31mred\x00 \u202egnp.exe\u200b\u200d\u2028 b\xff\r\n\tc\rd\n\n"
	want := `a\u001b[31mred\u0000 \u202egnp.exe\u200b\u200d\u2028 b` + "\uFFFD\n\tc" + `\u000dd`
	if got := redact.Excerpt(redact.Source{Text: in}); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestExcerpt_IsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü line\n", 400)
	for name, source := range map[string]redact.Source{
		"start": {Text: "first " + long}, "end": {Text: long + "last", KeepEnd: true}, "escapes": {Text: strings.Repeat("\x01", 2000)},
	} {
		got := redact.Excerpt(source)
		if len(got) > redact.MaxExcerpt || len(got) < redact.MaxExcerpt-8 || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if name == "start" && !strings.HasPrefix(got, "first ") || name == "end" && !strings.HasSuffix(got, "last") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A secret that begins before the bound and ends behind it is removed before the text is shortened.
func TestExcerpt_RemovesSecretsAtTheBound(t *testing.T) {
	t.Parallel()
	const secret = "correct horse battery"
	for at := redact.MaxExcerpt - 40; at < redact.MaxExcerpt; at++ {
		got := redact.Excerpt(redact.Source{Text: strings.Repeat("é ", at/3) + secret + " tail"}, redact.NewSecrets(secret))
		if strings.Contains(got, "corr") {
			t.Fatalf("at %d: %s", at, got[len(got)-60:])
		}
	}
}

func TestExcerpt_DropsPartsOfSecretsAtCuts(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery-staple-of-many-words"
	known := redact.NewSecrets(secret)
	for name, encode := range encodings {
		form := encode(secret)
		for n := 1; n < len(form); n++ {
			end := redact.Excerpt(redact.Source{Text: "the server failed with this text, and a secret: " + form[:n], CutEnd: true}, known)
			start := redact.Excerpt(redact.Source{Text: form[n:] + " is the secret, and the server failed with this text", CutStart: true}, known)
			if shown := form[:n]; n >= 12 && strings.Contains(end, shown[n/2-6:n/2+6]) {
				t.Fatalf("%s: the first %d bytes are shown: %s", name, n, end)
			}
			if shown := form[n:]; len(shown) >= 12 && strings.Contains(start, shown[len(shown)/2-6:len(shown)/2+6]) {
				t.Fatalf("%s: the last %d bytes are shown: %s", name, len(shown), start)
			}
		}
	}
}

func TestSecrets_RemoveKeepsTheRest(t *testing.T) {
	t.Parallel()
	got := redact.NewSecrets("s3cret", "abc").Remove("abc PASSWORD=s3cret\x1b\n")
	if got != "abc PASSWORD=[redacted]\x1b\n" {
		t.Errorf("%q", got)
	}
}

// FuzzExcerpt checks that an excerpt is bounded and shows a secret in no encoding.
func FuzzExcerpt(f *testing.F) {
	for _, s := range []string{"", "a\nb", `{"token":"x"}`, "%2", `\u00`, "&#x", "\xff\xfe", "Zm9v", "6e6f"} {
		f.Add(s, "s3cret-of-us", s, uint8(0))
		f.Add(s, "pass word", s, uint8(3))
	}
	var names []string
	for name := range encodings {
		names = append(names, name)
	}
	f.Fuzz(func(t *testing.T, before, secret, after string, cut uint8) {
		if len(secret) < 8 || !utf8.ValidString(secret) || strings.ContainsAny(secret, "\x00") || len(strings.Fields(secret)) == 0 || len(strings.Join(strings.Fields(secret), "")) < 8 {
			t.Skip("too short for a secret")
		}
		for _, name := range names {
			form := encodings[name](secret)
			source := redact.Source{Text: before + " " + form + " " + after, CutEnd: cut&1 != 0, CutStart: cut&2 != 0, KeepEnd: cut&4 != 0}
			got := redact.Excerpt(source, redact.NewSecrets(secret))
			if len(got) > redact.MaxExcerpt || !utf8.ValidString(got) {
				t.Fatalf("%d bytes", len(got))
			}
			if strings.Contains(got, form) && !strings.Contains(redact.Excerpt(redact.Source{Text: before + after}), form) {
				t.Errorf("%s of %q is shown: %q", name, secret, got)
			}
		}
	})
}
