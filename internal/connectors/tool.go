package connectors

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Hash identifies a tool's definition: the SHA-256 of the bytes that the upstream sent for it.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// HashDefinition hashes one tool's raw JSON.
func HashDefinition(raw []byte) Hash { return sha256.Sum256(raw) }

// Review says whether a person has agreed to a tool's definition.
type Review string

// The review states.
const (
	ReviewAccepted Review = "accepted" // the current definition is served
	ReviewChanged  Review = "changed"  // an older definition is served, the current one waits
	ReviewNew      Review = "new"      // nothing is served, the first definition waits
	ReviewRejected Review = "rejected" // never served
)

// Definition is one tool as the upstream sent it.
type Definition struct {
	Name string // 1–128 characters
	Raw  []byte // one JSON object, byte for byte
	Hash Hash
}

// Quarantined is an entry of a tool list that is not a tool. It is kept aside, with the reason; the others arrive.
type Quarantined struct {
	Name   *string // where it has a readable one
	Reason string
	Raw    []byte // any JSON value
}

// ToolState is what is remembered of one tool when a new list is compared with the old.
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
	Title       string // read out of the definition; may be empty
	Description string // likewise
	Curation
	Shadowed    bool // another tool of the connector has this one's name for its alias
	Review      Review
	FirstSeenAt time.Time
	LastSeenAt  time.Time
	ChangedAt   time.Time
	RemovedAt   *time.Time // nil: there now
}

// AgentName is the tool's name towards agents, before the connector's prefix.
func (t Tool) AgentName() string { return Named{Name: t.Name, Alias: t.Alias}.AgentName(t.Shadowed) }
