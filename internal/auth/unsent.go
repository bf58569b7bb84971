package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// UnsentLife bounds how long the form of an ended session waits for its person to sign in.
const UnsentLife = 15 * time.Minute

// sessionGrace is how long the data of a session outlive it, so that a form sent late is known to be its person's.
const sessionGrace = time.Hour

const sessionUnsentKey = "unsent" // sealed form of the browser's ended session

// EndedSession is the cause of a refusal by a session that ended, with its person and tenant.
type EndedSession struct {
	user   connectors.UserID
	tenant connectors.TenantID
}

func (e *EndedSession) Error() string { return "the session has ended" }

// UnsentForm is a form that was sent after its session had ended.
type UnsentForm struct {
	URI   string    `json:"uri"`  // to which it was sent
	Back  string    `json:"back"` // page on which it was typed
	Body  string    `json:"body"` // urlencoded
	Until time.Time `json:"until"`

	sealed string
}

// HoldForm seals the form in the browser's anonymous session, for the person and the tenant of the ended one.
func (s *Service) HoldForm(ctx context.Context, ended *EndedSession, f UnsentForm) error {
	f.Until = s.now().Add(UnsentLife)
	plain, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode form: %w", err)
	}
	if f.sealed, err = s.store.SealHandle(sessionUnsentKey, unsentOwner(ended.user, ended.tenant), plain); err != nil {
		return fmt.Errorf("seal form: %w", err)
	}
	s.sessions.SetDeadline(ctx, time.Now().Add(UnsentLife)) // the sign-in sets another one
	s.PutForm(ctx, f)
	return nil
}

// PutForm puts a form back that could not be sent.
func (s *Service) PutForm(ctx context.Context, f UnsentForm) {
	s.sessions.Put(ctx, sessionUnsentKey, f.sealed)
}

// DropForm removes the form that waits in this browser.
func (s *Service) DropForm(ctx context.Context) { s.sessions.Remove(ctx, sessionUnsentKey) }

// HeldForm returns the actor's form that waits in this browser, and its tenant, which may be another one of the actor's.
// It fails with NotFound if there is none, and for other people.
func (s *Service) HeldForm(ctx context.Context, a Actor) (UnsentForm, connectors.Tenant, error) {
	f := UnsentForm{sealed: s.sessions.GetString(ctx, sessionUnsentKey)}
	for _, m := range a.Memberships {
		plain, err := s.store.OpenHandle(sessionUnsentKey, unsentOwner(*a.UserID, m.Tenant.ID), f.sealed)
		if err == nil && json.Unmarshal(plain, &f) == nil && s.now().Before(f.Until) {
			return f, m.Tenant, nil
		}
	}
	return UnsentForm{}, connectors.Tenant{}, fault.Errorf(fault.NotFound, "This form has expired. Nothing was changed.")
}

func (s *Service) holdsForm(ctx context.Context, a Actor) bool {
	_, _, err := s.HeldForm(ctx, a)
	return err == nil
}

func unsentOwner(user connectors.UserID, tenant connectors.TenantID) string {
	return user.String() + " " + tenant.String()
}
