package connectors

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Hash is the SHA-256 of a tool's definition as sent.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// HashDefinition hashes one tool's raw JSON.
func HashDefinition(raw []byte) Hash { return sha256.Sum256(raw) }

// Review is the review state of a tool's definition.
type Review string

// The review states.
const (
	ReviewAccepted Review = "accepted" // the current definition is served
	ReviewChanged  Review = "changed"  // an older definition is served, the current one waits
	ReviewNew      Review = "new"      // nothing is served, the first definition waits
	ReviewRejected Review = "rejected" // never served
	ReviewKept     Review = "kept"     // an older definition stays in service, by decision
)

// Definition is one tool as the upstream sent it.
type Definition struct {
	Name string // 1–128 characters
	Raw  []byte // one JSON object, byte for byte
	Hash Hash
}

// Quarantined is an invalid entry of a tool list, stored with the reason.
type Quarantined struct {
	Name   *string // nil: unreadable
	Reason string
	Raw    []byte // any JSON value
}

// ToolState is a stored tool to compare with a new list.
type ToolState struct {
	Name     string
	Current  Hash
	Accepted *Hash // nil: nothing accepted yet
	Review   Review
	Removed  bool
}

// Tool is a tool of a connector, with its dates.
type Tool struct {
	ConnectorID   ConnectorID
	ConnectorSlug string
	ConnectorName string
	Definition
	Title       string // from the definition; optional
	Description string // as Title
	Curation
	Shadowed    bool // another tool's alias is this one's name
	Review      Review
	FirstSeenAt time.Time
	LastSeenAt  time.Time
	ChangedAt   time.Time
	RemovedAt   *time.Time // nil: not removed
}

// AgentName returns the tool's name for agents, without the connector's prefix.
func (t Tool) AgentName() string {
	return ToolNames{Name: t.Name, Alias: t.Alias}.AgentName(t.Shadowed)
}
