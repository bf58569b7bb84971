package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// told is a world with a webhook that wants everything.
type told struct {
	*fixture.World
	hook connectors.Webhook
}

func newTold(t *testing.T) told {
	t.Helper()
	w := told{World: fixture.New(t)}
	w.hook = w.addWebhook(t)
	return w
}

func (w told) addWebhook(t *testing.T, kinds ...connectors.NoticeKind) connectors.Webhook {
	t.Helper()
	hook, err := w.Door().Webhooks().Create(t.Context(), connectors.Webhook{Name: "Hook", URL: "https://hooks.example.com/", Kinds: kinds}, store.WebhookSecrets{Now: "whsec_x"})
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

func (w told) tell(t *testing.T, n store.NewNotice) {
	t.Helper()
	if err := w.Door().People().AddNotice(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

func (w told) notices(t *testing.T, person *connectors.UserID) []connectors.Notice {
	t.Helper()
	list, err := w.Door().People().Notices(t.Context(), person, store.Page{Limit: store.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (w told) deliveries(t *testing.T, hook connectors.Webhook) []connectors.Delivery {
	t.Helper()
	list, err := w.Door().Webhooks().Deliveries(t.Context(), hook.ID, store.Page{Limit: store.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// jobs counts the jobs of a delivery.
func (w told) jobs(t *testing.T, id connectors.DeliveryID) (n int) {
	t.Helper()
	err := w.Pool.QueryRow(t.Context(), `select count(*) from river_job where kind = 'deliver_webhook' and args ->> 'delivery_id' = $1`, id.String()).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (w told) unread(t *testing.T, m connectors.Member) (n int) {
	t.Helper()
	for _, notice := range w.notices(t, &m.UserID) {
		if !notice.Read {
			n++
		}
	}
	return n
}

func TestAddNotice_IsAtomic(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	second := errors.New("on second thoughts")
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if err := tx.People().AddNotice(t.Context(), newNotice("a")); err != nil {
			return err
		}
		return second
	})
	var jobs int
	if err := errors.Join(err, w.Pool.QueryRow(t.Context(), `select count(*) from river_job`).Scan(&jobs)); !errors.Is(err, second) {
		t.Fatal(err)
	}
	if n, d := len(w.notices(t, nil)), len(w.deliveries(t, w.hook)); n+d+jobs != 0 {
		t.Errorf("a transaction that failed left %d notices, %d deliveries, %d jobs", n, d, jobs)
	}

	w.tell(t, newNotice("a"))
	notices, deliveries := w.notices(t, nil), w.deliveries(t, w.hook)
	if len(notices) != 1 || len(deliveries) != 1 || w.jobs(t, deliveries[0].ID) != 1 {
		t.Fatalf("%d notices, %d deliveries", len(notices), len(deliveries))
	}
	d := deliveries[0]
	if d.State != connectors.DeliveryWaiting || *d.NoticeID != notices[0].ID || d.Kind != connectors.NoticeDown || d.NextAt == nil {
		t.Errorf("delivery = %+v", d)
	}
}

func TestWhatNobodyHasReadYetIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	ann := w.Member(t, connectors.RoleViewer)
	again := newNotice("a")
	again.Body = "It still does not answer."
	w.tell(t, newNotice("a"))
	w.tell(t, again)
	w.tell(t, newNotice("b"))
	w.tell(t, newNotice(""))
	w.tell(t, newNotice(""))
	all := w.notices(t, &ann.UserID)
	if len(all) != 4 || all[3].Times != 2 || all[3].Body != again.Body || w.unread(t, ann) != 4 || len(w.deliveries(t, w.hook)) != 4 {
		t.Errorf("notices %+v, %d unread, %d deliveries", all, w.unread(t, ann), len(w.deliveries(t, w.hook)))
	}
	if n, err := w.Door().People().ReadNotices(t.Context(), ann.UserID, all[3].ID); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	w.tell(t, newNotice("a"))
	if all := w.notices(t, &ann.UserID); len(all) != 5 || all[0].Times != 1 || all[0].Read {
		t.Errorf("after it was read: %+v", all)
	}
	old(t, w, "b")
	w.tell(t, newNotice("b"))
	if n := len(w.notices(t, nil)); n != 6 {
		t.Errorf("%d notices, want another one after an hour", n)
	}
}

// old makes the notices of a key older than an hour.
func old(t *testing.T, w told, key string) {
	t.Helper()
	if err := asSystem(t.Context(), w.Pool, `update notices set at = at - interval '61 minutes' where subject_key = $1`, []any{key}); err != nil {
		t.Fatal(err)
	}
}

func TestNotices_ReadStateIsPerPerson(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	ann, ben := w.Member(t, connectors.RoleViewer), w.Member(t, connectors.RoleOwner)
	w.tell(t, newNotice("a"))
	w.tell(t, newNotice("b"))
	cleo := w.Member(t, connectors.RoleAdmin)
	w.tell(t, newNotice("c"))
	if n, err := w.Door().People().ReadNotices(t.Context(), ann.UserID); n != 3 || err != nil {
		t.Errorf("ann read %d, %v", n, err)
	}
	if a, b, c := w.unread(t, ann), w.unread(t, ben), w.unread(t, cleo); a != 0 || b != 3 || c != 1 {
		t.Errorf("unread: ann %d, ben %d, cleo %d", a, b, c)
	}
	reads := []bool{}
	for _, n := range w.notices(t, &cleo.UserID) {
		reads = append(reads, n.Read)
	}
	if diff := cmp.Diff([]bool{false, true, true}, reads); diff != "" {
		t.Error(diff)
	}
	if n, err := w.Door().People().ReadNotices(t.Context(), ann.UserID, connectors.NoticeID{UUID: uuid.New()}); n != 0 || err != nil {
		t.Errorf("what is not there: %d, %v", n, err)
	}
}

func TestAWebhookIsToldOfItsKindsAlone(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	approvals := w.addWebhook(t, connectors.NoticeApproval)
	off := w.addWebhook(t)
	off.Enabled = false
	if _, err := w.Door().Webhooks().Update(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	w.tell(t, newNotice("a"))
	if all, none, nothing := len(w.deliveries(t, w.hook)), len(w.deliveries(t, approvals)), len(w.deliveries(t, off)); all != 1 || none+nothing != 0 {
		t.Errorf("%d, %d, %d deliveries", all, none, nothing)
	}
	w.hook.Enabled = false
	if _, err := w.Door().Webhooks().Update(t.Context(), w.hook); err != nil {
		t.Fatal(err)
	}
	if d := w.deliveries(t, w.hook)[0]; d.State != connectors.DeliveryCancelled || d.NextAt != nil {
		t.Errorf("what waited for a webhook that was turned off: %+v", d)
	}
}

func TestNoticesAndDeliveriesAreBounded(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	fill := `
		insert into notices (tenant_id, id, kind, title)
		select $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'connector.down', 'Old' from generate_series(1, 1050) n`
	if err := asSystem(t.Context(), w.Pool, fill, []any{w.Tenant}); err != nil {
		t.Fatal(err)
	}
	fill = `
		insert into webhook_deliveries (tenant_id, id, webhook_id, kind, body, next_at)
		select $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, 'connector.down', '{}', now() from generate_series(1, 1050) n`
	if err := asSystem(t.Context(), w.Pool, fill, []any{w.Tenant, w.hook.ID}); err != nil {
		t.Fatal(err)
	}
	w.tell(t, newNotice("newest"))
	var notices, deliveries int
	err := asSystem(t.Context(), w.Pool, `select (select count(*) from notices), (select count(*) from webhook_deliveries)`, nil, &notices, &deliveries)
	if err != nil || notices != 1000 || deliveries != 1000 {
		t.Errorf("%d notices, %d deliveries, %v", notices, deliveries, err)
	}
	if newest := w.notices(t, nil)[0]; newest.Title != "Linear is down" {
		t.Errorf("the newest is %+v", newest)
	}
}

func TestASweepForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	w.tell(t, newNotice("old"))
	w.tell(t, newNotice("young"))
	age := `with aged as (update notices set at = now() - interval '91 days' where subject_key = 'old' returning id)
		update webhook_deliveries set created_at = now() - interval '31 days' from aged where notice_id = aged.id`
	if err := asSystem(t.Context(), w.Pool, age, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.St.System().SweepNotices(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, d := len(w.notices(t, nil)), len(w.deliveries(t, w.hook)); n != 1 || d != 1 {
		t.Errorf("%d notices, %d deliveries are left", n, d)
	}
}

func TestADeliveryWhoseJobIsLostGetsAnother(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	w.tell(t, newNotice("a"))
	d := w.deliveries(t, w.hook)[0]
	requeue := func(while time.Duration) int {
		t.Helper()
		n, err := w.St.System().RequeueOverdue(t.Context(), while, 100)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := requeue(time.Minute); n != 0 {
		t.Errorf("%d are overdue at once", n)
	}
	if _, err := w.Pool.Exec(t.Context(), `update river_job set state = 'running', attempt = 1, attempted_at = now()`); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the job of a killed process keeps the sweep's from nothing, and the sweep's is the only one of its kind
		if n := requeue(0); n != 1 || w.jobs(t, d.ID) != 2 {
			t.Errorf("found %d; %d jobs with that of the killed process", n, w.jobs(t, d.ID))
		}
	}
	if _, err := w.Pool.Exec(t.Context(), `delete from river_job`); err != nil {
		t.Fatal(err)
	}
	if n := requeue(0); n != 1 || w.jobs(t, d.ID) != 1 {
		t.Errorf("found %d; %d jobs", n, w.jobs(t, d.ID))
	}
}

func TestOneCallerAtATimeTriesADelivery(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	w.tell(t, newNotice("a"))
	door, id := w.Door(), w.deliveries(t, w.hook)[0].ID
	first, claimed, err := door.Webhooks().ClaimDelivery(t.Context(), id, -time.Second) // its process died
	wantTrue(t, "the first claims", claimed, err)
	second, claimed, err := door.Webhooks().ClaimDelivery(t.Context(), id, time.Minute)
	wantTrue(t, "the second claims when that has lapsed", claimed, err)
	if third, claimed, err := door.Webhooks().ClaimDelivery(t.Context(), id, time.Minute); claimed || err != nil || third.NextAt == nil {
		t.Errorf("a third claimed it: %v, %v", claimed, err)
	}
	if ok, err := door.Webhooks().EndDelivery(t.Context(), first, store.DeliveryAttempt{State: connectors.DeliveryFailed}); ok || err != nil {
		t.Errorf("the first ends it: %v, %v", ok, err)
	}
	ok, err := door.Webhooks().EndDelivery(t.Context(), second, store.DeliveryAttempt{State: connectors.DeliveryDelivered, Status: 204, Duration: 30 * time.Millisecond})
	wantTrue(t, "the second ends it", ok, err)
	got, err := door.Webhooks().Delivery(t.Context(), id)
	if err != nil || got.State != connectors.DeliveryDelivered || got.Status != 204 || got.Tries != 2 || got.NextAt != nil || got.Duration != 30*time.Millisecond {
		t.Errorf("delivery = %+v, %v", got, err)
	}
	again, err := door.Webhooks().Redeliver(t.Context(), w.hook.ID, id)
	if err != nil || again.ID != id || again.State != connectors.DeliveryWaiting || again.Attempts != 0 || again.Tries != 2 || w.jobs(t, id) != 2 {
		t.Errorf("again: %+v, %v, %d jobs", again, err, w.jobs(t, id))
	}
}

func TestAnApprovalIsToldWhenItBeginsToWait(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	agent, c := w.Agent(t), w.Connector(t)
	for range 2 { // the second is the same call
		if _, _, err := w.Door().Calls().RequestApproval(t.Context(), newApproval(agent, c, "same call")); err != nil {
			t.Fatal(err)
		}
	}
	all := w.notices(t, nil)
	if len(all) != 1 || all[0].Kind != connectors.NoticeApproval || all[0].Title != agent.Name+" asks to call search" {
		t.Errorf("notices = %+v", all)
	}
	if text := string(all[0].Data) + string(w.deliveries(t, w.hook)[0].Body); strings.Contains(text, "arguments of") {
		t.Errorf("the arguments are told: %s", text)
	}
}

func TestAnAccountThatEndsIsToldWithItsReason(t *testing.T) {
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
	for i := range 2 {
		ok, err := vault.RefuseGrant(t.Context(), g.ID, g.Version, store.GrantMeta{}, "The server refuses it.", nil)
		if err != nil || ok != (i == 0) {
			t.Errorf("refused %v, %v", ok, err)
		}
	}
	all := w.notices(t, nil)
	if len(all) != 1 || all[0].Kind != connectors.NoticeNeedsAuth || all[0].Body != "The server refuses it." || len(w.deliveries(t, w.hook)) != 1 {
		t.Errorf("notices = %+v", all)
	}
}

func TestAnAccountThatLapsesIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	for name, ends := range map[string]time.Duration{"soon": 5 * time.Hour, "just now": -time.Hour, "late": 1000 * time.Hour, "long ago": -100 * time.Hour} {
		c := w.Connector(t, func(d *connectors.Draft) { d.Name, d.Auth.Type = name, connectors.AuthOAuth2 })
		g := newGrant(c)
		g.ExpiresAt, g.Meta.Refreshable = new(time.Now().Add(ends)), false
		if err := w.Door().Accounts().SaveGrant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
	for pass, want := range []int{2, 0} {
		if n, err := w.St.System().NoticeLapsing(t.Context(), 72*time.Hour, 100); err != nil || n != want {
			t.Errorf("pass %d: told of %d, %v", pass, n, err)
		}
	}
	var titles []string
	for _, n := range w.notices(t, nil) {
		titles = append(titles, n.Title)
	}
	slices.Sort(titles)
	if diff := cmp.Diff([]string{"Access to just now expires soon", "Access to soon expires soon"}, titles); diff != "" {
		t.Error(diff)
	}
}
