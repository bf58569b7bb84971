package connect

import (
	"context"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
)

// Diagnosis reports the steps of discovering a connector's authorization server. It has no secrets and no
// remote text.
type Diagnosis struct {
	At        time.Time
	Trace     []oauth.TraceStep // the first is [StepProbe]
	Server    *oauth.Metadata   // nil: none found
	Resource  string            // empty: not sent
	Scopes    []string          // to request
	Client    string            // description of the source of the client id; empty: unknown
	Problem   string            // a sentence; empty: none
	Behaviour connectors.AuthBehaviour
}

// StartError wraps the error of a failed Start with the steps up to it.
type StartError struct {
	Diagnosis Diagnosis
	Err       error
}

// Error is the cause, for the log.
func (f *StartError) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *StartError) Unwrap() error { return f.Err }

// toDiagnosis returns the steps of a survey.
func (s authSurvey) toDiagnosis() Diagnosis {
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

// newFailure returns the fault of a Start that failed after its survey.
func (b *Broker) newFailure(ctx context.Context, s authSurvey, startedBy string, err error) error {
	f := *b.explainFailure(ctx, s.target, startedBy, err) // a copy: err may be this fault, and must not become its own cause
	d := s.toDiagnosis()
	d.Problem = f.Message
	f.Err = &StartError{Diagnosis: d, Err: err}
	return &f
}

// describeSource describes the source of a client id.
func describeSource(c oauth.Registration) string {
	switch c.Source {
	case oauth.SourceConfigured:
		return "The connector's client ID."
	case oauth.SourceMetadataDocument:
		return "Our client metadata document: " + c.ClientID
	case oauth.SourceDynamic:
		return "Registered with the authorization server."
	default:
		return ""
	}
}
