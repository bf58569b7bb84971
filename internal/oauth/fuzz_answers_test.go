package oauth_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/oauth"
)

// FuzzRegistrationAnswer: a client that is registered can be put into a header and a database, and a refusal repeats known codes only.
func FuzzRegistrationAnswer(f *testing.F) {
	f.Add(201, `{"client_id":"x","client_secret":"y","client_secret_expires_at":1e9,"token_endpoint_auth_method":"client_secret_basic"}`)
	f.Add(200, "\ufeff{\"client_id\":\"a\\u0000\"}")
	f.Add(400, `{"error":"invalid_redirect_uri","error_description":"<b>"}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		c := &oauth.Client{HTTP: &http.Client{Transport: says{status, body}}}
		client, err := c.Register(t.Context(), oauth.RegisterRequest{Server: oauth.Metadata{Issuer: "https://as.example", RegistrationEndpoint: "https://as.example/reg"}})
		if err == nil {
			if text := client.ClientID + client.ClientSecret.Reveal(); client.ClientID == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) || client.Issuer != "https://as.example" {
				t.Errorf("registered %q of %q", client.ClientID, client.Issuer)
			}
			return
		}
		failure, ok := errors.AsType[*oauth.Error](err)
		if !ok || failure.Code != "" && !slices.Contains(knownCodes, failure.Code) || strings.ContainsAny(failure.Detail, "<>\r\n\x00") {
			t.Errorf("%v", err)
		}
	})
}

// FuzzIDToken checks that an account is a short plain text, or empty.
func FuzzIDToken(f *testing.F) {
	f.Add("e30", `{"email":"ann@example.com"}`)
	f.Add("e30", `{"email":"a\u202eb","preferred_username":"\u0000","name":" Ann "}`)
	f.Add("", `[]`)
	f.Fuzz(func(t *testing.T, head, claims string) {
		if strings.ContainsAny(head, "\"\\") || !utf8.ValidString(head) {
			return
		}
		token := head + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
		c := &oauth.Client{HTTP: &http.Client{Transport: says{http.StatusOK, `{"access_token":"t","token_type":"bearer","id_token":"` + token + `"}`}}}
		answer, err := c.Refresh(t.Context(), oauth.Peer{Server: oauth.Metadata{TokenEndpoint: "https://as.example/token"}, Client: oauth.Registration{ClientID: "id"}}, "r")
		if err != nil {
			return // no JSON, by the head
		}
		if utf8.RuneCountInString(answer.Identity.Name) > 200 || strings.ContainsFunc(answer.Identity.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("the account is %q", answer.Identity.Name)
		}
	})
}

// FuzzPrivateKey: a key that an admin pastes is read or refused, and never said again.
func FuzzPrivateKey(f *testing.F) {
	f.Add("-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----", "ES256")
	f.Add("no key", "none")
	f.Fuzz(func(t *testing.T, text, algorithm string) {
		key, err := oauth.ParsePrivateKey(oauth.Secret(text), algorithm)
		if (key == nil) == (err == nil) || err != nil && len(text) > 64 && strings.Contains(err.Error(), text) {
			t.Errorf("%v, %v", key, err)
		}
	})
}
