package main

import (
	"bytes"
	"strings"
	"testing"

	"patchbay/internal/operator"
)

// An owner of another tenant may have chosen the account's password.
func TestUserCreate_RefusesAnAccountUnlessExisting(t *testing.T) {
	t.Parallel()
	i := installed(t)
	i.must(t, "tenant", "create", "Beta")
	i.must(t, "user", "create", "--tenant", "beta", "--email", "cfo@example.com", "--role", "viewer")

	add := []string{"user", "create", "--tenant", "default", "--email", "CFO@example.com", "--role", "owner", "--database-url", i.url, "--keyset", i.keyset, "--data-dir", i.dir}
	try := func(args ...string) (int, string) {
		var out, failed bytes.Buffer
		code := run(t.Context(), args, operator.IO{Stdout: &out, Stderr: &failed, Environ: []string{"PATCHBAY_PASSWORD=another password"}})
		return code, out.String() + failed.String()
	}
	code, said := try(add...)
	if code != 1 || !strings.Contains(said, "cfo@example.com has an account since ") || !strings.Contains(said, "as a member of beta") || !strings.Contains(said, "--existing") {
		t.Errorf("another password: %d %s", code, said)
	}
	if n := i.texts(t, "select count(*)::text from memberships"); n[0] != "1" {
		t.Errorf("%s memberships, want the one of before", n[0])
	}
	if code, said := try(append(add, "--existing")...); code != 0 || said != "cfo@example.com is owner of default.\n" {
		t.Errorf("with --existing: %d %s", code, said)
	}
	if code, said := try(append(add, "--existing", "--email", "nobody@example.com")...); code != 1 || !strings.Contains(said, "has no account") {
		t.Errorf("an unknown address with --existing: %d %s", code, said)
	}
	i.must(t, "tenant", "create", "Gamma")
	i.must(t, "user", "create", "--tenant", "gamma", "--email", "cfo@example.com", "--role", "viewer") // the account's password
}
