package kms_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"patchbay/internal/fault"
	"patchbay/internal/kms"
)

// says is a service that gives one answer to everything.
type says struct {
	status int
	body   string
}

// RoundTrip implements http.RoundTripper.
func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Body: io.NopCloser(strings.NewReader(s.body)), Header: http.Header{}, Request: r}, nil
}

// FuzzAnswers checks that a KMS response yields a key, a ciphertext or a one-line error of bounded length.
func FuzzAnswers(f *testing.F) {
	f.Add(200, `{"Plaintext":"AAAA","CiphertextBlob":"AAAA"}`)
	f.Add(200, `{"data":{"plaintext":"AAAA","ciphertext":"vault:v1:x"}}`)
	f.Add(200, `{"data":{"plaintext":"no base64"}}`)
	f.Add(200, `{"data":null,"data":[]}`)
	f.Add(403, `{"errors":["permission denied","`+strings.Repeat("ä", 200)+`"]}`)
	f.Add(400, `{"__type":"com.amazonaws.kms#AccessDeniedException","message":"not\nauthorised\u0000"}`)
	f.Add(502, `<html>`)
	f.Add(302, ``)
	f.Fuzz(func(t *testing.T, status int, body string) {
		o := kms.Options{
			HTTP: &http.Client{Transport: says{status, body}}, Env: env("VAULT_TOKEN", "the-token-of-vault"),
			Credentials: credentials.NewStaticCredentialsProvider("AKIATEST", "the-secret-of-aws", ""),
		}
		for _, address := range []string{"aws-kms://" + keyARN, "hcvault://vault.example.com:8200/transit/keys/patchbay"} {
			key := open(t, address, o)
			plain, err := key.Unwrap(t.Context(), []byte("vault:v1:wrapped"))
			if told(t, err); err == nil && (plain.Empty() || status != http.StatusOK || !json.Valid([]byte(body))) {
				t.Errorf("%s: %d %q is a key", address, status, body)
			}
			wrapped, err := key.Wrap(t.Context(), "plain")
			if told(t, err); err == nil && (len(wrapped) == 0 || status != http.StatusOK || !json.Valid([]byte(body))) {
				t.Errorf("%s: %d %q is a ciphertext", address, status, body)
			}
		}
	})
}

// told fails where a failure is none that a person may read.
func told(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	if !fault.Is(err, fault.Unavailable) || len(text) > 600 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		t.Errorf("the failure is told as %q", text)
	}
}
