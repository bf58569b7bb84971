package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

const (
	maxMail = 1000 // messages per read
	// Bounds per agent: a token holder could fill the database otherwise.
	maxAgentMail      = 10_000
	maxAgentMailBytes = 64 << 20
	maxKeptBytes      = 256 << 20 // of whole answers, apart from the others
	// Bounds of the whole answers of a tenant, of which answerCounts has the accuracy.
	maxTenantAnswers     = 50_000
	maxTenantAnswerBytes = 1 << 30
)

// ResultBox begins the names of the boxes that keep whole answers.
const ResultBox = "result-"

// NewMail is a message for another process.
type NewMail struct {
	ID        uuid.UUID          // of [NewMailID]; zero: a new one, so that the message must not be put again
	AgentID   connectors.AgentID // agent of the session
	Box       string             // part of the session
	Message   secret.Text
	ExpiresAt time.Time
	Urgent    bool // exempt from the bounds: not caused by the agent

	// Connector gave the whole answer of a [ResultBox], which ends with the agent's grant of it. Zero: another message.
	Connector   connectors.ConnectorID
	AnswerBytes int64 // bound of all whole answers of the tenant; 0: 1 GiB
}

// MailMessage is an opened message.
type MailMessage struct {
	ID      uuid.UUID
	Message secret.Text
}

// NewMailID returns the id of a message that may be put more than once.
func NewMailID() uuid.UUID { return newID() }

// PutMail stores a message and notifies channel patchbay_changes with "mail <tenant> <box>". It fails with
// RateLimited at the agent's bounds, and for a whole answer at the tenant's. A whole answer of a disabled agent, or of a tenant
// without a history, is NotFound. A message with the id of a stored one only extends its time.
func (t Calls) PutMail(ctx context.Context, n NewMail) error {
	if n.ID == uuid.Nil {
		n.ID = newID()
	}
	return t.sealAndRetry(ctx, n.Message, mailAD(t.id, n.ID, n.AgentID, n.Box), func(sealed []byte) error {
		if n.Connector.UUID != uuid.Nil {
			return t.keepAnswer(ctx, n, sealed)
		}
		bytes := int64(maxAgentMailBytes)
		if strings.HasPrefix(n.Box, ResultBox) {
			bytes = maxKeptBytes
		}
		put, err := t.q.PutMail(ctx, dbgen.PutMailParams{
			TenantID: t.id, ID: n.ID, AgentID: n.AgentID, Box: n.Box, Sealed: sealed, ExpiresAt: n.ExpiresAt,
			Urgent: n.Urgent, Most: maxAgentMail, MostBytes: bytes,
		})
		if err == nil && put == 0 {
			err = newMailboxFullError()
		}
		return err
	})
}

// keepAnswer stores a whole answer. The statement counts the tenant's answers only once a minute.
func (t Calls) keepAnswer(ctx context.Context, n NewMail, sealed []byte) error {
	counts, maxBytes := t.store.answers, cmp.Or(n.AnswerBytes, maxTenantAnswerBytes)
	recount, fits := counts.checkBound(t.id, maxBytes, time.Now())
	if !fits {
		return newMailboxFullError()
	}
	kept, err := t.q.PutAnswer(ctx, dbgen.PutAnswerParams{
		TenantID: t.id, ID: n.ID, AgentID: n.AgentID, Box: n.Box, Sealed: sealed, ExpiresAt: n.ExpiresAt, ConnectorID: n.Connector.UUID,
		Most: maxAgentMail, MostBytes: maxKeptBytes, Recount: recount, MostAnswers: maxTenantAnswers, MostAnswerBytes: maxBytes,
	})
	if recount {
		counts.setCounted(t.id, kept.Number, kept.Bytes, err)
	}
	switch {
	case err != nil:
		return err
	case !kept.IsAllowed:
		return affectedError(0, nil, "agent")
	case !kept.IsStored:
		return newMailboxFullError()
	}
	counts.addAnswer(t.id, int64(len(sealed)))
	return nil
}

func newMailboxFullError() error {
	return fault.Errorf(fault.RateLimited, "This agent has too many unfetched messages. Try again in a minute.")
}

// DropMail deletes the messages of a box.
func (t Calls) DropMail(ctx context.Context, agent connectors.AgentID, box string) error {
	return t.q.DeleteMail(ctx, t.id, agent, box)
}

// Mail reads the messages of a box in order of insertion, after one message; uuid.Nil: from the first. Messages
// of two processes in one millisecond have no defined order.
func (v *Vault) Mail(ctx context.Context, agent connectors.AgentID, box string, after uuid.UUID) ([]MailMessage, error) {
	p := dbgen.MailParams{TenantID: v.id, AgentID: agent, Box: box, MaxRows: maxMail}
	if after != uuid.Nil {
		p.AfterID = &after
	}
	rows, err := v.q.Mail(ctx, p)
	if err != nil {
		return nil, err
	}
	return v.openMail(rows)
}

// TakeMail reads and deletes the messages of a box. Each message goes to one of concurrent callers.
func (v *Vault) TakeMail(ctx context.Context, agent connectors.AgentID, box string) ([]MailMessage, error) {
	taken, err := v.q.ConsumeMail(ctx, v.id, agent, box)
	if err != nil {
		return nil, err
	}
	rows := make([]dbgen.MailRow, len(taken))
	for i, r := range taken {
		rows[i] = dbgen.MailRow(r)
	}
	slices.SortFunc(rows, func(a, b dbgen.MailRow) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return v.openMail(rows)
}

func (v *Vault) openMail(rows []dbgen.MailRow) ([]MailMessage, error) {
	letters := make([]MailMessage, 0, len(rows))
	for _, r := range rows {
		plain, err := v.keyring.Open(r.Sealed, mailAD(v.id, r.ID, r.AgentID, r.Box))
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "A stored message can't be decrypted.")
		}
		letters = append(letters, MailMessage{ID: r.ID, Message: plain})
	}
	return letters, nil
}
