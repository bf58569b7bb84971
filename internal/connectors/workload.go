package connectors

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// MaxWorkloads bounds an agent's workloads.
const MaxWorkloads = 20

// maxClaim bounds a workload's issuer and its subject, in bytes.
const maxClaim = 500

// Workload is a program that gets an agent's tokens for a JWT of its issuer, such as a Kubernetes cluster or a CI
// system. It has no stored secret. Its id is its client_id.
type Workload struct {
	ID         AgentWorkloadID
	AgentID    AgentID
	Name       string
	Issuer     string          // iss of its JWTs
	Subject    string          // sub of its JWTs
	Keys       json.RawMessage // the issuer's public keys (RFC 7517 section 5); nil: they are read at the issuer
	CreatedAt  time.Time
	LastUsedAt *time.Time // of the last token; nil: never
}

// Normalized trims the texts.
func (w Workload) Normalized() Workload {
	w.Name, w.Issuer, w.Subject = strings.TrimSpace(w.Name), strings.TrimSpace(w.Issuer), strings.TrimSpace(w.Subject)
	return w
}

// Validate returns the invalid fields. Keys, and whether the issuer may be contacted, are checked elsewhere.
func (w Workload) Validate() []fault.Field {
	fields := nameDefects(w.Name)
	if u, err := url.Parse(w.Issuer); err != nil || len(w.Issuer) > maxClaim || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.ContainsAny(w.Issuer, "?#") {
		fields = append(fields, fault.Field{Location: "issuer", Message: "Enter the issuer's URL, at most 500 bytes, without a query."})
	}
	if n := len(w.Subject); n == 0 || n > maxClaim || !utf8.ValidString(w.Subject) || strings.ContainsRune(w.Subject, 0) {
		fields = append(fields, fault.Field{Location: "subject", Message: "Must be 1–500 bytes."})
	}
	return fields
}
