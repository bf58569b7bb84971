package store_test

import (
	"fmt"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// linkedBefore ends calls with links that have neither address nor request id.
func linkedBefore(t *testing.T, w *fixture.World, calls []store.OwnedCall) {
	t.Helper()
	w.AsOwner(t, "alter table tool_calls disable trigger user")
	if err := w.St.System().Calls().EndCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	w.AsOwner(t, "alter table tool_calls enable trigger user", fmt.Sprintf(`
		select link_outcomes('ended', array[c.tenant_id], array[count(*)], array[
			(array_send(array_agg(c.id)) || array_send(array_agg(c.agent_id)) || array_send(array_agg(c.agent_slug)) || array_send(array_agg(c.connector_id)))
			|| (array_send(array_agg(c.connector_slug)) || array_send(array_agg(c.kind)) || array_send(array_agg(c.tool)) || array_send(array_agg(c.source)))
			|| ((array_send(array_agg(c.caller)) || array_send(array_agg(c.token_id)) || array_send(array_agg(c.credential_id)) || array_send(array_agg(c.definition_hash)))
			|| (array_send(array_agg(c.status)) || array_send(array_agg(c.outcome)) || array_send(array_agg(c.error_code)) || array_send(array_agg(c.is_error))))
			|| ((array_send(array_agg(c.approved_by)) || array_send(array_agg(c.request_bytes)) || array_send(array_agg(c.response_bytes)))
			|| (array_send(array_agg(c.started_at)) || array_send(array_agg(c.completed_at)) || array_send(array_agg(c.duration_us))))])
		from tool_calls c where c.tenant_id = '%s' group by c.tenant_id`, w.Tenant))
}

func TestLinksOfBeforeAreVerifiedAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sql  string
		want store.AuditReason // empty: all is as it was
	}{
		"as they were":                {"", ""},
		"one is lost, and comes back": {"back", ""},
		"an outcome":                  {`update tool_calls set outcome = 'tool_error' where id = $1`, store.OutcomeChanged},
		"an address that was none":    {`update tool_calls set address = '203.0.113.9' where id = $1`, store.OutcomeChanged},
		"a request that was none":     {`update tool_calls set request_id = 'request-1' where id = $1`, store.OutcomeChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			old := batchOf(t, w, 1, 3)
			for i := range old {
				old[i].Outcome = connectors.OutcomeOK
			}
			old[1].Outcome = connectors.OutcomeLost
			linkedBefore(t, w, old)
			endCalls(t, w, 4) // two links of now
			switch tc.sql {
			case "":
			case "back":
				old[1].Outcome, old[1].CallOrigin = connectors.OutcomeToolError, connectors.CallOriginOf("203.0.113.9", "request-of-now")
				if err := w.St.System().Calls().EndCalls(t.Context(), old[1:2]); err != nil {
					t.Fatal(err)
				}
			default:
				w.AsSystem(t, tc.sql, []any{old[0].ID})
			}
			check, err := w.Door().Audit().CheckOutcomes(t.Context(), nil, time.Time{})
			switch {
			case err != nil:
				t.Fatal(err)
			case tc.want == "" && (check.Bad != nil || check.Calls != 7):
				t.Errorf("%+v %+v", check, check.Bad)
			case tc.want != "" && (check.Bad == nil || check.Bad.N != 1 || check.Bad.Reason != tc.want || *check.Bad.Call != old[0].ID):
				t.Errorf("%+v", check.Bad)
			}
		})
	}
}

// A link without its last two columns reads as an older one, with unknown values: the link's hash reveals it.
func TestALinkIsNotMadeOneOfBefore(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	endCalls(t, w, 2)
	w.AsOwner(t, `update call_outcomes set body = substr(body, 1, length(body) - length(array_send(array['203.0.113.9', '203.0.113.9'])) - length(array_send(array['request-0', 'request-1'])))`,
		`set session_replication_role = replica`, `update tool_calls set address = null, request_id = null`)
	if check := outcomes(t, w); check.Bad == nil || check.Bad.Reason != store.OutcomeLinkChanged {
		t.Errorf("%+v", check.Bad)
	}
}
