package kms

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"patchbay/internal/fault"
)

// Address schemes.
const (
	awsScheme   = "aws-kms://"
	vaultScheme = "hcvault://"
)

// Address identifies one key of one KMS. It holds no secret.
type Address struct {
	text  string
	arn   awsARN     // of AWS
	vault keyAddress // of Vault
}

// keyAddress is a Vault key: host, mount of the transit engine, and key name.
type keyAddress struct{ host, mount, key string }

// awsARN is the ARN of an AWS key.
type awsARN struct{ text, partition, region string }

var (
	arnForm   = regexp.MustCompile(`^arn:(aws[a-z0-9-]*):kms:([a-z0-9-]+):[0-9]{12}:(key|alias)/[A-Za-z0-9/_-]+$`)
	vaultForm = regexp.MustCompile(`^/((?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)+)keys/([A-Za-z0-9_-][A-Za-z0-9._-]*)$`)
)

// Is reports whether a text has the scheme of a KMS, well-formed or not.
func Is(text string) bool {
	return strings.HasPrefix(text, awsScheme) || strings.HasPrefix(text, vaultScheme)
}

// Parse parses an address. The error is a fault.
func Parse(text string) (Address, error) {
	if name, ok := strings.CutPrefix(text, awsScheme); ok {
		m := arnForm.FindStringSubmatch(name)
		if m == nil {
			return Address{}, fault.Errorf(fault.Invalid, "Name an AWS KMS key by its ARN, such as aws-kms://arn:aws:kms:eu-central-1:111122223333:key/KEY-ID.")
		}
		return Address{text: text, arn: awsARN{text: name, partition: m[1], region: m[2]}}, nil
	}
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(text, vaultScheme) || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Address{}, errVaultAddress()
	}
	m := vaultForm.FindStringSubmatch(u.EscapedPath())
	if m == nil {
		return Address{}, errVaultAddress()
	}
	return Address{text: text, vault: keyAddress{host: u.Host, mount: strings.TrimSuffix(m[1], "/"), key: m[2]}}, nil
}

func errVaultAddress() error {
	return fault.Errorf(fault.Invalid, "Name a key of Vault's or OpenBao's transit engine as hcvault://HOST:PORT/transit/keys/NAME; the token comes from VAULT_TOKEN.")
}

// String returns the address as written.
func (a Address) String() string { return a.text }

// Endpoint returns the URL of requests. An override of AWS's endpoint by the environment must be https or
// loopback.
func (a Address) Endpoint(env func(string) string) (*url.URL, error) {
	if a.arn.text == "" {
		return &url.URL{Scheme: "https", Host: a.vault.host}, nil
	}
	for _, name := range []string{"AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL"} {
		if value := env(name); value != "" {
			u, err := url.Parse(value)
			if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
				return nil, fault.Errorf(fault.Invalid, "%s must be an https address.", name)
			}
			return u, nil
		}
	}
	domain := "amazonaws.com"
	if a.arn.partition == "aws-cn" {
		domain = "amazonaws.com.cn"
	}
	return &url.URL{Scheme: "https", Host: "kms." + a.arn.region + "." + domain}, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
