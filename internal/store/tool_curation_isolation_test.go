package store_test

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// curationAttempts are the outsider's at what admins say of tools.
var curationAttempts = map[string]attempt{
	"Tools.Lock": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Tools().Lock(ctx, o.connector.ID)
	},
	"Tools.Curated": func(ctx context.Context, o outsider) (bool, error) {
		tools, err := o.door.Tools().Curated(ctx, o.connector.ID)
		return len(tools) > 0, err
	},
	"Tools.Curate": func(ctx context.Context, o outsider) (bool, error) {
		mine := []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Alias: "mine"}}}
		err := o.door.Tools().Curate(ctx, o.connector.ID, mine)
		if theirs, read := o.Door().Tools().Curated(ctx, o.connector.ID); read != nil || len(theirs) == 0 || theirs[0].Alias != "" {
			return true, read
		}
		return !fault.Is(err, fault.NotFound), err
	},
	"Connectors.CredentialOwners": func(ctx context.Context, o outsider) (bool, error) {
		owners, err := o.door.Connectors().CredentialOwners(ctx, o.connector.ID)
		return owners.Agents > 0 || owners.Shared, err
	},
	"Connectors.Dependents": func(ctx context.Context, o outsider) (bool, error) {
		d, err := o.door.Connectors().Dependents(ctx, o.connector.ID, time.Now())
		return d.Agents+d.Calls+d.Approvals+d.Accounts+len(d.Names) > 0, err
	},
	"Syncs.SaveRunRequests": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Syncs().SaveRunRequests(ctx, o.done.ID, connectors.SyncRequests{List: []connectors.SyncRequest{{Phase: "list"}}})
		theirs, read := o.Door().Syncs().RunRequests(ctx, o.done.ID)
		return len(theirs.List) > 0 || read != nil, err
	},
	"Syncs.RunRequests": func(ctx context.Context, o outsider) (bool, error) {
		theirs := connectors.SyncRequests{List: []connectors.SyncRequest{{Phase: "list"}}}
		if err := o.Door().Syncs().SaveRunRequests(ctx, o.queued.ID, theirs); err != nil {
			return true, err
		}
		got, err := o.door.Syncs().RunRequests(ctx, o.queued.ID)
		return len(got.List) > 0, err
	},
	"Calls.SetQuota": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Calls().SetQuota(ctx, connectors.Quota{PerDay: 7})
		theirs, read := o.Door().Self(ctx)
		return theirs.Quota.Bounds() || read != nil, err
	},
	"Calls.SetOperatorQuota": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Calls().SetOperatorQuota(ctx, connectors.Quota{PerDay: 7})
		theirs, read := o.Door().Self(ctx)
		return theirs.MaxQuota.Bounds() || read != nil, err
	},
	"Calls.QuotaUses": func(ctx context.Context, o outsider) (bool, error) {
		if err := countQuotas(ctx, o); err != nil {
			return true, err
		}
		uses, err := o.door.Calls().QuotaUses(ctx, time.Now())
		return len(uses) > 0, err
	},
	"Calls.ToolQuotaUse": func(ctx context.Context, o outsider) (bool, error) {
		if err := countQuotas(ctx, o); err != nil {
			return true, err
		}
		use, err := o.door.Calls().ToolQuotaUse(ctx, o.connector.ID, "search", time.Now())
		return use.Calls > 0, err
	},
	"Tools.Tags": func(ctx context.Context, o outsider) (bool, error) {
		theirs := []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Enabled: true, Tags: []string{"theirs"}}}}
		if err := o.Door().Tools().Curate(ctx, o.connector.ID, theirs); err != nil {
			return true, err
		}
		tags, err := o.door.Tools().Tags(ctx, o.connector.ID)
		return len(tags) > 0, err
	},
}

// countQuotas counts calls of the other tenant, and of its tool.
func countQuotas(ctx context.Context, o outsider) error {
	day := connectors.QuotaDay(time.Now())
	_, err := o.St.System().Calls().CountQuotas(ctx, []store.QuotaCount{
		{QuotaOwner: store.QuotaOwner{Tenant: o.Tenant}, Day: day, Calls: 3},
		{QuotaOwner: store.QuotaOwner{Tenant: o.Tenant, Connector: o.connector.ID, Tool: "search"}, Day: day, Calls: 3},
	})
	return err
}
