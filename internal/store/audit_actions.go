package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// Effect is what an action does to its object. It decides which states the audit event holds.
type Effect string

// The effects.
const (
	EffectNone   Effect = "reads"   // changes nothing, or is a decision that the event itself describes
	EffectCreate Effect = "makes"   // After only
	EffectUpdate Effect = "changes" // LockAndReadState and After
	EffectUpsert Effect = "puts"    // After, and Before if the object existed
	EffectDelete Effect = "ends"    // LockAndReadState only
)

// Action describes an audited action.
type Action struct {
	Effect Effect
	Secret string // field that is recorded even if unchanged; empty: none
}

// Actions are the known audit actions by name. An action that is missing here cannot be recorded, and its
// transaction fails.
var Actions = map[string]Action{
	"account.password":       {Effect: EffectUpdate, Secret: "password"},
	"account.password_reset": {Effect: EffectUpdate, Secret: "password"}, // by a link in an e-mail, in each tenant that the password opens
	"account.sign_in":        {Effect: EffectNone},                       // by password; single sign-on is sso.sign_in
	"account.sign_out_here":  {Effect: EffectNone},                       // in the requesting browser only
	"account.lock":           {Effect: EffectNone},                       // by wrong passwords
	"account.session_end":    {Effect: EffectNone},
	"account.sign_out":       {Effect: EffectNone}, // the number of sessions is omitted: they span all of the person's tenants

	"account.second_factor_add":    {Effect: EffectCreate},
	"account.second_factor_refuse": {Effect: EffectNone}, // right password, wrong code
	"account.second_factor_remove": {Effect: EffectDelete},
	"account.recovery_codes":       {Effect: EffectUpdate},
	"account.recovery_code_use":    {Effect: EffectNone},

	"tenant.create":       {Effect: EffectCreate}, // by the operator, or by the program on an empty database
	"tenant.rename":       {Effect: EffectUpdate},
	"tenant.configure":    {Effect: EffectUpdate},
	"tenant.keep_history": {Effect: EffectUpdate},
	"tenant.set_defaults": {Effect: EffectUpdate},
	"tenant.set_quota":    {Effect: EffectUpdate},
	"tenant.limit":        {Effect: EffectUpdate}, // by the operator

	"tenant.require_second_factor": {Effect: EffectUpdate},

	"usage.reset": {Effect: EffectUpsert}, // nothing is deleted: it sets the start of the figures

	"member.add":                  {Effect: EffectCreate},
	"member.join":                 {Effect: EffectCreate},
	"member.role":                 {Effect: EffectUpdate},
	"member.rename":               {Effect: EffectUpdate}, // by the identity provider
	"member.remove":               {Effect: EffectDelete},
	"member.sign_out":             {Effect: EffectNone},
	"member.second_factor_remove": {Effect: EffectDelete},
	"member.invite":               {Effect: EffectCreate},
	"member.invite_again":         {Effect: EffectUpdate},
	"member.uninvite":             {Effect: EffectUpdate},

	"api_key.create": {Effect: EffectCreate},
	"api_key.revoke": {Effect: EffectUpdate},

	"agent.create":       {Effect: EffectCreate},
	"agent.update":       {Effect: EffectUpdate},
	"agent.delete":       {Effect: EffectDelete},
	"agent_token.create": {Effect: EffectCreate},
	"agent_token.revoke": {Effect: EffectDelete},
	"agent_client.allow": {Effect: EffectCreate},
	"agent_client.end":   {Effect: EffectDelete},

	"member_client.allow": {Effect: EffectCreate}, // an OAuth client acts as the member
	"member_client.end":   {Effect: EffectDelete},

	"access_request.ask":      {Effect: EffectCreate},
	"access_request.accept":   {Effect: EffectUpdate}, // the grant is agent_grant.set
	"access_request.refuse":   {Effect: EffectUpdate},
	"access_request.withdraw": {Effect: EffectUpdate},

	"agent_grant.set":   {Effect: EffectUpsert},
	"agent_grant.shape": {Effect: EffectUpdate}, // how answers are shortened
	"agent_grant.drop":  {Effect: EffectDelete},

	"connector.create":            {Effect: EffectCreate},
	"connector.update":            {Effect: EffectUpdate},
	"connector.delete":            {Effect: EffectDelete},
	"connector.listen":            {Effect: EffectUpdate},
	"connector.acknowledge_tools": {Effect: EffectUpdate}, // a loss of tools
	"connector.test":              {Effect: EffectNone},   // of a draft, of unsaved settings, or a ping
	"endpoint.create":             {Effect: EffectCreate}, // of an HTTP API
	"endpoint.update":             {Effect: EffectUpdate},
	"endpoint.delete":             {Effect: EffectDelete},
	"agent_allowance.end":         {Effect: EffectNone}, // before its time; tool_call.approve begins it

	"connector.sync":     {Effect: EffectNone}, // the request only: its result is in the run; scheduled syncs are not audited
	"connector.sync_all": {Effect: EffectNone},

	"connector.sync_cancel": {Effect: EffectNone},

	"connect_link.make": {Effect: EffectCreate, Secret: "connect_url"}, // the URL lets its holder connect an account

	"credential.set":           {Effect: EffectUpsert, Secret: "secret"},
	"credential.connect":       {Effect: EffectUpsert, Secret: "secret"},
	"credential.begin":         {Effect: EffectNone}, // a person is sent to an authorization server; on return: credential.connect
	"credential.delete":        {Effect: EffectDelete},
	"credential.disconnect":    {Effect: EffectDelete},
	"credential.revoke_failed": {Effect: EffectNone}, // the authorization server was not reachable for a day after the account was deleted
	"credential.read":          {Effect: EffectNone},
	"credential.compare":       {Effect: EffectNone},

	"tool.curate":          {Effect: EffectUpdate},
	"tool.try":             {Effect: EffectNone}, // an admin's own call, written before it is sent
	"tool.accept":          {Effect: EffectNone},
	"tool.reject":          {Effect: EffectNone},
	"tool.keep":            {Effect: EffectNone}, // the accepted definition stays in service
	"tool.restore":         {Effect: EffectNone}, // an earlier definition is back in service
	"tool.undo":            {Effect: EffectNone}, // the state before a decision is back
	"tool.accept_cosmetic": {Effect: EffectNone},
	"instructions.accept":  {Effect: EffectNone},
	"instructions.reject":  {Effect: EffectNone},
	"instructions.restore": {Effect: EffectNone},
	"instructions.undo":    {Effect: EffectNone},
	"skill.accept":         {Effect: EffectNone},
	"skill.reject":         {Effect: EffectNone}, // agents keep the accepted definition, if there is one
	"skill.restore":        {Effect: EffectNone},
	"skill.undo":           {Effect: EffectNone},

	"tool_call.approve": {Effect: EffectNone},
	"tool_call.deny":    {Effect: EffectNone},
	"tool_call.cancel":  {Effect: EffectNone},
	"tool_call.read":    {Effect: EffectNone}, // an auditor reads arguments and results that only auditors may read

	"webhook.create":        {Effect: EffectCreate},
	"webhook.update":        {Effect: EffectUpdate},
	"webhook.delete":        {Effect: EffectDelete},
	"webhook.rotate_secret": {Effect: EffectUpdate, Secret: "secret"},
	"webhook.disable":       {Effect: EffectUpdate},
	"webhook.test":          {Effect: EffectNone},
	"webhook.redeliver":     {Effect: EffectNone},

	"audit_stream.create": {Effect: EffectCreate},
	"audit_stream.update": {Effect: EffectUpdate},
	"audit_stream.delete": {Effect: EffectDelete},
	"audit_stream.pause":  {Effect: EffectUpdate}, // by its receiver's refusals
	"audit_stream.test":   {Effect: EffectNone},
	"audit_stream.gap":    {Effect: EffectNone}, // records were removed before their delivery

	"agent_workload.create": {Effect: EffectCreate},
	"agent_workload.delete": {Effect: EffectDelete},
	"agent_workload.refuse": {Effect: EffectNone}, // a JWT that was used before; once for each

	"registry.create":         {Effect: EffectCreate},
	"registry.update":         {Effect: EffectUpdate},
	"registry.rotate_address": {Effect: EffectUpdate, Secret: "address"},
	"registry.delete":         {Effect: EffectDelete},

	"signing_key.create": {Effect: EffectNone}, // a key for token exchange, named by its ID; it has no settings
	"signing_key.delete": {Effect: EffectNone},

	"scim.enable":       {Effect: EffectCreate},
	"scim.rotate_token": {Effect: EffectUpdate, Secret: "token"},
	"scim.disable":      {Effect: EffectDelete},
	"scim.user_create":  {Effect: EffectCreate},
	"scim.user_update":  {Effect: EffectUpdate},
	"scim.user_delete":  {Effect: EffectDelete},
	"scim.group_create": {Effect: EffectCreate},
	"scim.group_update": {Effect: EffectUpdate},
	"scim.group_delete": {Effect: EffectDelete},
	"scim.refuse":       {Effect: EffectNone}, // the end of the last owner's membership

	"sso.configure":      {Effect: EffectUpsert, Secret: "client_secret"},
	"sso.forget":         {Effect: EffectDelete},
	"sso.claim_domain":   {Effect: EffectUpsert},
	"sso.verify_domain":  {Effect: EffectUpdate},
	"sso.release_domain": {Effect: EffectDelete},
	"sso.test":           {Effect: EffectNone},
	"sso.sign_in":        {Effect: EffectNone},
	"sso.refuse":         {Effect: EffectNone},

	"table.export": {Effect: EffectNone},
	"audit.export": {Effect: EffectNone},
	"keys.rotate":  {Effect: EffectNone}, // the tenant's keys, by the operator
	"audit.cut":    {Effect: EffectNone}, // the detail has place, hash and signature of the removed entries
}

// checkStates fails if the event lacks the states that its action's effect requires. That is a bug of the
// caller; the act fails.
func (e Event) checkStates() error {
	act, known := Actions[e.Action]
	if !known {
		return fmt.Errorf("record %q: no such action", e.Action)
	}
	was, is := e.Before != nil, e.After != nil
	fits := map[Effect]bool{EffectNone: !was && !is, EffectCreate: !was && is, EffectUpdate: was && is, EffectUpsert: is, EffectDelete: was && !is}
	if !fits[act.Effect] {
		return fmt.Errorf("record %s: an act that %s has other states (before: %t, after: %t)", e.Action, act.Effect, was, is)
	}
	return nil
}

// storedDetail returns the event's detail with the changed fields of Before and After and the action's secret.
func (e Event) storedDetail() map[string]any {
	detail := map[string]any{}
	maps.Copy(detail, e.Detail)
	if e.Via != "" {
		detail["via"] = e.Via
	}
	if e.Program != nil {
		detail["program"] = map[string]any{"agent_client_id": e.Program.ID.String(), "name": e.Program.Name, "host": e.Program.Host}
	}
	was, is := diffStates(e.Before, e.After, Actions[e.Action].Secret)
	if e.Before != nil {
		detail["before"] = was
	}
	if e.After != nil {
		detail["after"] = is
	}
	return detail
}

// diffStates returns two states without the fields that are equal in both, except always.
func diffStates(before, after State, always string) (was, is State) {
	was, is = maps.Clone(before), maps.Clone(after)
	for field, value := range before {
		other, there := after[field]
		if there && field != always && equalJSON(value, other) {
			delete(was, field)
			delete(is, field)
		}
	}
	return was, is
}

func equalJSON(a, b any) bool {
	one, err := json.Marshal(a)
	other, also := json.Marshal(b)
	return err == nil && also == nil && bytes.Equal(one, other)
}
