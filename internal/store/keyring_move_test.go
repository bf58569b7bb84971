package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// mover moves the keys of a world with a live process that has its key.
type mover struct {
	*fixture.World
	t *testing.T
}

func newMover(t *testing.T) mover {
	t.Helper()
	m := mover{fixture.New(t), t}
	m.beat(m.St, m.Instance)
	return m
}

func (m mover) beat(st *store.Store, id connectors.InstanceID) {
	m.t.Helper()
	if err := st.System().Syncs().Heartbeat(m.t.Context(), id); err != nil {
		m.t.Fatal(err)
	}
}

// restart is the process of the world with another key.
func (m mover) restart(kek secret.KEK) *store.Store {
	m.t.Helper()
	st, err := store.Open(m.t.Context(), m.Pool, kek)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(st.Close)
	if err := m.St.System().Syncs().EndInstance(m.t.Context(), m.Instance); err != nil {
		m.t.Fatal(err)
	}
	m.beat(st, m.Instance)
	return st
}

func (m mover) move(to secret.KEK, uri string) store.KeysMove {
	m.t.Helper()
	have, err := m.St.MoveKeys(m.t.Context(), to, uri)
	if err != nil {
		m.t.Fatal(err)
	}
	return have
}

func (m mover) want(have, want store.KeysMove) {
	m.t.Helper()
	if diff := cmp.Diff(want, have); diff != "" {
		m.t.Error(diff)
	}
}

// opens reports whether a process could start with a key.
func (m mover) opens(kek secret.KEK) bool {
	m.t.Helper()
	err := store.CheckKey(m.t.Context(), m.Pool, kek)
	st, opened := store.Open(m.t.Context(), m.Pool, kek)
	if opened == nil {
		st.Close()
	}
	if (err == nil) != (opened == nil) || err != nil && !fault.Is(err, fault.Unavailable) {
		m.t.Errorf("checked: %v, opened: %v", err, opened)
	}
	return err == nil
}

func TestMoveKeys_BothKEKsOpenDuringMove(t *testing.T) {
	t.Parallel()
	m, next := newMover(t), newKEK(t)
	if m.opens(next) {
		t.Error("any key opens it")
	}
	m.want(m.move(next, ""), store.KeysMove{Begun: true, All: 1})
	m.want(m.move(next, ""), store.KeysMove{All: 1})
	if !m.opens(m.KEK) || !m.opens(next) {
		t.Error("in the midst of the move one of the keys opens nothing")
	}
	moved := m.restart(next)
	if !moved.KeysMoving() {
		t.Error("nobody is told of the move")
	}
	m.want(m.move(next, ""), store.KeysMove{Done: true, Ready: 1, All: 1})
	if m.opens(m.KEK) || !m.opens(next) {
		t.Error("after the move the old key opens it, or the new one does not")
	}
	m.beat(moved, m.Instance) // reads the keys again
	if moved.KeysMoving() {
		t.Error("the move has no end")
	}
	again, err := moved.MoveKeys(t.Context(), next, "")
	if err != nil || !again.Done {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if err := m.St.System().Syncs().Heartbeat(t.Context(), fixture.NewInstance()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a process that has the old key all the same hears: %v", err)
	}
}

func TestAMoveIsTakenBack(t *testing.T) {
	t.Parallel()
	m, next := newMover(t), newKEK(t)
	m.move(next, "")
	moved := m.restart(next)
	back, err := moved.MoveKeys(t.Context(), m.KEK, "")
	if err != nil {
		t.Fatal(err)
	}
	m.want(back, store.KeysMove{All: 1}) // that process has the next one
	m.restart(m.KEK)
	m.want(m.move(m.KEK, ""), store.KeysMove{Done: true, Ready: 1, All: 1})
	if !m.opens(m.KEK) || m.opens(next) {
		t.Error("taken back, and the old key does not open it, or the new one does")
	}
}

func TestKeysMoveToOnePlaceAtATime(t *testing.T) {
	t.Parallel()
	m, next, third := newMover(t), newKEK(t), newKEK(t)
	m.move(next, "")
	if _, err := m.St.MoveKeys(t.Context(), third, ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("elsewhere at the same time: %v", err)
	}
	if err := m.St.RotateSealingKeys(t.Context(), store.RotationOptions{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("rotated meanwhile: %v", err)
	}
	// As a program does that knows nothing of moves.
	if err := asSystem(t.Context(), m.Pool, "update keysets set wrapped = wrapped || '\\x00'::bytea", nil); err == nil {
		t.Error("one of the two copies can be changed alone")
	}
	if !m.opens(m.KEK) || !m.opens(next) {
		t.Error("one of the keys opens nothing any more")
	}
}

func TestMoveKeys_CombinesWithRotation(t *testing.T) {
	t.Parallel()
	m, next := newMover(t), newKEK(t)
	c := m.Connector(t)
	sealed := func(st *store.Store, token secret.Text) {
		t.Helper()
		credential := store.NewCredential{ConnectorID: c.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: token}
		if err := st.Tenant(m.Tenant).Connectors().SetCredential(t.Context(), credential); err != nil {
			t.Fatal(err)
		}
	}
	sealed(m.St, "before")
	if err := m.St.System().Syncs().EndInstance(t.Context(), m.Instance); err != nil { // no process to wait for
		t.Fatal(err)
	}
	if err := m.St.RotateSealingKeys(t.Context(), store.RotationOptions{}); err != nil {
		t.Fatal(err)
	}
	m.want(m.move(next, "hcvault://vault.example/transit/keys/patchbay"), store.KeysMove{Begun: true, Done: true})
	st, err := store.Open(t.Context(), m.Pool, next)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.RotateSealingKeys(t.Context(), store.RotationOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, got, err := st.Vault(m.Tenant).Secret(t.Context(), c.ID, nil); err != nil || got != "before" {
		t.Errorf("have %q, %v", got.Reveal(), err)
	}
}

func TestWhatAKMSHoldsIsKeptWhileItIsOfUse(t *testing.T) {
	t.Parallel()
	const here, there = "hcvault://vault.example/transit/keys/here", "aws-kms://arn:aws:kms:eu-central-1:111122223333:key/there"
	m, inner, outer := newMover(t), newKEK(t), newKEK(t)
	held := func(uri string) string {
		t.Helper()
		wrapped, fresh, err := store.KMSKey(t.Context(), m.Pool, uri)
		if err != nil || fresh {
			t.Fatalf("%v, of a database without keys: %v", err, fresh)
		}
		return string(wrapped)
	}
	for _, first := range []string{"wrapped", "wrapped by a slower process"} {
		if stored, err := store.AddKMSKey(t.Context(), m.Pool, here, []byte(first)); err != nil || string(stored) != "wrapped" {
			t.Fatalf("stored %q, %v", stored, err)
		}
	}
	if _, err := store.AddKMSKey(t.Context(), m.Pool, there, []byte("elsewhere")); err != nil {
		t.Fatal(err)
	}
	m.move(inner, here)
	if held(here) != "wrapped" || held(there) != "elsewhere" {
		t.Error("a key is dropped before the move is done")
	}
	m.restart(inner)
	m.move(inner, here)
	if held(here) != "wrapped" || held(there) != "" {
		t.Errorf("after the move they hold %q and %q", held(here), held(there))
	}
	st := m.restart(inner)
	if _, err := st.MoveKeys(t.Context(), outer, ""); err != nil {
		t.Fatal(err)
	}
	m.restart(outer)
	if have, err := st.MoveKeys(t.Context(), outer, ""); err != nil || !have.Done || held(here) != "" {
		t.Errorf("out of the KMS: %+v, %v; it holds %q", have, err, held(here))
	}
}
