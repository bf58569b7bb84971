package jws

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// slowKey is a private key that takes the library minutes: it computes with p before it checks it.
var slowKey = `{"kty":"RSA","n":"Dw","e":"AQAB","d":"Aw","q":"Aw","p":"` + strings.Repeat("z", 12_000) + `"}`

func withHeader(header string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + ".e30.AA"
}

func TestParse_NoPrivateKeyIsComputedWith(t *testing.T) {
	t.Parallel()
	slow := withHeader(`{"alg":"ES256","typ":"dpop+jwt","jwk":` + slowKey + `}`)
	for name, parse := range map[string]func() error{
		"assertion": func() error { _, err := Parse(slow); return err },
		"header":    func() error { return CheckHeader(slow) },
		"proof":     func() error { _, err := parseProven(slow); return err },
		"key":       func() error { _, err := ParseKey(json.RawMessage(slowKey)); return err },
		"secret":    func() error { _, err := ParseKey(json.RawMessage(`{"kty":"oct","k":"AAAA"}`)); return err },
	} {
		if err := parse(); !errors.Is(err, ErrUnsafeKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, key := range []string{`{"kty":"RSA","e":"AQAB","n":"` + strings.Repeat("z", maxModulus+1) + `"}`, `{"kty":"RSA","e":"AQAB","e":"AQAB"}`, `[]`, ``} {
		if _, err := ParseKey(json.RawMessage(key)); err == nil {
			t.Errorf("%.40s is a key", key)
		}
	}
}

// TestParse_IsTheOnlyWayToTheLibrary: elsewhere the library would compute with the private keys of strangers.
func TestParse_IsTheOnlyWayToTheLibrary(t *testing.T) {
	t.Parallel()
	parsing := regexp.MustCompile(`\b(jose|jwt)\.Parse\w+\(|\.UnmarshalJSON\(`)
	found := map[string]int{}
	for _, root := range []string{"..", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(text), `"github.com/go-jose/go-jose/v4`) {
				found[filepath.ToSlash(path)] = len(parsing.FindAll(text, -1))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found["../jws/parse.go"] != 2 || len(found) < 4 {
		t.Fatalf("the scan sees too little: %v", found)
	}
	for path, n := range found {
		if n > 0 && path != "../jws/parse.go" {
			t.Errorf("%s parses in %d places: use jws.Parse or jws.ParseKey", path, n)
		}
	}
}

func TestParse_OtherHeadersPass(t *testing.T) {
	t.Parallel()
	if err := CheckHeader(withHeader(`{"alg":"RS256","kid":"1","x5t":"AA"}`)); err != nil {
		t.Error(err)
	}
	if err := CheckHeader(withHeader(`{"alg":"RS256","jwk":null}`)); err != nil {
		t.Error(err)
	}
	public := `{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","d":null,"k":null,"oth":[]}`
	if key, err := ParseKey(json.RawMessage(public)); err != nil || !key.IsPublic() {
		t.Errorf("a key with empty members: %v", err)
	}
	for _, text := range []string{"", ".", "e30", "\n" + withHeader(`{"alg":"ES256"}`), withHeader(`{"jwk":{},"jwk":{}}`), withHeader(`[]`)} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is a JWS", text)
		}
	}
}
