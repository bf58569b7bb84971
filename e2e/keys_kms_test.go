//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/kms/kmstest"
)

const kmsARN = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

// with is the same installation with more, or other, environment.
func (h *home) with(env ...string) *home {
	its := *h
	its.env = append(slices.Clone(h.env), env...)
	return &its
}

// reaching is the environment in which both services are asked.
func reaching(t *testing.T, amazon, vault *kmstest.Service) []string {
	t.Helper()
	return []string{
		"AWS_ENDPOINT_URL_KMS=" + amazon.URL, "AWS_ACCESS_KEY_ID=" + kmstest.AccessKey, "AWS_SECRET_ACCESS_KEY=" + kmstest.SecretKey, "AWS_EC2_METADATA_DISABLED=true",
		"VAULT_TOKEN=" + kmstest.Token, "VAULT_CACERT=" + vault.CertificateFile(t),
	}
}

func TestAKMSHoldsTheKeyOfAnInstallation(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	amazon, vault := kmstest.AWS(t), kmstest.Vault(t, "transit", "patchbay")
	in := h.with(append(reaching(t, amazon, vault), "PATCHBAY_KEYSET="+vault.Address("transit", "patchbay"))...)
	upstream := h.devMCP()
	s := in.serve()
	if vault.Asked("encrypt") != 1 || vault.Asked("decrypt") != 0 {
		t.Errorf("the first start asks it %d times to encrypt and %d to decrypt", vault.Asked("encrypt"), vault.Asked("decrypt"))
	}
	c := client{t: t, base: s.base, key: in.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	withCredential(c, upstream, "one")
	agent := c.hire("helper", "one")
	if found := in.run("doctor"); !strings.Contains(found, "OK       keyset         opens the database, via "+vault.Address("transit", "patchbay")) {
		t.Errorf("the doctor says:\n%s", found)
	}

	vault.Refuse(true)
	if err := agent.once("mcp_one__list_labels"); err != nil {
		t.Errorf("a server that runs, while the KMS is away: %v", err)
	}
	const sentence = "refused with status 503: Vault is sealed."
	if o := in.try("serve"); o.code != 1 || !strings.Contains(o.stderr, "patchbay: The KMS at 127.0.0.1:") || !strings.Contains(o.stderr, sentence) {
		t.Errorf("a start while the KMS is away: %+v", o)
	}
	if o := in.try("doctor"); o.code != 1 || !strings.Contains(o.stdout, "PROBLEM  keyset         The KMS at 127.0.0.1:") || !strings.Contains(o.stdout, sentence) {
		t.Errorf("the doctor, while the KMS is away: %+v", o)
	}
	if o := in.with("VAULT_TOKEN=").try("doctor"); o.code != 1 || !strings.Contains(o.stdout, "VAULT_TOKEN is not set.") {
		t.Errorf("the doctor without a token: %+v", o)
	}
	if o := h.try("serve"); o.code != 1 || !strings.Contains(o.stderr, "PATCHBAY_KEYSET can't decrypt this database's keys.") {
		t.Errorf("without the KMS, by a key of its own: %+v", o)
	}
	vault.Refuse(false)

	if code := s.terminate(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	asked := vault.Asked("decrypt")
	again := in.serve()
	if vault.Asked("decrypt") != asked+1 {
		t.Errorf("a start asks it %d times", vault.Asked("decrypt")-asked)
	}
	agent.base = again.base
	if err := agent.once("mcp_one__list_labels"); err != nil {
		t.Error(err)
	}
	for _, process := range []*process{s.process, again.process} {
		wantNothingSecret(t, process.stdout.text()+process.stderr.text())
	}
	if _, err := database.Exec(t.Context(), "delete from kms_keys"); err != nil {
		t.Fatal(err)
	}
	if o := in.try("doctor"); o.code != 1 || !strings.Contains(o.stdout, "does not hold the key of this database") {
		t.Errorf("a KMS that holds nothing for it: %+v", o)
	}
}

func wantNothingSecret(t *testing.T, said string) {
	t.Helper()
	for _, secret := range []string{kmstest.Token, kmstest.SecretKey} {
		if strings.Contains(said, secret) {
			t.Errorf("%s is told in:\n%s", secret, said)
		}
	}
}

// move is one way that an installation's keys are moved.
type move struct{ name, to string }

func TestKMS_MoveInAndOutUnderLoad(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	amazon, vault := kmstest.AWS(t, kmsARN), kmstest.Vault(t, "transit", "patchbay")
	h.env = append(h.env, reaching(t, amazon, vault)...)
	file := filepath.Join(h.dir, "new-keyset")
	if err := os.WriteFile(file, []byte(h.run("keys", "new")), 0o600); err != nil {
		t.Fatal(err)
	}
	upstream := h.devMCP()
	servers := []*server{h.serve(), h.serve()}
	c := client{t: t, base: servers[0].base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	withCredential(c, upstream, "one")
	a := c.hire("helper", "one")

	moves := []move{{"into AWS KMS", "aws-kms://" + kmsARN}, {"from it into Vault", vault.Address("transit", "patchbay")}, {"out into a file", "file:" + file}}
	for _, m := range moves {
		next := h.with("PATCHBAY_KEYSET=" + m.to)
		if o := next.try("doctor"); o.code != 1 {
			t.Errorf("%s: the new setting opens the database before the move: %+v", m.name, o)
		}
		said := h.run("keys", "rewrap", "--to", m.to)
		if !strings.Contains(said, "Both open the database now.") || !strings.Contains(said, "0 of 2 run with it).") {
			t.Errorf("%s: it begins with:\n%s", m.name, said)
		}
		if o := h.try("keys", "rotate"); o.code != 1 || !strings.Contains(o.stderr, "is moving to another PATCHBAY_KEYSET") {
			t.Errorf("%s: a rotation in the midst: %+v", m.name, o)
		}
		for i := range servers { // one after the other, while the other one is called
			a.base = servers[1-i].base
			stop := a.calling("mcp_one__list_labels")
			if code := servers[i].terminate(); code != 0 {
				t.Errorf("%s: server %d ended with %d", m.name, i, code)
			}
			wantNothingSecret(t, servers[i].stdout.text()+servers[i].stderr.text())
			servers[i] = next.serve()
			if times := stop(); times == 0 {
				t.Errorf("%s: nothing was called while server %d was restarted", m.name, i)
			}
			if i == 0 {
				if o := h.try("keys", "rewrap", "--to", m.to); o.code != 1 || !strings.Contains(o.stderr, "1 of 2 servers run with another PATCHBAY_KEYSET.") {
					t.Errorf("%s: before all servers have it: %+v", m.name, o)
				}
			}
		}
		if found := next.run("doctor"); !strings.Contains(found, "NOTE     keyset         the installation is moving") {
			t.Errorf("%s: the doctor says:\n%s", m.name, found)
		}
		eventuallyMoved(t, next, m)
		if o := h.try("serve"); o.code != 1 || o.stdout != "" {
			t.Errorf("%s: the setting of before still opens it: %+v", m.name, o)
		}
		h = next
		wantHeld(t, database, m)
	}
	c.base = servers[0].base
	a.base = c.base
	if err := a.once("mcp_one__list_labels"); err != nil {
		t.Error(err)
	}
	if said := h.run("keys", "rotate"); !strings.Contains(said, "Retired the old key") {
		t.Errorf("a rotation afterwards says:\n%s", said)
	}
	if err := a.once("mcp_one__list_labels"); err != nil {
		t.Error(err)
	}
}

// eventuallyMoved ends a move: a server tells which key it has with its first heartbeat.
func eventuallyMoved(t *testing.T, h *home, m move) {
	t.Helper()
	said := h.run("keys", "rewrap", "--to", m.to)
	if !strings.Contains(said, "Done: only PATCHBAY_KEYSET="+m.to+" opens the database now.") {
		t.Errorf("%s: it ends with:\n%s", m.name, said)
	}
}

// wantHeld checks that the database has what the KMS of now holds, and nothing of those before.
func wantHeld(t *testing.T, database *pgx.Conn, m move) {
	t.Helper()
	rows, err := database.Query(t.Context(), "select uri from kms_keys")
	if err != nil {
		t.Fatal(err)
	}
	held, err := pgx.CollectRows(rows, pgx.RowTo[string])
	want := []string{m.to}
	if strings.HasPrefix(m.to, "file:") {
		want = nil
	}
	if err != nil || !slices.Equal(held, want) {
		t.Errorf("%s: %v hold a key (%v)", m.name, held, err)
	}
}

func TestAMoveOfTheKeysIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	h, _ := ownDatabase(t)
	amazon, vault := kmstest.AWS(t, kmsARN), kmstest.Vault(t, "transit", "patchbay")
	h.env = append(h.env, reaching(t, amazon, vault)...)
	h.run("migrate")
	const key = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA="
	for to, want := range map[string]string{
		key:                                                  "not the key itself",
		"file:" + h.dir + "/nowhere":                         "--to must name a file",
		"aws-kms://alias/patchbay":                           "Name an AWS KMS key by its ARN",
		"hcvault://vault.example/patchbay":                   "hcvault://HOST:PORT/transit/keys/NAME",
		"aws-kms://" + kmsARN + "-other":                     "NotFoundException",
		vault.Address("transit", "another"):                  "encryption key not found",
		strings.Replace(vault.Address("x", "y"), "x", "", 1): "hcvault://HOST:PORT/transit/keys/NAME",
	} {
		o := h.try("keys", "rewrap", "--to", to)
		if o.code != 1 || !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, key) {
			t.Errorf("--to %s: %+v", to, o)
		}
	}
	s := h.serve()
	if res, err := localClient.Get(s.base + "/healthz"); err != nil || res.Body.Close() != nil {
		t.Errorf("the server does not serve: %v", err)
	}
}
