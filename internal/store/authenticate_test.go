package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// apiKey makes an API key as a process does that has a keyring.
func (y treasury) apiKey(t *testing.T, by *secret.Keyring) (secret.Bearer, error) {
	t.Helper()
	b := secret.NewBearer(secret.KeyBearer, uuid.Must(uuid.NewV7()))
	mac, err := by.SignBearer(b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = y.Door().People().CreateAPIKey(t.Context(), store.NewAPIKey{ID: connectors.APIKeyID{UUID: b.ID}, Name: "A", Role: connectors.RoleViewer, Prefix: b.Prefix(), SecretMAC: mac})
	return b, err
}

// recognised reads a key as a request with it does.
func (y treasury) recognised(t *testing.T, st *store.Store, b secret.Bearer) error {
	t.Helper()
	stored, err := st.System().People().APIKey(t.Context(), connectors.APIKeyID{UUID: b.ID})
	if err != nil {
		t.Fatal(err)
	}
	return st.VerifyBearer(t.Context(), b, stored.SecretMAC)
}

func (y treasury) rotateTelling(t *testing.T) (kept [2]int) {
	t.Helper()
	err := y.St.RotateSealingKeys(t.Context(), y.alone(t, func(p store.RotationProgress) {
		if p.Step == store.BearersKept {
			kept = [2]int{p.Done, p.Total}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := y.St.System().Syncs().Heartbeat(t.Context(), y.Instance); err != nil { // reads what the rotation has left
		t.Fatal(err)
	}
	return kept
}

func TestVerifyBearer_UsesKeyOfCreation(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 0)
	sleeper := y.open(t)
	first := y.Keyring.MACPrimary()
	old, err := y.apiKey(t, y.Keyring)
	if err != nil {
		t.Fatal(err)
	}
	y.Token(t, y.agent.ID)
	if kept := y.rotateTelling(t); kept != [2]int{1, 1} {
		t.Errorf("told of %v API keys and tokens from before", kept)
	}
	now := y.St.Keyring()
	if now.MACPrimary() == first || now.Version() != 2 || len(now.MACKeys()) != 2 {
		t.Errorf("version %d of %v, made by %v", now.Version(), now.MACKeys(), now.MACPrimary())
	}
	made, err := y.apiKey(t, now)
	if err != nil {
		t.Fatal(err)
	}
	strange := secret.NewBearer(secret.KeyBearer, old.ID) // another text for the same row
	for name, st := range map[string]*store.Store{"who rotated": y.St, "who slept": sleeper, "who starts": y.open(t)} {
		if err := y.recognised(t, st, old); err != nil {
			t.Errorf("%s: a key from before: %v", name, err)
		}
		if err := y.recognised(t, st, made); err != nil {
			t.Errorf("%s: a key from now: %v", name, err)
		}
		if y.recognised(t, st, strange) == nil {
			t.Errorf("%s: any text is taken", name)
		}
	}
}

func TestAKeyThatRecognisesNobodyIsRetired(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 0)
	first := y.Keyring
	old, err := y.apiKey(t, first)
	if err != nil {
		t.Fatal(err)
	}
	y.rotateTelling(t)
	second := y.St.Keyring()
	over, err := y.apiKey(t, second)
	if err != nil {
		t.Fatal(err)
	}
	if kept := y.rotateTelling(t); kept != [2]int{2, 0} || len(y.St.Keyring().MACKeys()) != 3 {
		t.Errorf("told of %v, and the keys are %v", kept, y.St.Keyring().MACKeys())
	}
	if err := y.Door().People().RevokeAPIKey(t.Context(), connectors.APIKeyID{UUID: over.ID}); err != nil {
		t.Fatal(err)
	}
	third := y.St.Keyring().MACPrimary()
	if kept := y.rotateTelling(t); kept != [2]int{1, 0} {
		t.Errorf("told of %v", kept)
	}
	now := y.St.Keyring()
	if diff := cmp.Diff([]secret.KeyID{first.MACPrimary(), now.MACPrimary()}, now.MACKeys()); diff != "" || now.Version() != 4 || now.MACPrimary() == third {
		t.Errorf("version %d: %s", now.Version(), diff)
	}
	if _, err := y.apiKey(t, second); !fault.Is(err, fault.Unavailable) { // of a process that slept through all of it
		t.Errorf("an API key that nobody would recognise is stored: %v", err)
	}
	if err := y.recognised(t, y.open(t), old); err != nil {
		t.Errorf("a key from before all of that: %v", err)
	}
}

func TestState_FingerprintsSurviveRotation(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 0)
	of := store.OfCredential(y.plain.ID, nil)
	mark := func(door *store.Tenant) any {
		t.Helper()
		state, err := door.State(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return state["secret"]
	}
	var was, is any
	err := y.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		was = mark(tx)
		y.rotateTelling(t)
		is = mark(tx)
		return nil
	})
	if err != nil || was != is {
		t.Errorf("it was %v and is %v (%v)", was, is, err)
	}
	after, _ := mark(y.Door()).(string)
	if before, _ := was.(string); len(before) != len("hmac:")+32 || len(after) != len("hmac-2:")+32 || after[:7] != "hmac-2:" {
		t.Errorf("versions are told apart by %q and %q", before, after)
	}
}

func TestAuditSigner_SurvivesRotation(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 0)
	public := func() string {
		t.Helper()
		signer, err := y.Door().Audit().Signer()
		if err != nil {
			t.Fatal(err)
		}
		return signer.PublicKey()
	}
	before := public()
	y.rotateTelling(t)
	y.rotateTelling(t)
	if after := public(); after != before || y.St.Keyring().Version() != 3 {
		t.Errorf("%s became %s, at version %d", before, after, y.St.Keyring().Version())
	}
}
