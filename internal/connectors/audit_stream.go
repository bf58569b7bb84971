package connectors

import (
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"patchbay/internal/fault"
)

// Bounds of audit streams.
const (
	MaxAuditStreams = 5
	maxStreamURL    = 2048
	maxStreamHeader = 100
	maxStreamSecret = 4096
	maxStreamCA     = 64 << 10
	maxStreamCAs    = 20
)

// Syslog over TLS (RFC 5425 section 4.1).
const (
	syslogScheme = "tls"
	syslogPort   = "6514"
)

// StreamKind is the protocol of an audit stream.
type StreamKind string

// The kinds.
const (
	StreamHTTPS  StreamKind = "https"
	StreamSyslog StreamKind = "syslog" // RFC 5424 over TLS, RFC 5425
)

// StreamFormat is how an audit stream sends a batch of events.
type StreamFormat string

// The formats.
const (
	StreamNDJSON StreamFormat = "ndjson" // one event a line
	StreamJSON   StreamFormat = "json"   // an array
	StreamFrames StreamFormat = "syslog" // one message an event; the only format of syslog
)

// StreamEnd is why Patchbay paused an audit stream.
type StreamEnd string

// The reasons.
const (
	StreamOnOrOff StreamEnd = ""        // not by Patchbay: a person switches it
	StreamGone    StreamEnd = "gone"    // its receiver answered 410
	StreamRefused StreamEnd = "refused" // its receiver refused for a day
)

// Sentence explains the reason to people.
func (e StreamEnd) Sentence() string {
	switch e {
	case StreamGone:
		return "The receiver answered 410 Gone. Nothing is lost: the stream continues at its position when you turn it on."
	case StreamRefused:
		return "The receiver refused repeatedly. Nothing is lost: the stream continues at its position when you turn it on."
	default:
		return ""
	}
}

// AuditStream sends the audit log and call outcomes to a receiver. Its secret is stored apart.
type AuditStream struct {
	ID           AuditStreamID
	Name         string
	Kind         StreamKind
	URL          string // https://host/path, or tls://host:port for syslog
	Format       StreamFormat
	Header       string // name of the header with the secret; empty: none
	CA           string // certificates that sign the syslog receiver's, in PEM; empty: the system's
	HasSecret    bool
	Enabled      bool
	DisabledWhy  StreamEnd
	Cursor       AuditCursor
	AuditEnd     int64 // last position of the audit log
	CallsEnd     int64 // last position of calls
	Failures     int   // in a row
	FailingSince *time.Time
	LastError    string
	NextAt       *time.Time // next attempt after failures; nil: at once
	DeliveredAt  *time.Time // last success; nil: never
	Gap          string     // the last records that were removed before their delivery; empty: none
	GapAt        *time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// AuditCursor is the position of an audit stream in both chains.
type AuditCursor struct {
	AuditN      int64  // last delivered entry of the audit log
	AuditHash   []byte // of the chain there
	CallsN      int64  // last link of call outcomes of which all is delivered
	CallsHash   []byte // of the chain there
	CallsRecord int64  // last delivered record of a call; it may be within the next link
}

// StreamState is the state of an audit stream.
type StreamState string

// The states.
const (
	StreamActive  StreamState = "active"
	StreamTrouble StreamState = "failing" // the last attempt failed
	StreamPaused  StreamState = "paused"  // by a person, or by Patchbay
)

// State returns the stream's state.
func (s AuditStream) State() StreamState {
	switch {
	case !s.Enabled:
		return StreamPaused
	case s.Failures > 0:
		return StreamTrouble
	default:
		return StreamActive
	}
}

// Behind returns the number of undelivered records.
func (s AuditStream) Behind() int64 { return s.AuditBehind() + s.CallsBehind() }

// AuditBehind returns the number of undelivered entries of the audit log.
func (s AuditStream) AuditBehind() int64 { return max(0, s.AuditEnd-s.Cursor.AuditN) }

// CallsBehind returns the number of undelivered records of calls.
func (s AuditStream) CallsBehind() int64 { return max(0, s.CallsEnd-s.Cursor.CallsRecord) }

// Origin is the scheme, host and port of the receiver. The secret is bound to it.
func (s AuditStream) Origin() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "http":
		port = "80"
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// Normalized trims white space, writes an internationalised host in xn-- form, and sets defaults.
func (s AuditStream) Normalized() AuditStream {
	s.Name, s.Header, s.CA = strings.TrimSpace(s.Name), strings.TrimSpace(s.Header), strings.TrimSpace(s.CA)
	s.URL, _ = ASCIIURL(strings.TrimSpace(s.URL))
	if s.Kind != StreamSyslog {
		if s.CA = ""; s.Format == "" {
			s.Format = StreamNDJSON
		}
		return s
	}
	s.Header, s.Format = "", StreamFrames
	if u, err := url.Parse(s.URL); err == nil && u.Scheme == syslogScheme && u.Port() == "" && u.Host != "" && !strings.HasSuffix(u.Host, ":") {
		u.Host += ":" + syslogPort
		s.URL = u.String()
	}
	return s
}

// Validate returns the invalid fields. Egress rules are applied elsewhere.
func (s AuditStream) Validate() []fault.Field {
	fields := nameDefects(s.Name)
	add := func(location, message string) {
		fields = append(fields, fault.Field{Location: location, Message: message})
	}
	switch s.Kind {
	case StreamHTTPS:
		if s.Format != StreamNDJSON && s.Format != StreamJSON {
			add("format", "Must be ndjson or json.")
		}
		if message := headerDefect(s.Header); message != "" {
			add("header", message)
		}
	case StreamSyslog:
		if len(s.CA) > maxStreamCA || s.CA != "" && s.RootCAs() == nil {
			add("ca", "Enter certificates in PEM format, at most 20.")
		}
	default:
		add("kind", "Must be https or syslog.")
	}
	if message := s.urlDefect(); message != "" {
		add("url", message)
	}
	return fields
}

func (s AuditStream) urlDefect() string {
	u, err := url.Parse(s.URL)
	switch {
	case s.URL == "":
		return "Enter a URL."
	case len(s.URL) > maxStreamURL:
		return "The URL is longer than 2048 characters."
	case s.Kind == StreamSyslog && (err != nil || u.Scheme != syslogScheme || u.Port() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != ""):
		return "Enter an address like tls://logs.example.com:6514."
	}
	return ""
}

func headerDefect(name string) string {
	switch {
	case name == "":
		return ""
	case len(name) > maxStreamHeader || !httpguts.ValidHeaderFieldName(name):
		return "Enter a header name like Authorization."
	case OwnHeader(name), strings.EqualFold(name, "Proxy-Authorization"), strings.EqualFold(name, "Cookie"):
		return "This header can't carry a key."
	}
	return ""
}

// StreamSecretDefect returns the message about an invalid header value; empty: it is valid.
func StreamSecretDefect(value string) string {
	if len(value) > maxStreamSecret || strings.TrimSpace(value) != value || !httpguts.ValidHeaderFieldValue(value) {
		return "Enter a header value of at most 4096 characters, without line breaks."
	}
	return ""
}

// RootCAs parses CA; nil if it holds no certificate, too many, or something else.
func (s AuditStream) RootCAs() *x509.CertPool {
	pool, rest, n := x509.NewCertPool(), []byte(s.CA), 0
	for len(strings.TrimSpace(string(rest))) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return nil
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if n++; err != nil || n > maxStreamCAs {
			return nil
		}
		pool.AddCert(c)
	}
	if n == 0 {
		return nil
	}
	return pool
}
