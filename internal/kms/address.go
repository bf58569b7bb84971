package kms

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"patchbay/internal/fault"
)

// The schemes of addresses.
const (
	awsScheme   = "aws-kms://"
	vaultScheme = "hcvault://"
)

// Address names one key of one service. It holds no secret.
type Address struct {
	text  string
	arn   arn   // of AWS
	vault place // of Vault
}

// place is a key of Vault's: the host, where the transit engine is mounted, and the key's name there.
type place struct{ host, mount, key string }

// arn is what an ARN of a key tells of the way there.
type arn struct{ text, partition, region string }

var (
	arnForm   = regexp.MustCompile(`^arn:(aws[a-z0-9-]*):kms:([a-z0-9-]+):[0-9]{12}:(key|alias)/[A-Za-z0-9/_-]+$`)
	vaultForm = regexp.MustCompile(`^/((?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)+)keys/([A-Za-z0-9_-][A-Za-z0-9._-]*)$`)
)

// Is tells whether a text names a KMS, rightly or not.
func Is(text string) bool {
	return strings.HasPrefix(text, awsScheme) || strings.HasPrefix(text, vaultScheme)
}

// Parse reads an address. The error is a fault.
func Parse(text string) (Address, error) {
	if name, ok := strings.CutPrefix(text, awsScheme); ok {
		m := arnForm.FindStringSubmatch(name)
		if m == nil {
			return Address{}, fault.Errorf(fault.Invalid, "An AWS KMS key is named by its ARN, as aws-kms://arn:aws:kms:eu-central-1:111122223333:key/KEY-ID.")
		}
		return Address{text: text, arn: arn{text: name, partition: m[1], region: m[2]}}, nil
	}
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(text, vaultScheme) || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Address{}, wrongVault()
	}
	m := vaultForm.FindStringSubmatch(u.EscapedPath())
	if m == nil {
		return Address{}, wrongVault()
	}
	return Address{text: text, vault: place{host: u.Host, mount: strings.TrimSuffix(m[1], "/"), key: m[2]}}, nil
}

func wrongVault() error {
	return fault.Errorf(fault.Invalid, "A key of Vault's or OpenBao's transit engine is named as hcvault://HOST:PORT/transit/keys/NAME; the token comes from VAULT_TOKEN.")
}

// String is the address as it was written.
func (a Address) String() string { return a.text }

// Endpoint is where requests go. What the environment says in place of AWS's own address has to be https, or this machine.
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
