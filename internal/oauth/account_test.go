package oauth_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestAnIDTokenTellsWhoTheAccountIs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for claims, want := range map[string]string{
		`{"email":"ann@example.com","preferred_username":"ann","name":"Ann"}`: "ann@example.com",
		`{"preferred_username":"ann","name":"Ann"}`:                           "ann",
		`{"name":" Änn Example "}`:                                            "Änn Example",
		`{"name":"` + long + `"}`:                                             long,
		`{"name":"` + long + `y"}`:                                            "",
		`{"email":7,"name":"Ann"}`:                                            "Ann",
		`{"email":"ann\u0000@example.com"}`:                                   "",
		`{"email":"ann\u202e@example.com","name":"Ann"}`:                      "Ann",
		`{"email":"\ud800"}`:                                                  "",
		`{"sub":"248289761001"}`:                                              "",
		`[]`:                                                                  "",
		`{`:                                                                   "",
	} {
		token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
		got, err := answered(t, http.StatusOK, fmt.Sprintf(`{"access_token":"a","expires_in":60,"id_token":%q}`, token))
		if err != nil || got.Identity.Name != want {
			t.Errorf("%s: account %q, %v, want %q", claims, got.Identity.Name, err, want)
		}
	}
}

func TestAnOddIDTokenCostsNoAccessToken(t *testing.T) {
	t.Parallel()
	for _, token := range []string{`""`, `7`, `"a.b"`, `"a.!.c"`, `"` + strings.Repeat("x", 300<<10) + `"`, `{"email":"x"}`} {
		got, err := answered(t, http.StatusOK, `{"access_token":"a","expires_in":60,"id_token":`+token+`}`)
		if err != nil || got.Identity.Name != "" || got.AccessToken != "a" {
			t.Errorf("%.20s: account %q, %v", token, got.Identity.Name, err)
		}
	}
}

func TestTheExchangeNamesTheAccount(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]oauthtest.Answer{"json": oauthtest.JSON, "form": oauthtest.Form, "nested": oauthtest.NestedData} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"email": "ann@example.com"}, Answer: form})
			if got := connected(t, as).Token; got.Identity.Name != "ann@example.com" || got.AccessToken == oauth.Secret("") {
				t.Errorf("token of %q", got.Identity.Name)
			}
		})
	}
}
