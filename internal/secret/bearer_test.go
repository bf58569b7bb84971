package secret_test

import (
	"strings"
	"testing"

	"patchbay/internal/secret"
)

func TestABearerIsTakenApartAsItWasMade(t *testing.T) {
	t.Parallel()
	k, err := secret.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []secret.BearerKind{secret.KeyBearer, secret.AgentBearer} {
		made := secret.NewBearer(kind, [16]byte{1, 2, 3})
		mac, err := k.SignBearer(made)
		if err != nil {
			t.Fatal(err)
		}
		text := made.Text()
		read, ok := secret.ParseBearer(kind, text)
		if !ok || read.ID != made.ID || k.VerifyBearer(read, mac) != nil || !secret.IsBearer(kind, text) {
			t.Errorf("%s is not read again", kind)
		}
		if !strings.HasPrefix(text.Reveal(), read.Prefix()+"_") || strings.Count(text.Reveal(), "_") != 4 {
			t.Errorf("%s has another form", kind)
		}
	}
}

func TestABearerOfOneKindIsNoneOfAnother(t *testing.T) {
	t.Parallel()
	k, err := secret.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	key := secret.NewBearer(secret.KeyBearer, [16]byte{1})
	mac, err := k.SignBearer(key)
	if err != nil {
		t.Fatal(err)
	}
	agent := key
	agent.Kind = secret.AgentBearer
	if k.VerifyBearer(agent, mac) == nil {
		t.Error("the same secret verifies as an agent's")
	}
	if _, ok := secret.ParseBearer(secret.AgentBearer, key.Text()); ok {
		t.Error("a key is read as a token")
	}
}

// FuzzParseBearer checks that an accepted token has the prefix of its kind.
func FuzzParseBearer(f *testing.F) {
	f.Add(secret.NewBearer(secret.AgentBearer, [16]byte{1}).Text().Reveal())
	f.Add("pb_agent___")
	f.Fuzz(func(t *testing.T, text string) {
		b, ok := secret.ParseBearer(secret.AgentBearer, secret.Text(text))
		if ok && !strings.HasPrefix(text, b.Prefix()+"_") {
			t.Errorf("%q is taken for one of %q", text, b.Prefix())
		}
	})
}
