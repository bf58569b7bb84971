package connectors

import "time"

// Draft is a connector as a person or a program describes it, before it is checked.
type Draft struct {
	Name           string
	Slug           string // empty: made from Name
	Description    string
	Transport      Transport
	URL            string
	Headers        map[string]string
	CredentialMode CredentialMode
	Auth           Auth
	Timeout        time.Duration
	RetryAttempts  int
	Enabled        bool
	SyncInterval   time.Duration
	ToolChanges    ToolChangePolicy
}

// NewDraft returns a draft with the defaults of the public contract.
func NewDraft() Draft {
	return Draft{
		Transport:      TransportStreamableHTTP,
		CredentialMode: CredentialShared,
		Auth:           Auth{Type: AuthNone},
		Timeout:        DefaultTimeout,
		RetryAttempts:  DefaultRetries,
		Enabled:        true,
		SyncInterval:   DefaultInterval,
		ToolChanges:    ToolChangesHoldRisky,
	}
}
