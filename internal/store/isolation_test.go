package store_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// outsider is a tenant (w.Other) that knows every id of another tenant's (w.Tenant) rows, and tries them.
type outsider struct {
	*fixture.World
	door  *store.Tenant
	vault *store.Vault

	connector  connectors.Connector
	agent      connectors.Agent
	member     connectors.Member
	key        connectors.APIKey
	credential connectors.Credential
	grant      store.Grant // of another connector
	lease      store.Lease
	flow       store.Flow
	withClient connectors.Connector
	token      connectors.AgentToken
	t          *testing.T
	program    connectors.Connector // of stdio
	done       connectors.SyncRun   // a finished run
	queued     connectors.SyncRun
	running    connectors.SyncRun   // of another connector
	changed    connectors.Connector // with a change that waits
	approvalsOf
	noticesOf
	streamOf
	auditStreamOf
	invitationTo
	accessRequestOf
	sessionOf
	toSSO
	clientOf
	registryOf
	scimOf
	workloadOf
}

// attempt is one case: what the outsider finds. A list or a count is found when it is not empty.
type attempt func(ctx context.Context, o outsider) (found bool, err error)

// tenantAttempts has a case for each method of Tenant. A method without a row id returns the outsider's own
// rows: its case reports whether the victim's are among them.
var tenantAttempts = map[string]attempt{
	"Tx": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.Tx(ctx, func(tx *store.Tenant) error {
			_, err := tx.Connectors().Get(ctx, connectors.Ref(o.connector.Slug))
			return err
		})
	},
	"Self": func(ctx context.Context, o outsider) (bool, error) {
		self, err := o.door.Self(ctx)
		return self.ID == o.Tenant, err
	},
	"Rename": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Rename(ctx, "Mine"); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.Name == "Mine", err
	},
	"SetCallSettings": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SetCallSettings(ctx, connectors.HistoryFull, connectors.ReadersAuditors, time.Hour); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.CallHistory == connectors.HistoryFull || theirs.ApprovalTimeout == time.Hour, err
	},
	"People.Members": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.People().Members(ctx, store.Page{}))
	},
	"People.Member": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.People().Member(ctx, o.member.UserID))
	},
	"People.MailPreference": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.People().MailPreference(ctx, o.member.UserID))
	},
	"People.SetMailPreference": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.People().SetMailPreference(ctx, o.member.UserID, connectors.MailAll, "en")
	},
	"People.IssueAccount": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.People().IssueAccount(ctx, store.NewMember{Email: o.member.Email, Role: connectors.RoleViewer})
		if err != nil {
			return true, err // a Conflict would tell that the address has an account
		}
		theirs, err := o.Door().People().Member(ctx, o.member.UserID)
		_, removed := o.door.People().RemoveMember(ctx, mine.UserID)
		return mine.UserID == o.member.UserID || theirs.Role != o.member.Role || theirs.Name != o.member.Name, errors.Join(err, removed)
	},
	"People.SetRole": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.People().SetRole(ctx, o.member.UserID, connectors.RoleViewer)
	},
	"People.RemoveMember": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.People().RemoveMember(ctx, o.member.UserID))
	},
	"People.APIKeys": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.People().APIKeys(ctx, store.Page{}))
	},
	"People.CreateAPIKey": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.People().CreateAPIKey(ctx, store.NewAPIKey{ID: o.key.ID, Name: "Mine", Role: connectors.RoleOwner, SecretMAC: []byte("m")})
		if err == nil {
			return true, nil // an id that stands in another tenant's key
		}
		stored, keyErr := o.St.System().People().APIKey(ctx, o.key.ID)
		return stored.Tenant.ID != o.Tenant || stored.Key.Name == "Mine", keyErr
	},
	"People.RevokeAPIKey": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.People().RevokeAPIKey(ctx, o.key.ID)
	},
	"Agents.List": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Agents().List(ctx, store.Page{})
		return slices.ContainsFunc(list.Items, func(a connectors.Agent) bool { return a.ID == o.agent.ID }), err
	},
	"Agents.Get": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.Agents().Get(ctx, connectors.Ref(o.agent.Slug)); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.Agents().Get(ctx, connectors.Ref(o.agent.ID.String())))
	},
	"Agents.Create": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.Agents().Create(ctx, o.agent) // with the victim's id and slug
		if err != nil {
			return false, err
		}
		return mine.ID == o.agent.ID, o.door.Agents().Delete(ctx, mine.ID)
	},
	"Agents.Lock": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Tx(ctx, func(tx *store.Tenant) error { return tx.Agents().Lock(ctx, o.agent.ID) })
	},
	"People.LockMember": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.People().LockMember(ctx, o.member.UserID))
	},
	"Agents.Update": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Agents().Update(ctx, o.agent)) },
	"Agents.Delete": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Agents().Delete(ctx, o.agent.ID)
	},
	"Connectors.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Connectors().List(ctx, store.ConnectorFilter{}))
	},
	"Connectors.Stats": func(ctx context.Context, o outsider) (bool, error) {
		stats, err := o.door.Connectors().Stats(ctx)
		return stats.Connectors != 0 || stats.Tools != 0, err
	},
	"Connectors.At": func(ctx context.Context, o outsider) (bool, error) {
		found, err := o.door.Connectors().At(ctx, []string{o.connector.URL})
		return len(found) > 0, err
	},
	"Connectors.Get": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.Connectors().Get(ctx, connectors.Ref(o.connector.Slug)); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.Connectors().Get(ctx, connectors.Ref(o.connector.ID.String())))
	},
	"Connectors.Create": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.Connectors().Create(ctx, fixture.Draft(func(d *connectors.Draft) { d.Slug, d.Name = o.connector.Slug, o.connector.Name }))
		if err != nil {
			return true, err // a Conflict would tell that the name exists
		}
		return mine.ID == o.connector.ID, o.door.Connectors().Delete(ctx, mine.ID)
	},
	"Connectors.Update": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Connectors().Update(ctx, o.connector.ID, 0, fixture.Draft()))
	},
	"Connectors.Items": func(ctx context.Context, o outsider) (bool, error) {
		items, err := o.door.Connectors().Items(ctx, o.connector.ID)
		return len(items) > 0, err
	},
	"Connectors.ListItems": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Connectors().ListItems(ctx, store.ItemFilter{Connector: o.connector.ID, Kind: connectors.ItemPrompt}))
	},
	"Connectors.CountItems": func(ctx context.Context, o outsider) (bool, error) {
		counts, err := o.door.Connectors().CountItems(ctx, o.connector.ID)
		return counts.Sum().Total > 0, err
	},
	"Connectors.SaveItems": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Connectors().SaveItems(ctx, o.connector.ID, nil, []connectors.Item{{Kind: connectors.ItemPrompt, Key: "mine", Raw: []byte(`{}`)}}))
	},
	"Connectors.Icon": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Connectors().Icon(ctx, o.connector.ID))
	},
	"Connectors.Icons": func(ctx context.Context, o outsider) (bool, error) {
		icons, err := o.door.Connectors().Icons(ctx, []connectors.Connector{{ID: o.connector.ID, IconHash: &connectors.Hash{}}})
		return len(icons) > 0, err
	},
	"Connectors.Marks": func(ctx context.Context, o outsider) (bool, error) {
		marks, err := o.door.Connectors().Marks(ctx, []string{o.connector.Slug})
		return len(marks) > 0, err
	},
	"Connectors.SaveIcon": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Connectors().SaveIcon(ctx, o.connector.ID, nil)
	},
	"Connectors.Delete": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Connectors().Delete(ctx, o.connector.ID)
	},
	"Connectors.Credentials": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Connectors().Credentials(ctx, o.connector.ID, store.Page{}))
	},
	"Connectors.AgentCredentials": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.Connectors().AgentCredentials(ctx, o.agent.ID)
		return len(all) > 0, err
	},
	"Connectors.SetCredential": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Connectors().SetCredential(ctx, store.NewCredential{
			ConnectorID: o.connector.ID, Type: connectors.AuthBearer, Origin: "https://example.com:443", Secret: "mine",
		})
	},
	"Connectors.DeleteCredential": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Connectors().DeleteCredential(ctx, o.connector.ID, &o.agent.ID, "")
	},
	"Connectors.DeleteCredentials": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Connectors().DeleteCredentials(ctx, o.connector.ID)
		return n > 0, err
	},
	"Connectors.Lock": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Tx(ctx, func(tx *store.Tenant) error {
			if err := tx.Connectors().Lock(ctx, o.connector.ID); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return o.Door().Connectors().SetAuthBehaviour(ctx, o.connector.ID, o.connector.AuthBehaviour) // waits where it is held
		}); err != nil {
			return true, err
		}
		return false, nil
	},
	"Accounts.SaveGrant": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Accounts().SaveGrant(ctx, store.NewGrant{ConnectorID: o.grant.ConnectorID, Origin: o.grant.Origin})
	},
	"Accounts.SaveFlow": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Accounts().SaveFlow(ctx, newFlow(o.connector, 3))
	},
	"Accounts.DeleteFlows": func(ctx context.Context, o outsider) (bool, error) {
		kept := newFlow(o.connector, 4)
		if err := o.Door().Accounts().SaveFlow(ctx, kept); err != nil {
			return false, err
		}
		if err := o.door.Accounts().DeleteFlows(ctx, o.connector.ID); err != nil {
			return false, err
		}
		_, err := o.St.System().Sessions().TakeFlow(ctx, kept.StateHash)
		return err != nil, err
	},
	"Accounts.SaveConnectLink": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Accounts().SaveConnectLink(ctx, newLink(o.connector, 3))
	},
	"Accounts.SaveRegistration": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Accounts().SaveRegistration(ctx, redirectURI, oauth.Registration{Issuer: issuer, ClientID: "mine", Source: oauth.SourceDynamic}); err != nil {
			return false, err
		}
		theirs, err := o.St.Vault(o.Tenant).Registration(ctx, issuer, redirectURI)
		return theirs.ClientID != "client", errors.Join(err, o.door.Accounts().DeleteRegistration(ctx, issuer, redirectURI, "mine"))
	},
	"Connectors.SetEnvironment": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Connectors().SetEnvironment(ctx, o.program, connectors.Environment{"MINE": "x"})
	},
	"Connectors.DeleteEnvironment": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Connectors().DeleteEnvironment(ctx, o.program.ID)
	},
	"Connectors.SetClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Connectors().SetClientSecret(ctx, o.withClient, "mine")
	},
	"Connectors.DeleteClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Connectors().DeleteClientSecret(ctx, o.withClient.ID)
	},
	"Accounts.ExpiringCredentials": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Accounts().ExpiringCredentials(ctx, 1000*time.Hour, 20)
		return len(list) > 0, err
	},
	"Accounts.RenewMachineTokens": func(ctx context.Context, o outsider) (bool, error) {
		err := o.Door().Connectors().SetCredential(ctx, store.NewCredential{
			ConnectorID: o.withClient.ID, Type: connectors.AuthClientCredentials, Origin: connectors.Origin(o.withClient.URL), Secret: "{}",
		})
		if err != nil {
			return false, err
		}
		before, err := o.St.Vault(o.Tenant).Grant(ctx, o.withClient.ID, nil)
		if err != nil {
			return false, err
		}
		if err := o.door.Accounts().RenewMachineTokens(ctx, o.withClient.ID); err != nil {
			return false, err
		}
		after, err := o.St.Vault(o.Tenant).Grant(ctx, o.withClient.ID, nil)
		return after.Version != before.Version, err
	},
	"Connectors.SetAuthBehaviour": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Connectors().SetAuthBehaviour(ctx, o.withClient.ID, connectors.AuthOpen); err != nil {
			return false, err
		}
		theirs, err := o.Door().Connectors().Get(ctx, connectors.Ref(o.withClient.ID.String()))
		return theirs.AuthBehaviour == connectors.AuthOpen, err
	},
	"Accounts.DeleteRegistration": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Accounts().DeleteRegistration(ctx, issuer, redirectURI, "client"); err != nil {
			return false, err
		}
		theirs, err := o.St.Vault(o.Tenant).Registration(ctx, issuer, redirectURI)
		return theirs.ClientSecret.Reveal() != "client's secret", err
	},
	"Syncs.Queue": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().Queue(ctx, store.NewRun{ConnectorID: o.connector.ID, Trigger: connectors.TriggerManual}))
	},
	"Syncs.QueueAll": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Syncs().QueueAll(ctx, connectors.TriggerManual, nil)
		return n > 0, err
	},
	"Syncs.Start": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.door.Syncs().Start(ctx, store.SyncStart{Run: &o.queued.ID, Instance: o.Instance}); !fault.Is(err, fault.NotFound) {
			return true, err
		}
		return one(o.door.Syncs().Start(ctx, o.Start(o.connector.ID)))
	},
	"Syncs.Baseline": func(ctx context.Context, o outsider) (bool, error) {
		base, err := o.door.Syncs().Baseline(ctx, o.connector.ID)
		return base.ListHash != nil || len(base.Tools) > 0, err
	},
	"Skills.Baseline": func(ctx context.Context, o outsider) (bool, error) {
		known, err := o.door.Skills().Baseline(ctx, o.connector.ID)
		return len(known.Skills) > 0, err
	},
	"Skills.List": func(ctx context.Context, o outsider) (bool, error) {
		skills, err := o.door.Skills().List(ctx, o.connector.ID)
		return len(skills) > 0, err
	},
	"Skills.Get": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Skills().Get(ctx, o.connector.ID, fixture.SkillURI))
	},
	"Skills.Save": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.Skills().Save(ctx, o.connector.ID, store.SkillWrite{})
	},
	"Tools.Definitions": func(ctx context.Context, o outsider) (bool, error) {
		found, err := o.door.Tools().Definitions(ctx, []connectors.Hash{fixture.Definition("search").Hash})
		return len(found) > 0, err
	},
	"Syncs.FinishUnchanged": func(ctx context.Context, o outsider) (bool, error) {
		ok, _, err := o.door.Syncs().FinishUnchanged(ctx, o.running.ID, fixture.ListHash(fixture.Definition("search")), store.ServerObservation{})
		return ok, err
	},
	"Syncs.Finish": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().Finish(ctx, o.running.ID, fixture.FirstResult(fixture.Definition("mine"))))
	},
	"Syncs.Fail": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().Fail(ctx, o.running.ID, connectors.SyncError{Code: "timeout", Message: "Mine."}, store.ServerObservation{}))
	},
	"Syncs.Cancel": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().Cancel(ctx, o.running.ID, "Eve", store.Event{ActorType: "system", Action: "connector.sync_cancel", Target: "t"}))
	},
	"Syncs.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Syncs().List(ctx, o.connector.ID, store.Page{}))
	},
	"Syncs.Get": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Syncs().Get(ctx, o.done.ID)) },
	"Lists.Find": func(ctx context.Context, o outsider) (bool, error) {
		for _, name := range []string{o.connector.Name, o.agent.Name, "search"} {
			if found, err := o.door.Lists().Find(ctx, name, ""); err != nil || len(found) > 0 {
				return len(found) > 0, err
			}
		}
		return false, nil
	},
	"Tools.List": func(ctx context.Context, o outsider) (bool, error) {
		if found, err := some(o.door.Tools().List(ctx, store.ToolFilter{Connector: &o.connector.ID})); found || err != nil {
			return found, err
		}
		return some(o.door.Tools().List(ctx, store.ToolFilter{Query: "search", Removed: true}))
	},
	"Tools.Get": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Tools().Get(ctx, o.connector.ID, "search"))
	},
	"Tools.Quarantined": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Tools().Quarantined(ctx, o.connector.ID, store.Page{}))
	},
	"Audit.Record": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Audit().Record(ctx, store.Event{ActorType: "system", Action: "credential.read", Target: o.connector.Slug})
		return auditEvents(ctx, o) != 1, err
	},
}

var vaultAttempts = map[string]attempt{
	"Registration": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.Registration(ctx, issuer, redirectURI))
	},
	"ConnectorSecrets": func(ctx context.Context, o outsider) (bool, error) {
		found, err := o.vault.ConnectorSecrets(ctx, o.connector.ID)
		return len(found) > 0, err
	},
	"Verifier": func(_ context.Context, o outsider) (bool, error) { return one(o.vault.Verifier(o.flow)) },
	"Grant": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.Grant(ctx, o.grant.ConnectorID, nil))
	},
	"LeaseGrant": func(ctx context.Context, o outsider) (bool, error) {
		_, ok, err := o.vault.LeaseGrant(ctx, o.grant, time.Minute)
		return ok, err
	},
	"SaveRefreshed": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.SaveRefreshed(ctx, o.lease, o.grant, store.GrantTokens{AccessToken: "mine"})
	},
	"EndGrant": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.EndGrant(ctx, o.lease, "Mine.", nil)
	},
	"DelayRefresh": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.DelayRefresh(ctx, o.lease, store.Delay{Because: "Mine.", Wait: time.Hour})
	},
	"RefuseGrant": func(ctx context.Context, o outsider) (bool, error) {
		return o.vault.RefuseGrant(ctx, o.grant.ID, o.grant.Version, store.GrantMeta{}, "Mine.", nil)
	},
	"Environment": func(ctx context.Context, o outsider) (bool, error) {
		e, err := o.vault.Environment(ctx, o.program)
		return e != nil, err
	},
	"ClientSecret": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.vault.ClientSecret(ctx, o.withClient, issuer))
	},
	"ClientSecretFits": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.vault.ClientSecretFits(ctx, o.withClient, issuer)
	},
	"Secret": func(ctx context.Context, o outsider) (bool, error) {
		_, text, err := o.vault.Secret(ctx, o.connector.ID, &o.agent.ID)
		return !text.Empty(), err
	},
	"MarkUsed": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.vault.MarkUsed(ctx, o.credential.ID); err != nil {
			return false, err
		}
		list, err := o.Door().Connectors().Credentials(ctx, o.connector.ID, store.Page{})
		return list.Items[0].LastUsedAt != nil, err
	},
}

// ownWorld are the methods that make or show the outsider's own rows: they succeed, and find nothing of the victim's.
var ownWorld = map[string]bool{"Connectors.MatchesCredential": true, "Connectors.HoldsClientSecret": true,
	"Self": true, "Audit.Check": true, "Audit.State": true, "Audit.CheckOutcomes": true, "Audit.OutcomeState": true, "Audit.Export": true, "Audit.Cut": true, "Audit.End": true, "Audit.Signer": true, "AccessRequests.CountOpen": true, "AccessRequests.List": true, "AccessRequests.ReviewTools": true, "AccessRequests.OtherGrants": true, "People.Invitations": true, "People.Invite": true, "Rename": true, "Calls.SetQuota": true, "Calls.SetOperatorQuota": true, "Calls.QuotaUses": true, "Calls.ToolQuotaUse": true, "SetCallSettings": true, "People.IssueAccount": true, "People.CreateAPIKey": true, "Agents.Create": true, "Connectors.Create": true,
	"Syncs.QueueAll": true, "Syncs.NewestSweep": true, "Accounts.DeleteFlows": true, "Connectors.Stats": true, "Audit.Record": true, "Tools.Definitions": true, "Syncs.FinishUnchanged": true, "Connectors.DeleteCredentials": true, "MarkUsed": true, "ConnectorSecrets": true,
	"Accounts.SaveRegistration": true, "Accounts.DeleteRegistration": true, "Connectors.Lock": true, "LeaseGrant": true, "SaveRefreshed": true, "EndGrant": true, "DelayRefresh": true,
	"RefuseGrant": true, "Connectors.DeleteClientSecret": true, "Connectors.DeleteEnvironment": true, "Accounts.ExpiringCredentials": true, "Connectors.SetAuthBehaviour": true, "Accounts.RenewMachineTokens": true,
	"Calls.Allowances": true, "Calls.EndAllowances": true, "Calls.WaitingApprovals": true, "Calls.CountOpenApprovals": true, "Calls.WithdrawApproval": true, "Calls.ClaimApproval": true, "Calls.FinishApproval": true, "Calls.DropMail": true, "Mail": true, "TakeMail": true,
	"Calls.List": true, "Calls.TaskCalls": true, "Calls.AgentTasks": true, "Calls.StartPendingCall": true, "Calls.EndPendingCall": true, "Calls.CloseApprovalOfOther": true, "Calls.SaveCallTask": true, "Calls.EndCallTask": true, "Calls.MarkUndelivered": true,
	"Agents.Tokens": true, "Agents.Grants": true, "Tools.PinnedElsewhere": true, "Agents.GrantedConnectors": true, "Agents.AcceptedDefinitions": true, "Agents.ToolChoices": true, "Agents.CallCounts": true, "Agents.ApprovalsAbout": true, "Agents.AgentsGranted": true, "Tools.Use": true, "Tools.Learned": true, "Tools.AddLearned": true, "Tools.Vectors": true, "Tools.SaveVectors": true, "Audit.List": true, "WaitingCalls": true,
	"People.Members": true, "People.APIKeys": true, "Agents.List": true, "Connectors.List": true, "Connectors.Credentials": true, "Connectors.AgentCredentials": true, "Connectors.Items": true, "Connectors.ListItems": true, "Connectors.CountItems": true, "Connectors.Icons": true, "Connectors.Marks": true, "Syncs.List": true, "Skills.List": true, "Tools.List": true, "Tools.Quarantined": true,
	"Tools.Curated": true, "Tools.Tags": true, "Syncs.SaveRunRequests": true, "Connectors.CredentialOwners": true, "Connectors.Dependents": true, "Syncs.RunRequests": true,
	"Connectors.At": true, "Lists.Find": true, "SetDefaults": true, "SetDownAfter": true, "RefuseInvalidResults": true, "Lists.FirstSteps": true, "Lists.DismissFirstSteps": true, "Tools.AcknowledgeVanished": true, "People.RequireSecondFactor": true, "SealedBy": true, "SealingKeys": true,
}

func TestIsolation_OutsiderFindsNothing(t *testing.T) {
	t.Parallel()
	o := newOutsider(t)
	for _, door := range []struct {
		name     string
		methods  reflect.Type
		min      int // of methods
		attempts map[string]attempt
	}{
		{"Tenant", reflect.TypeFor[*store.Tenant](), 200, attempts(tenantAttempts, apiAttempts, accessAttempts, approvalAttempts, choiceAttempts, noticeAttempts, listenerAttempts, changeAttempts, clockAttempts, sweepAttempts, toolUseAttempts, auditAttempts, chainAttempts, exportAttempts, hourAttempts, curationAttempts, retentionAttempts, invitationAttempts, sessionAttempts, taskAttempts, settingsAttempts, stateAttempts, ssoAttempts, clientAttempts, accountAttempts, listAttempts, snapshotAttempts, revocationAttempts, registryAttempts, scimAttempts, accessRequestAttempts, workloadAttempts, auditStreamAttempts, exchangeAttempts)},
		{"Vault", reflect.TypeFor[*store.Vault](), 10, attempts(vaultAttempts, namedVaultAttempts, approvalVaultAttempts, choiceVaultAttempts, webhookVaultAttempts, ssoVaultAttempts, revocationVaultAttempts, auditStreamVaultAttempts, exchangeVaultAttempts)},
	} {
		names := methodNames(door.methods)
		if n := len(names); n < door.min || len(door.attempts) != n {
			t.Errorf("%s has %d methods, at least %d are expected, and the table has %d", door.name, n, door.min, len(door.attempts))
		}
		for _, name := range names {
			try, ok := door.attempts[name]
			if !ok {
				t.Errorf("%s.%s has no case in the isolation table", door.name, name)
				continue
			}
			found, err := try(t.Context(), o)
			switch {
			case ownWorld[name] || ownClock[name] || ownNotices[name] || ownStreams[name] || ownChanges[name] || ownHours[name] || ownHistory[name] || ownSSO[name] || ownClients[name] || ownAccounts[name] || ownLists[name] || ownAPIs[name] || ownRegistries[name] || ownSCIM[name] || ownWorkloads[name] || ownAuditStreams[name] || ownExchanges[name]:
				if found || err != nil {
					t.Errorf("%s.%s: the outsider found something (%v), or met an error: %v", door.name, name, found, err)
				}
			case !fault.Is(err, fault.NotFound):
				t.Errorf("%s.%s answers an outsider with %v, want NotFound", door.name, name, err)
			}
		}
	}
	o.wantUntouched(t)
}
