package store_test

import (
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// wantNoDeliveryOf checks that the webhook got something, and not these words.
func (w told) wantNoDeliveryOf(t *testing.T, words string) {
	t.Helper()
	deliveries := w.deliveries(t, w.hook)
	if len(deliveries) == 0 {
		t.Error("no delivery")
	}
	for _, d := range deliveries {
		if strings.Contains(string(d.Body), words) {
			t.Errorf("the webhook is told: %s", d.Body)
		}
	}
}

func TestNotice_OfAnEndedAccountHasTheServersWords(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	c, vault := withClient(t, w.World), w.St.Vault(w.Tenant)
	if err := w.Door().Accounts().SaveGrant(t.Context(), newGrant(c)); err != nil {
		t.Fatal(err)
	}
	g, err := vault.Grant(t.Context(), c.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := &connectors.Upstream{Said: "revoked by ada", Status: 401}
	if _, err := vault.RefuseGrant(t.Context(), g.ID, g.Version, store.GrantMeta{}, "The server refuses it.", said); err != nil {
		t.Fatal(err)
	}
	all := w.notices(t, nil)
	if len(all) != 1 || all[0].Upstream == nil || *all[0].Upstream != (connectors.Upstream{Said: "revoked by ada", Status: 401}) {
		t.Errorf("%+v", all)
	}
	ended, err := vault.Grant(t.Context(), c.ID, nil)
	if err != nil || ended.Upstream == nil || ended.Upstream.Said != "revoked by ada" {
		t.Errorf("%+v, %v", ended.Credential, err)
	}
	w.wantNoDeliveryOf(t, "revoked by ada")

	repeated := connectors.NeedsAuthNotice(connectors.ConnectorName{ID: c.ID, Slug: c.Slug, Name: c.Name}, connectors.NoticeAccount{}, "Again.", &connectors.Upstream{Said: "other words"})
	w.tell(t, repeated)
	if all := w.notices(t, nil); len(all) != 1 || all[0].Times != 2 || all[0].Upstream == nil || all[0].Upstream.Said != "other words" {
		t.Errorf("repeated: %+v", all)
	}
}

func TestNoticeConditions_HaveTheWordsOfTheLastRun(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	dead, refused, quiet := w.named(t, "Dead"), w.named(t, "Refused"), w.named(t, "Quiet")
	for _, c := range []connectors.Connector{dead, refused, quiet} {
		w.setClock(t, c, "timeout", `failures = 3, failing_since = now() - interval '15 minutes', checked_at = now()`)
		for i, words := range []string{"older words", "words of " + c.Name} {
			if c.Name == "Quiet" && i == 1 {
				words = ""
			}
			w.AsSystem(t, `insert into sync_runs (tenant_id, id, connector_id, trigger, state, started_at, finished_at, error_code, error_message, upstream)
				values ($1, ('00000000-0000-7000-8000-' || lpad($4::text, 12, '0'))::uuid, $2, 'schedule', 'error', now(), now(), 'timeout', 'It does not answer.',
				        case when $3::text <> '' then jsonb_build_object('said', $3::text, 'status', 503) end)`, []any{w.Tenant, c.ID, words, strconv.Itoa(len(c.Name)*10 + i)})
		}
	}
	w.setClock(t, refused, "unauthorized", `failures = 3`)
	w.wantNotices(t, "Dead is down", "Quiet is down", "Refused needs authorization")
	for _, n := range w.notices(t, nil) {
		name, _, _ := strings.Cut(n.Title, " ")
		switch u := n.Upstream; {
		case name == "Quiet" && u != nil, name != "Quiet" && (u == nil || *u != connectors.Upstream{Said: "words of " + name, Status: 503}):
			t.Errorf("%s: %+v", n.Title, u)
		}
	}
	w.wantNoDeliveryOf(t, "words")
}
