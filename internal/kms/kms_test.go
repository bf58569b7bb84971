package kms_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"patchbay/internal/fault"
	"patchbay/internal/kms"
	"patchbay/internal/kms/kmstest"
	"patchbay/internal/secret"
)

const (
	keyARN   = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	otherARN = "arn:aws:kms:eu-central-1:111122223333:alias/other"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func open(t *testing.T, address string, o kms.Options) kms.Key {
	t.Helper()
	a, err := kms.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	key, err := a.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func awsOptions(s *kmstest.Service, secretKey string) kms.Options {
	return kms.Options{
		HTTP: s.Client(), Env: env("AWS_ENDPOINT_URL_KMS", s.URL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: kmstest.AccessKey, SecretAccessKey: secretKey}, nil
		}),
	}
}

func TestWhatAKMSWrapsItsKeyAloneOpens(t *testing.T) {
	t.Parallel()
	const plain = secret.Text("what nobody may read")
	amazon, vault := kmstest.AWS(t, keyARN, otherARN), kmstest.Vault(t, "teams/transit", "patchbay", "other")
	ofVault := kms.Options{HTTP: vault.Client(), Env: env("VAULT_TOKEN", kmstest.Token)}
	for name, keys := range map[string][2]kms.Key{
		"AWS":   {open(t, "aws-kms://"+keyARN, awsOptions(amazon, kmstest.SecretKey)), open(t, "aws-kms://"+otherARN, awsOptions(amazon, kmstest.SecretKey))},
		"Vault": {open(t, vault.Address("teams/transit", "patchbay"), ofVault), open(t, vault.Address("teams/transit", "other"), ofVault)},
	} {
		wrapped, err := keys[0].Wrap(t.Context(), plain)
		if err != nil || strings.Contains(string(wrapped), plain.Reveal()) {
			t.Fatalf("%s: wrap: %q, %v", name, wrapped, err)
		}
		if got, err := keys[0].Unwrap(t.Context(), wrapped); err != nil || got != plain {
			t.Errorf("%s: unwrap: %q, %v", name, got.Reveal(), err)
		}
		if got, err := keys[1].Unwrap(t.Context(), wrapped); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: another key opens it: %q, %v", name, got.Reveal(), err)
		}
	}
}

func TestAKMSThatRefusesIsQuoted(t *testing.T) {
	t.Parallel()
	amazon, vault, gone := kmstest.AWS(t, keyARN), kmstest.Vault(t, "transit", "patchbay"), kmstest.AWS(t)
	disabled, sealed := kmstest.AWS(t, keyARN), kmstest.Vault(t, "transit", "patchbay")
	gone.Close()
	disabled.Refuse(true)
	sealed.Refuse(true)
	vaultOptions := func(s *kmstest.Service, token string) kms.Options {
		return kms.Options{HTTP: s.Client(), Env: env("VAULT_TOKEN", token)}
	}
	plain := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	for name, c := range map[string]struct {
		key  kms.Key
		want string
	}{
		"a wrong secret":   {open(t, "aws-kms://"+keyARN, awsOptions(amazon, "another")), "refused with status 400: InvalidSignatureException: The request signature"},
		"no such key":      {open(t, "aws-kms://"+otherARN, awsOptions(amazon, kmstest.SecretKey)), "NotFoundException"},
		"a disabled key":   {open(t, "aws-kms://"+keyARN, awsOptions(disabled, kmstest.SecretKey)), "DisabledException"},
		"missing":          {open(t, "aws-kms://"+keyARN, awsOptions(gone, kmstest.SecretKey)), "can't be reached (connection refused)"},
		"a wrong token":    {open(t, vault.Address("transit", "patchbay"), vaultOptions(vault, "another")), "refused with status 403: permission denied"},
		"no such mount":    {open(t, vault.Address("elsewhere", "patchbay"), vaultOptions(vault, kmstest.Token)), "encryption key not found"},
		"a sealed Vault":   {open(t, sealed.Address("transit", "patchbay"), vaultOptions(sealed, kmstest.Token)), "refused with status 503: Vault is sealed"},
		"unknown to TLS":   {open(t, vault.Address("transit", "patchbay"), kms.Options{HTTP: plain, Env: env("VAULT_TOKEN", kmstest.Token)}), "can't be reached (x509: "},
		"something else's": {open(t, "aws-kms://"+keyARN, kms.Options{HTTP: vault.Client(), Env: env("AWS_ENDPOINT_URL", vault.URL), Credentials: awsOptions(amazon, "x").Credentials}), "status 403"},
	} {
		_, err := c.key.Wrap(t.Context(), "x")
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "The KMS at 127.0.0.1:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		for _, secret := range []string{kmstest.SecretKey, kmstest.Token} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the secret is told: %v", name, err)
			}
		}
	}
}

func TestError_QuotesOneLine(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"first\nsecond\x00 third\u0085": "refused with status 403: first second  third.",
		"x" + strings.Repeat("ä", 200):  "refused with status 403: x" + strings.Repeat("ä", 149) + ".",
		"\r\n":                          "refused with status 403.",
	} {
		body, err := json.Marshal(map[string][]string{"errors": {said}})
		if err != nil {
			t.Fatal(err)
		}
		key := open(t, "hcvault://vault.example.com/transit/keys/patchbay", kms.Options{
			HTTP: &http.Client{Transport: says{http.StatusForbidden, string(body)}}, Env: env("VAULT_TOKEN", "x"),
		})
		if _, err := key.Wrap(t.Context(), "x"); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q is told as %v", said, err)
		}
	}
}

func TestAddressesOfKMSs(t *testing.T) {
	t.Parallel()
	for address, endpoint := range map[string]string{
		"aws-kms://" + keyARN: "https://kms.eu-central-1.amazonaws.com",
		"aws-kms://arn:aws-cn:kms:cn-north-1:111122223333:alias/patchbay": "https://kms.cn-north-1.amazonaws.com.cn",
		"hcvault://vault.example:8200/transit/keys/patchbay":              "https://vault.example:8200",
		"hcvault://vault.example/a/b.c/keys/patch_bay-2":                  "https://vault.example",
	} {
		a, err := kms.Parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if u, err := a.Endpoint(env()); err != nil || u.String() != endpoint || a.String() != address {
			t.Errorf("%s: %v, %v", a, u, err)
		}
	}
	for _, address := range []string{
		"", "aws-kms://", "aws-kms://alias/patchbay", "aws-kms://arn:aws:s3:::bucket", "aws-kms://arn:aws:kms:eu-central-1.evil.example/:111122223333:key/x",
		"hcvault://", "hcvault://vault.example", "hcvault://vault.example/transit/patchbay", "hcvault:///transit/keys/patchbay",
		"hcvault://token@vault.example/transit/keys/patchbay", "hcvault://vault.example/transit/keys/patchbay?x=1", "hcvault://vault.example/../sys/keys/patchbay",
		"hcvault://vault.example/transit/keys/a/b", "hcvault://vault.example/tran%2fsit/keys/patchbay", "gcp-kms://projects/x", "https://vault.example/transit/keys/patchbay",
	} {
		if a, err := kms.Parse(address); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken for %v (%v)", address, a, err)
		}
	}
	a, err := kms.Parse("aws-kms://" + keyARN)
	if err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []string{"http://kms.example", "ftp://127.0.0.1", "https://user@kms.example", "://"} {
		if u, err := a.Endpoint(env("AWS_ENDPOINT_URL", elsewhere)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s is gone to: %v (%v)", elsewhere, u, err)
		}
	}
}

func TestVaultIsNotAskedWithoutAToken(t *testing.T) {
	t.Parallel()
	a, err := kms.Parse("hcvault://vault.example/transit/keys/patchbay")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(kms.Options{Env: env()}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "VAULT_TOKEN is not set") {
		t.Errorf("have %v", err)
	}
}
