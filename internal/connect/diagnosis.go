package connect

import (
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
)

// Diagnosis tells step by step how the authorization server of a connector was looked for. Nothing in it is a secret, or free
// text of the remote side.
type Diagnosis struct {
	At        time.Time
	Trace     []oauth.TraceStep // the first is [StepAsk]
	Server    *oauth.Metadata   // nil: none was found
	Resource  string            // empty: none is sent
	Scopes    []string          // that would be asked for
	Client    string            // how a client id is had, in words; empty: not known
	Problem   string            // one sentence; empty: a person can be sent there
	Behaviour connectors.AuthBehaviour
}

// Failed is in the chain of the fault with which a start ends, and tells how far it came.
type Failed struct {
	Diagnosis Diagnosis
	Err       error
}

// Error is the cause, for the log.
func (f *Failed) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failed) Unwrap() error { return f.Err }

// diagnosis is what a survey saw.
func (s survey) diagnosis() Diagnosis {
	d := Diagnosis{
		At: s.at, Resource: s.discovery.Resource, Scopes: s.scopes, Behaviour: s.asked.behaviour,
		Trace: slices.Concat([]oauth.TraceStep{s.asked.step}, s.discovery.Trace),
	}
	if d.Behaviour == "" {
		d.Behaviour = connectors.AuthUnknown
	}
	if s.discovery.Server.Issuer != "" {
		server := s.discovery.Server
		d.Server = &server
	}
	return d
}

// failed makes the fault with which a start ends after its survey.
func (b *Broker) failed(s survey, err error) error {
	f := *b.explain(err) // a copy: err may be that fault itself, and must not become its own cause
	d := s.diagnosis()
	d.Problem = f.Message
	f.Err = &Failed{Diagnosis: d, Err: err}
	return &f
}

// clientWords says how a client id is had.
func clientWords(c oauth.Registration) string {
	switch c.Source {
	case oauth.SourceConfigured:
		return "The client id of the connector's settings."
	case oauth.SourceMetadataDocument:
		return "Our client metadata document: " + c.ClientID
	case oauth.SourceDynamic:
		return "Registered with the authorization server."
	default:
		return ""
	}
}
