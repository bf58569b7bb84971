package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/redact"
)

func TestJSON_RemovesSecrets(t *testing.T) {
	t.Parallel()
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	for in, want := range map[string]string{
		`{"password":"hunter2"}`:                                                        `{"password":"[redacted]"}`,
		`{"Api-Key" : "x", "n":1}`:                                                      `{"Api-Key" : "[redacted]", "n":1}`,
		`{"github_token":{"a":["}",1]},"b":2}`:                                          `{"github_token":"[redacted]","b":2}`,
		`{"client_secret":12345}`:                                                       `{"client_secret":"[redacted]"}`,
		`{"secret":null,"token":true}`:                                                  `{"secret":null,"token":true}`,
		`{"max_tokens":100,"tokens":"few"}`:                                             `{"max_tokens":100,"tokens":"few"}`,
		`["Authorization: Bearer abcdefgh12"]`:                                          `["Authorization: [redacted]"]`,
		`["curl -H 'X: Bearer abcdefgh12' x"]`:                                          `["curl -H 'X: Bearer [redacted]' x"]`,
		`["a ` + jwt + ` b"]`:                                                           `["a [redacted] b"]`,
		`["{\"password\":\"hunter2\",\"n\":1}"]`:                                        `["{\"password\":\"[redacted]\",\"n\":1}"]`,
		`["PGPASSWORD=hunter2 psql"]`:                                                   `["PGPASSWORD=[redacted] psql"]`,
		`["key sk-proj-abcdefghijklmnopqrst"]`:                                          `["key [redacted]"]`,
		`["x AbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8 y"]`:                                      `["x [redacted] y"]`,
		`["5f4dcc3b5aa765d61d8327deb882cf99"]`:                                          `["[redacted]"]`,
		`["0198f0a2-7c1e-7b3a-9d4e-5f6a7b8c9d0e"]`:                                      `["0198f0a2-7c1e-7b3a-9d4e-5f6a7b8c9d0e"]`,
		`["/usr/share/a-long-path-of-words/and_another_of_it"]`:                         `["/usr/share/a-long-path-of-words/and_another_of_it"]`,
		`["aVeryLongIdentifierInCamelCaseOfSomeProgram"]`:                               `["aVeryLongIdentifierInCamelCaseOfSomeProgram"]`,
		`["-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- after"]`: `["[redacted]-----END RSA PRIVATE KEY----- after"]`,
		`["-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"]`:               `["-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"]`,
		`{"data":"` + strings.Repeat("QUJD1a", 1000) + `"}`:                             `{"data":"` + strings.Repeat("QUJD1a", 1000) + `"}`,
		`{"passwords":["hunter2"],"x":{"api_keys":{"a":"b"}}}`:                          `{"passwords":"[redacted]","x":{"api_keys":"[redacted]"}}`,
		`["postgres://admin:hunter2@db/x and https://host:80/a@b"]`:                     `["postgres://admin:[redacted]@db/x and https://host:80/a@b"]`,
		`["redis://:hunter2@db","://","a://b@c","x://y:z@"]`:                            `["redis://:[redacted]@db","://","a://b@c","x://y:[redacted]@"]`,
		`["token:\nfoo"]`:                                                               `["token:\nfoo"]`,
		`["a\nAbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8\n"]`:                                     `["a\n[redacted]\n"]`,
		`["a\u00e4AbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8\n"]`:                                 `["a\u00e4[redacted]\n"]`,
		`{}`: `{}`, ``: ``, `{"password":`: `{"password":`, `{"password":"x`: `{"password":"[redacted]`, `"\"`: `"\"`,
	} {
		if got := string(redact.JSON([]byte(in))); got != want {
			t.Errorf("%s\n  is %s\nwant %s", in, got, want)
		}
	}
}

// FuzzJSON checks that redacted JSON is still JSON.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"password":"x"}`, `["Bearer abcdefgh12"]`, `{"token":{"a":1}}`, `["a=b\\\"c"]`, `{"secret":-1.5e3}`, `["token:'\""]`, `["--token \"a\\\"b"]`, `["-u a:\"b"]`, `[{"name":"token","value":1}]`, `["pwd\u003d\"x"]`, `["--token","x"]`, `["-pass" ,`, `["a\u00e4AbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8\n token: \u00e4"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := redact.JSON([]byte(s))
		if json.Valid([]byte(s)) && !json.Valid(out) {
			t.Errorf("%q became %q", s, out)
		}
	})
}

func TestJSON_ShortNamesCountAsWords(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"pass", "auth", "otp", "jwt", "pwd", "passphrase", "Pass", "OTP", "db_pass", "userPass", "x-auth", "login.jwt", "totp2otp", "key passphrase",
	} {
		if got := string(redact.JSON([]byte(`{"` + name + `":"x","n":[{"` + name + `":1}]}`))); strings.Count(got, "[redacted]") != 2 {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{
		"author", "passenger", "path", "compass", "bypass", "passed", "oauth", "auth_type", "authority", "COMPASS", "otpauth", "laptop", "password_hint_shown",
	} {
		if got := string(redact.JSON([]byte(`{"` + name + `":"x"}`))); strings.Contains(got, "[redacted]") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for in, want := range map[string]string{
		`["all tests pass: 12 of 12, auth: done"]`: `["all tests pass: 12 of 12, auth: done"]`,
		`["your otp: 123456"]`:                     `["your otp: [redacted]"]`,
		`["https://x/?auth=abc&page=2 and more"]`:  `["https://x/?auth=[redacted]&page=2 and more"]`,
		`["{\"pass\": \"x y\", \"n\":1}"]`:         `["{\"pass\": \"[redacted]\", \"n\":1}"]`,
	} {
		if got := string(redact.JSON([]byte(in))); got != want {
			t.Errorf("%s\n  is %s\nwant %s", in, got, want)
		}
	}
}

func TestJSON_RemovesFlagValues(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"args":["login", "--password" , "hunter2","-v"]}`:       `{"args":["login", "--password" , "[redacted]","-v"]}`,
		`["--api-key","x","--token","y","-pass","-z"]`:            `["--api-key","[redacted]","--token","[redacted]","-pass","[redacted]"]`,
		`["--token","--verbose","all"]`:                           `["--token","--verbose","all"]`,
		`["--token","--password","x"]`:                            `["--token","--password","[redacted]"]`,
		`["--path","/x","--author","me","--max-tokens","5","-p"]`: `["--path","/x","--author","me","--max-tokens","5","-p"]`,
		`["- a sentence about a password","another"]`:             `["- a sentence about a password","another"]`,
		`{"flag":"--password","value":"x"}`:                       `{"flag":"--password","value":"x"}`,
		`["--password"]`:                                          `["--password"]`,
		`["--password","hunt`:                                     `["--password","[redacted]`,
		`["--password",{"a":"b"}]`:                                `["--password",{"a":"b"}]`,
		`["--password",""]`:                                       `["--password",""]`,
	} {
		if got := string(redact.JSON([]byte(in))); got != want {
			t.Errorf("%s\n  is %s\nwant %s", in, got, want)
		}
	}
}

func TestJSON_RemovesSecretsInTexts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`["x --token=abc def"]`:                                 `["x --token=[redacted] def"]`,
		`["x --token abc def"]`:                                 `["x --token [redacted] def"]`,
		`["x --token 'ab cd' --n 1"]`:                           `["x --token '[redacted]' --n 1"]`,
		`["x --api-key \"ab \\\"c d\" def"]`:                    `["x --api-key \"[redacted]\" def"]`,
		`["x --password=\"ab cd\" y"]`:                          `["x --password=\"[redacted]\" y"]`,
		`["x --password 'ab cd"]`:                               `["x --password '[redacted] cd"]`,
		`["sh -c 'x --token abc'"]`:                             `["sh -c 'x --token [redacted]'"]`,
		`["curl -u me:hunter2 https://x"]`:                      `["curl -u me:[redacted] https://x"]`,
		`["curl --user 'me:hunter2' https://x"]`:                `["curl --user 'me:[redacted]' https://x"]`,
		`["sort -u a, --user me, -u"]`:                          `["sort -u a, --user me, -u"]`,
		`["x --token --verbose --path /x --max-tokens 5"]`:      `["x --token --verbose --path /x --max-tokens 5"]`,
		`["Cookie: a=b; c=d"]`:                                  `["Cookie: [redacted]"]`,
		`["curl -b 'x' -H 'Cookie: a=b; c=d' y"]`:               `["curl -b 'x' -H 'Cookie: [redacted]' y"]`,
		`["https://x/?access_token\u003dabc\u0026page\u003d2"]`: `["https://x/?access_token\u003d[redacted]\u0026page\u003d2"]`,
		`["a well-known word - and a pass- word"]`:              `["a well-known word - and a pass- word"]`,
		`{"headers":[{"name":"Authorization","value":"Basic abc"},{"name":"Accept","value":"x"}]}`: `{"headers":[{"name":"Authorization","value":"[redacted]"},{"name":"Accept","value":"x"}]}`,
		`[{"key":"DB_PASSWORD", "value" : {"from":"x"}}]`:                                          `[{"key":"DB_PASSWORD", "value" : "[redacted]"}]`,
		`{"name":"token","note":"x"}`:                                                              `{"name":"token","note":"x"}`,
	} {
		if got := string(redact.JSON([]byte(in))); got != want {
			t.Errorf("%s\n  is %s\nwant %s", in, got, want)
		}
	}
}

// BenchmarkJSON redacts 100 KiB of prose.
func BenchmarkJSON(b *testing.B) {
	doc := []byte(`[{"type":"text","text":"` + strings.Repeat("The quick brown fox jumps over the lazy dog; ", 2300) + `"}]`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		redact.JSON(doc)
	}
}
