package kms_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/kms"
)

// FuzzAddress: the address of a key leads to the service that it names, over https, and nowhere else; it holds nothing that is secret.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"aws-kms://" + keyARN, "aws-kms://" + otherARN, "aws-kms://arn:aws-cn:kms:cn-north-1:111122223333:key/1", "aws-kms://arn:aws:kms:eu.evil.example/:111122223333:key/1",
		"hcvault://vault.example.com:8200/transit/keys/patchbay", "hcvault://vault.example.com/a/b/keys/c", "hcvault://vault.example.com/transit/keys/../../sys/seal",
		"hcvault://token@vault.example.com/transit/keys/a", "hcvault://vault.example.com/transit/keys/a?x=1", "hcvault://[::1]:8200/transit/keys/a", "hcvault://v%2fx/transit/keys/a",
		"hcvault://vault.example.com/transit/keys/a%2e%2e", "hcvault:///transit/keys/a", "https://vault.example.com/transit/keys/a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := kms.Parse(text)
		if err != nil {
			return
		}
		if !kms.Is(text) || a.String() != text || strings.ContainsAny(text, "@?\r\n ") {
			t.Errorf("%q is an address", text)
		}
		end, err := a.Endpoint(env())
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if end.Scheme != "https" || end.User != nil || end.Hostname() == "" || end.Path != "" || end.RawQuery != "" {
			t.Errorf("%q leads to %q", text, end)
		}
		read, err := url.Parse(end.String())
		if err != nil || read.Host != end.Host {
			t.Errorf("%q leads to %q, which reads as %+v, %v", text, end, read, err)
		}
		if strings.HasPrefix(text, "aws-kms://") && !strings.HasSuffix(end.Host, ".amazonaws.com") && !strings.HasSuffix(end.Host, ".amazonaws.com.cn") {
			t.Errorf("%q leads to %q", text, end)
		}
		if rest, isVault := strings.CutPrefix(text, "hcvault://"); isVault {
			if host, _, _ := strings.Cut(rest, "/"); !strings.EqualFold(host, end.Host) {
				t.Errorf("%q leads to %q", text, end)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, end.String()+"/v1/x", nil)
			if err != nil || request.URL.Hostname() != end.Hostname() { // an empty port is left out
				t.Errorf("nothing can be sent to %q: %v", text, err)
			}
		}
	})
}
