package connect_test

import (
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
)

// dump is every row of every table as text.
func (b *bundle) dump(t testing.TB) string {
	t.Helper()
	conn := b.owner(t)
	rows, err := conn.Query(t.Context(), `select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`)
	must(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	if len(tables) < 70 {
		t.Fatalf("%d tables are found: %q", len(tables), tables)
	}
	var all strings.Builder
	for _, table := range tables {
		rows, err := conn.Query(t.Context(), "select t::text || ' ' || to_jsonb(t)::text from "+pgx.Identifier{table}.Sanitize()+" t")
		must(t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		must(t, err)
		all.WriteString(table + "\n" + strings.Join(texts, "\n") + "\n")
	}
	return all.String()
}

// wantSealed checks that none of these stands in a text, plainly or as bytea is shown.
func wantSealed(t testing.TB, where, text string, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		if s == "" {
			t.Error("an empty secret: this test looks for nothing")
			continue
		}
		for _, form := range []string{s, hex.EncodeToString([]byte(s)), url.QueryEscape(s)} {
			if strings.Contains(text, form) {
				t.Errorf("%s holds %.6s…", where, s)
			}
		}
	}
}

func TestSecrets_NotInDatabaseOrLog(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{Scopes: []string{"offline_access"}}, oauthtest.ResourceBehaviour{Scope: "read"})
	shared, own, agent := b.protected(t), b.protected(t, perAgent), b.Agent(t)
	b.as.AddClient("by hand", "entered-client-secret", nil, baseURL+"/oauth/callback")
	configured := b.protected(t, func(d *connectors.Draft) { d.OAuth.ClientID = "by hand" })
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), configured, "entered-client-secret"))

	link := b.link(t, own, agentRef(agent), "")
	pending := []connect.Authorization{b.start(t, shared, nil), b.start(t, configured, nil)}
	before := b.dump(t) // with links and flows in it
	accepted, err := b.broker.AcceptLink(t.Context(), link, cookie)
	must(t, err)
	secrets := []string{link.Reveal(), session.Reveal(), cookie.Reveal(), "entered-client-secret"}
	for _, s := range append(pending, accepted) {
		back := b.agree(t, s)
		secrets = append(secrets, back.Get("state"), back.Get("code"))
		done, err := b.broker.Finish(t.Context(), back, connect.BrowserBindings{Session: session, Cookie: cookie, Person: &b.admin})
		if err != nil || done.Run == nil {
			t.Fatalf("finished = %+v, %v", done, err)
		}
	}
	for _, sent := range b.as.Requests(oauthtest.Exchange) {
		secrets = append(secrets, sent.Form.Get("code_verifier"))
	}
	secrets = append(secrets, b.as.Issued()...)
	after := b.dump(t) // with grants, runs, jobs and events
	must(t, b.broker.Disconnect(t.Context(), b.admin, ref(shared.ID), nil))

	if len(secrets) < 20 || !strings.Contains(before, "oauth_flows") || !strings.Contains(after, "credential.connect") || !strings.Contains(after, b.as.Issuer) {
		t.Fatal("this test looks at nothing")
	}
	wantSealed(t, "the database with pending flows", before, secrets)
	wantSealed(t, "the database", after, secrets)
	wantSealed(t, "the database after a farewell", b.dump(t), secrets)
	log := b.logs.String()
	if !strings.Contains(log, "account connected") {
		t.Error("nothing was logged")
	}
	wantSealed(t, "the log", log, secrets)
}
