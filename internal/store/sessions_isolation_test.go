package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// sessionOf is where the victim's member is signed in.
type sessionOf struct{ session connectors.Session }

// sessionAttempts are the outsider's at where people are signed in.
var sessionAttempts = map[string]attempt{
	"People.Sessions": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.People().Sessions(ctx, o.member.UserID, time.Time{}, time.Time{})
		return len(list) > 0, err
	},
	"People.EndSession": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.People().EndSession(ctx, o.member.UserID, o.session.ID)
	},
	"People.EndSSOSessions": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.People().EndSSOSessions(ctx); err != nil {
			return false, err
		}
		list, err := o.Door().People().Sessions(ctx, o.member.UserID, time.Time{}, time.Time{})
		if len(list) != 1 {
			return true, err
		}
		return false, missingHere
	},
	"People.EndSessions": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.People().EndSessions(ctx, o.member.UserID)
	},
}

func (o *outsider) fillSessions(t *testing.T) {
	t.Helper()
	o.session = connectors.Session{ID: store.NewSessionID(), UserAgent: "theirs", Began: time.Now(), Seen: time.Now(), SSO: &o.World.Tenant}
	if err := o.St.System().Sessions().BeginSession(t.Context(), o.member.UserID, o.session); err != nil {
		t.Fatal(err)
	}
	if list, err := o.Door().People().Sessions(t.Context(), o.member.UserID, time.Time{}, time.Time{}); err != nil || len(list) != 1 {
		t.Fatalf("the victim sees %d sessions (%v)", len(list), err)
	}
}
