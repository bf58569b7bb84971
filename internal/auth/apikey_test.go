package auth_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

func (w world) key(t *testing.T, req auth.KeyRequest) (connectors.APIKey, secret.Text) {
	t.Helper()
	key, text, err := w.auth.IssueKey(t.Context(), w.owner(t), req)
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

func TestKeyOpensItsTenantWithItsRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, text := w.key(t, auth.KeyRequest{Name: " nightly ", Role: connectors.RoleMember})
	a, err := w.auth.FromBearer(t.Context(), "bearer "+text.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != auth.KindKey || a.Tenant.ID != w.Tenant || a.Role != connectors.RoleMember || *a.KeyID != key.ID || a.Name != "nightly" {
		t.Errorf("actor %+v", a)
	}
	if !strings.HasPrefix(text.Reveal(), key.Prefix+"_") || strings.Count(key.Prefix, "_") != 2 {
		t.Errorf("prefix %q does not stop before the secret", key.Prefix)
	}
}

func TestBearerThatIsNoWholeKeyAsksNoDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, text := w.key(t, auth.KeyRequest{Name: "k", Role: connectors.RoleMember})
	whole := text.Reveal()
	typo := []byte(whole)
	typo[len(typo)-20] ^= 1
	before := w.Queries()
	for _, header := range []string{
		"", "Bearer", "Bearer ", "Basic " + whole, "Bearer pb_key_", "Bearer pb_agent_" + whole[7:], "Bearer " + whole[:len(whole)-1],
		"Bearer " + whole + "x", "Bearer " + string(typo), "Bearer " + strings.ToUpper(whole), "Bearer pb_key_a_b_00000000",
	} {
		_, err := w.auth.FromBearer(t.Context(), header)
		wantKind(t, err, fault.Unauthenticated)
		if strings.Contains(err.Error(), whole[40:60]) {
			t.Errorf("the refusal repeats the secret: %v", err)
		}
	}
	if n := w.Queries() - before; n != 0 {
		t.Errorf("%d queries", n)
	}
}

func TestSecretOfAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, one := w.key(t, auth.KeyRequest{Name: "one", Role: connectors.RoleOwner})
	_, two := w.key(t, auth.KeyRequest{Name: "two", Role: connectors.RoleViewer})
	forged := strings.Split(one.Reveal(), "_")[:4]
	forged[3] = strings.Split(two.Reveal(), "_")[3]
	body := strings.Join(forged, "_")
	_, err := w.auth.FromBearer(t.Context(), fmt.Sprintf("Bearer %s_%08x", body, crc32.ChecksumIEEE([]byte(body))))
	wantKind(t, err, fault.Unauthenticated)
}

func TestRevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, text := w.key(t, auth.KeyRequest{Name: "k", Role: connectors.RoleMember})
	if err := w.auth.RevokeKey(t.Context(), w.owner(t), key.ID); err != nil {
		t.Fatal(err)
	}
	_, err := w.auth.FromBearer(t.Context(), "Bearer "+text.Reveal())
	wantKind(t, err, fault.Unauthenticated)
}

func TestExpiredKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expires := w.clock.Now().Add(time.Hour)
	_, text := w.key(t, auth.KeyRequest{Name: "k", Role: connectors.RoleMember, ExpiresAt: &expires})
	if _, err := w.auth.FromBearer(t.Context(), "Bearer "+text.Reveal()); err != nil {
		t.Errorf("before: %v", err)
	}
	w.clock.forward(time.Hour)
	_, err := w.auth.FromBearer(t.Context(), "Bearer "+text.Reveal())
	wantKind(t, err, fault.Unauthenticated)
}

func TestKeyUseIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, text := w.key(t, auth.KeyRequest{Name: "k", Role: connectors.RoleMember})
	use := func() int64 {
		before := w.Queries()
		if _, err := w.auth.FromBearer(t.Context(), "Bearer "+text.Reveal()); err != nil {
			t.Fatal(err)
		}
		return w.Queries() - before
	}
	if first, second := use(), use(); first != 2 || second != 1 {
		t.Errorf("queries: %d, then %d; want the key and its use, then the key alone", first, second)
	}
	keys, err := w.Door().People().APIKeys(t.Context(), firstPage)
	if err != nil || keys.Items[0].LastUsedAt == nil {
		t.Errorf("last use %v, %v", keys.Items[0].LastUsedAt, err)
	}
	w.clock.forward(2 * time.Minute)
	if n := use(); n != 2 {
		t.Errorf("two minutes later: %d queries", n)
	}
}

func TestIssueKeyRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	past := w.clock.Now().Add(-time.Second)
	for name, req := range map[string]auth.KeyRequest{
		"no name":       {Name: " ", Role: connectors.RoleViewer},
		"a long name":   {Name: strings.Repeat("x", 101), Role: connectors.RoleViewer},
		"an odd role":   {Name: "k", Role: "root"},
		"a past expiry": {Name: "k", Role: connectors.RoleViewer, ExpiresAt: &past},
	} {
		if _, _, err := w.auth.IssueKey(t.Context(), w.owner(t), req); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	admin := w.owner(t)
	admin.Role = connectors.RoleAdmin
	_, _, err := w.auth.IssueKey(t.Context(), admin, auth.KeyRequest{Name: "k", Role: connectors.RoleViewer})
	wantKind(t, err, fault.Denied)
}
