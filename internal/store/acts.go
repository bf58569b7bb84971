package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// Shape says what an act leaves of a thing, and so what its audit event has to hold.
type Shape string

// The shapes.
const (
	Reads   Shape = "reads"   // nothing is another than before; or a decision, which the event itself tells
	Makes   Shape = "makes"   // what is
	Changes Shape = "changes" // what was and what is
	Puts    Shape = "puts"    // what is, and what was where there was something
	Ends    Shape = "ends"    // what was
)

// Act is a kind of act.
type Act struct {
	Shape  Shape
	Secret string // a field that is told where it is the same as before, too; empty: none
}

// Acts are all kinds of acts that the audit log knows, by the names that events have for them. What is not here cannot be recorded, and so
// not be done.
var Acts = map[string]Act{
	"account.password":      {Shape: Changes, Secret: "password"},
	"account.sign_in":       {Shape: Reads}, // by a password; by single sign-on: sso.sign_in
	"account.sign_out_here": {Shape: Reads}, // signed out in the browser that asked for it
	"account.lock":          {Shape: Reads}, // by wrong passwords
	"account.session_end":   {Shape: Reads},
	"account.sign_out":      {Shape: Reads}, // at how many places is not told: a session is in all of a person's tenants

	"account.second_factor_add":    {Shape: Makes},
	"account.second_factor_refuse": {Shape: Reads}, // the password was right, and the code was not
	"account.second_factor_remove": {Shape: Ends},
	"account.recovery_codes":       {Shape: Changes},
	"account.recovery_code_use":    {Shape: Reads},

	"tenant.create":       {Shape: Makes}, // by the operator, or by the program on a fresh database
	"tenant.rename":       {Shape: Changes},
	"tenant.configure":    {Shape: Changes},
	"tenant.keep_history": {Shape: Changes},
	"tenant.set_defaults": {Shape: Changes},
	"tenant.set_quota":    {Shape: Changes},
	"tenant.limit":        {Shape: Changes}, // by the operator

	"tenant.require_second_factor": {Shape: Changes},

	"usage.reset": {Shape: Puts}, // nothing is deleted: it says from when on figures are counted

	"member.add":                  {Shape: Makes},
	"member.join":                 {Shape: Makes},
	"member.role":                 {Shape: Changes},
	"member.remove":               {Shape: Ends},
	"member.sign_out":             {Shape: Reads},
	"member.second_factor_remove": {Shape: Ends},
	"member.invite":               {Shape: Makes},
	"member.invite_again":         {Shape: Changes},
	"member.uninvite":             {Shape: Changes},

	"api_key.create": {Shape: Makes},
	"api_key.revoke": {Shape: Changes},

	"agent.create":       {Shape: Makes},
	"agent.update":       {Shape: Changes},
	"agent.delete":       {Shape: Ends},
	"agent_token.create": {Shape: Makes},
	"agent_token.revoke": {Shape: Ends},
	"agent_client.allow": {Shape: Makes},
	"agent_client.end":   {Shape: Ends},

	"member_client.allow": {Shape: Makes}, // a program acts as the member
	"member_client.end":   {Shape: Ends},

	"agent_grant.set":  {Shape: Puts},
	"agent_grant.drop": {Shape: Ends},

	"connector.create": {Shape: Makes},
	"connector.update": {Shape: Changes},
	"connector.delete": {Shape: Ends},
	"connector.listen": {Shape: Changes},
	"connector.test":   {Shape: Reads}, // of a draft, or of a stored connector's changed settings; nothing of it is stored

	"connector.sync":     {Shape: Reads}, // that somebody asked for one: what came of it is its run's; by the clock it is no act
	"connector.sync_all": {Shape: Reads},

	"connect_link.make": {Shape: Makes, Secret: "connect_url"}, // whoever has it may connect an account

	"credential.set":           {Shape: Puts, Secret: "secret"},
	"credential.connect":       {Shape: Puts, Secret: "secret"},
	"credential.begin":         {Shape: Reads}, // somebody is sent to an authorization server; when they are back: credential.connect
	"credential.delete":        {Shape: Ends},
	"credential.disconnect":    {Shape: Ends},
	"credential.revoke_failed": {Shape: Reads}, // a deleted account that its server could not be told of within a day
	"credential.read":          {Shape: Reads},
	"credential.compare":       {Shape: Reads},

	"tool.curate":          {Shape: Changes},
	"tool.accept":          {Shape: Reads},
	"tool.reject":          {Shape: Reads},
	"tool.accept_cosmetic": {Shape: Reads},
	"instructions.accept":  {Shape: Reads},
	"instructions.reject":  {Shape: Reads},

	"tool_call.approve": {Shape: Reads},
	"tool_call.deny":    {Shape: Reads},
	"tool_call.cancel":  {Shape: Reads},
	"tool_call.read":    {Shape: Reads}, // of arguments and results, by an auditor, where they are for auditors alone

	"webhook.create":        {Shape: Makes},
	"webhook.update":        {Shape: Changes},
	"webhook.delete":        {Shape: Ends},
	"webhook.rotate_secret": {Shape: Changes, Secret: "secret"},
	"webhook.disable":       {Shape: Changes},
	"webhook.test":          {Shape: Reads},
	"webhook.redeliver":     {Shape: Reads},

	"sso.configure":      {Shape: Puts, Secret: "client_secret"},
	"sso.forget":         {Shape: Ends},
	"sso.claim_domain":   {Shape: Puts},
	"sso.verify_domain":  {Shape: Changes},
	"sso.release_domain": {Shape: Ends},
	"sso.test":           {Shape: Reads},
	"sso.sign_in":        {Shape: Reads},
	"sso.refuse":         {Shape: Reads},

	"table.export": {Shape: Reads},
	"audit.export": {Shape: Reads},
	"keys.rotate":  {Shape: Reads}, // the tenant's own, by the operator
	"audit.cut":    {Shape: Reads}, // what is gone, it tells by its place, its hash and a signature
}

// whole refuses an event that does not tell what its act left. It is a mistake of the program, and the act does not take place.
func (e Event) whole() error {
	act, known := Acts[e.Action]
	if !known {
		return fmt.Errorf("record %q: there is no such act", e.Action)
	}
	was, is := e.Before != nil, e.After != nil
	fits := map[Shape]bool{Reads: !was && !is, Makes: !was && is, Changes: was && is, Puts: is, Ends: was && !is}
	if !fits[act.Shape] {
		return fmt.Errorf("record %s: an act that %s has other states (before: %t, after: %t)", e.Action, act.Shape, was, is)
	}
	return nil
}

// detail is what is stored of the event's detail: with what was and what is, of which only what differs, and the secret of the act.
func (e Event) detail() map[string]any {
	detail := map[string]any{}
	maps.Copy(detail, e.Detail)
	if e.Via != "" {
		detail["via"] = e.Via
	}
	if e.Program != nil {
		detail["program"] = map[string]any{"agent_client_id": e.Program.ID.String(), "name": e.Program.Name, "host": e.Program.Host}
	}
	was, is := differing(e.Before, e.After, Acts[e.Action].Secret)
	if e.Before != nil {
		detail["before"] = was
	}
	if e.After != nil {
		detail["after"] = is
	}
	return detail
}

// differing are two states without what they have in common, but for one field.
func differing(before, after State, always string) (was, is State) {
	was, is = maps.Clone(before), maps.Clone(after)
	for field, value := range before {
		other, there := after[field]
		if there && field != always && same(value, other) {
			delete(was, field)
			delete(is, field)
		}
	}
	return was, is
}

func same(a, b any) bool {
	one, err := json.Marshal(a)
	other, also := json.Marshal(b)
	return err == nil && also == nil && bytes.Equal(one, other)
}
