package store

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

const (
	maxMail = 1000 // messages that are read at once
	// What may lie there of one agent. Whoever has its token could fill the database otherwise.
	mostLetters     = 10_000
	mostLetterBytes = 64 << 20
)

// NewMail is a message for another process.
type NewMail struct {
	AgentID   connectors.AgentID // whose conversation it belongs to
	Box       string             // for which part of it
	Message   secret.Text
	ExpiresAt time.Time
	Urgent    bool // there is room for it in any case: it is not the agent's doing
}

// Letter is a message, opened.
type Letter struct {
	ID      uuid.UUID
	Message secret.Text
}

// PutMail leaves a message. Whoever listens on patchbay_changes hears "mail <tenant> <box>". Where too much lies there of the agent, it is
// RateLimited.
func (t *Tenant) PutMail(ctx context.Context, n NewMail) error {
	id := newID()
	return t.storing(ctx, n.Message, mailPlace(t.id, id, n.AgentID, n.Box), func(sealed []byte) error {
		put, err := t.q.PutMail(ctx, dbgen.PutMailParams{
			TenantID: t.id, ID: id, AgentID: n.AgentID, Box: n.Box, Sealed: sealed, ExpiresAt: n.ExpiresAt,
			Urgent: n.Urgent, Most: mostLetters, MostBytes: mostLetterBytes,
		})
		if err == nil && put == 0 {
			err = fault.Errorf(fault.RateLimited, "Too many messages of this agent wait to be fetched. Try again in a minute.")
		}
		return err
	})
}

// DropMail throws away what lies in a box.
func (t *Tenant) DropMail(ctx context.Context, agent connectors.AgentID, box string) error {
	return t.q.DropMail(ctx, t.id, agent, box)
}

// Mail reads what lies in a box and leaves it, in the order in which it was put, from the one after a letter on; uuid.Nil: from the
// first. Two processes that put mail in one box in the same millisecond have no order.
func (v *Vault) Mail(ctx context.Context, agent connectors.AgentID, box string, after uuid.UUID) ([]Letter, error) {
	p := dbgen.MailParams{TenantID: v.id, AgentID: agent, Box: box, MaxRows: maxMail}
	if after != uuid.Nil {
		p.AfterID = &after
	}
	rows, err := v.q.Mail(ctx, p)
	if err != nil {
		return nil, err
	}
	return v.letters(rows)
}

// TakeMail reads what lies in a box and removes it: of several that take, one gets a letter.
func (v *Vault) TakeMail(ctx context.Context, agent connectors.AgentID, box string) ([]Letter, error) {
	taken, err := v.q.TakeMail(ctx, v.id, agent, box)
	if err != nil {
		return nil, err
	}
	rows := make([]dbgen.MailRow, len(taken))
	for i, r := range taken {
		rows[i] = dbgen.MailRow(r)
	}
	slices.SortFunc(rows, func(a, b dbgen.MailRow) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return v.letters(rows)
}

func (v *Vault) letters(rows []dbgen.MailRow) ([]Letter, error) {
	letters := make([]Letter, 0, len(rows))
	for _, r := range rows {
		plain, err := v.keyring.Open(r.Sealed, mailPlace(v.id, r.ID, r.AgentID, r.Box))
		if err != nil {
			return nil, fault.Wrap(fault.Internal, err, "A stored message cannot be opened.")
		}
		letters = append(letters, Letter{ID: r.ID, Message: plain})
	}
	return letters, nil
}
