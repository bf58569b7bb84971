package auditstreams

import (
	"encoding/json"
	"strings"

	"patchbay/internal/store"
)

// accountActions are actions with an event class of their own. All others are Entity Management.
var accountActions = map[string]struct {
	class    class
	activity activity
	failed   bool
}{
	"account.sign_in":              {classAuthentication, activity{1, "Logon"}, false},
	"sso.sign_in":                  {classAuthentication, activity{1, "Logon"}, false},
	"sso.refuse":                   {classAuthentication, activity{1, "Logon"}, true},
	"account.second_factor_refuse": {classAuthentication, activity{1, "Logon"}, true},
	"account.sign_out_here":        {classAuthentication, activity{2, "Logoff"}, false},
	"account.sign_out":             {classAuthentication, activity{2, "Logoff"}, false},
	"account.session_end":          {classAuthentication, activity{2, "Logoff"}, false},
	"member.sign_out":              {classAuthentication, activity{2, "Logoff"}, false},
	"account.lock":                 {classAccountChange, activity{9, "Lock"}, false},
	"account.password":             {classAccountChange, activity{3, "Password Change"}, false},
	"account.password_reset":       {classAccountChange, activity{4, "Password Reset"}, false},
	"account.second_factor_add":    {classAccountChange, activity{10, "MFA Factor Enable"}, false},
	"account.second_factor_remove": {classAccountChange, activity{11, "MFA Factor Disable"}, false},
	"member.second_factor_remove":  {classAccountChange, activity{11, "MFA Factor Disable"}, false},
	"member.add":                   {classAccountChange, activity{1, "Create"}, false},
	"member.join":                  {classAccountChange, activity{1, "Create"}, false},
	"member.remove":                {classAccountChange, activity{6, "Delete"}, false},
	"member.role":                  {classAccountChange, activity{activityOther, "Role Change"}, false},
}

// entityActivities are the activities of Entity Management by an action's effect.
var entityActivities = map[store.Effect]activity{
	store.EffectCreate: {1, "Create"}, store.EffectUpdate: {3, "Update"}, store.EffectUpsert: {3, "Update"}, store.EffectDelete: {4, "Delete"},
}

// newAuditEvent maps an entry of the audit log.
func (m mapper) newAuditEvent(r store.StreamRecord) event {
	entry := r.Event
	own := map[string]any{"action": entry.Action, "actor_type": entry.ActorType, "target": entry.Target}
	if len(entry.Detail) > 0 && json.Valid(entry.Detail) {
		own["detail"] = entry.Detail
	}
	special, isAccount := accountActions[entry.Action]
	c, a := special.class, special.activity
	if !isAccount {
		c = classEntity
		if a = entityActivities[store.Actions[entry.Action].Effect]; a.id == 0 {
			a = activity{activityOther, entry.Action}
		}
	}
	e := m.baseEvent(c, a, entry.At, r, own)
	e.Metadata.UID, e.Metadata.CorrelationUID = entry.ID.String(), entry.RequestID
	e.Message = strings.TrimSpace(entry.Action + " " + entry.Target)
	e.Actor = &actor{User: newAuditActor(entry)}
	if entry.IP != "" {
		e.SrcEndpoint = newEndpoint(entry.IP, "")
	}
	e.setStatus(statusSuccess)
	if special.failed {
		e.setStatus(statusFailure)
		e.setSeverity(severityMedium)
	}
	switch c {
	case classEntity:
		kind, _, _ := strings.Cut(entry.Action, ".")
		e.Entity = &entity{Name: firstOf(entry.Target, kind), Type: kind}
	case classAuthentication:
		e.User, e.Service = newAffectedUser(entry), &named{Name: "Patchbay"}
	default:
		e.User = newAffectedUser(entry)
	}
	return e
}

func newAuditActor(entry *store.RecordedEvent) *user {
	u := &user{Name: firstOf(entry.ActorName, entry.ActorType, "unknown"), TypeID: userTypeOther, Type: entry.ActorType}
	switch entry.ActorType {
	case "person":
		u.TypeID, u.Type = userTypeUser, "User"
	case "system":
		u.TypeID, u.Type = userTypeSystem, "System"
	}
	if entry.ActorID != nil {
		u.UID = entry.ActorID.String()
	}
	return u
}

// newAffectedUser returns the person that an entry is about: its target, or else its actor.
func newAffectedUser(entry *store.RecordedEvent) *user {
	return &user{Name: firstOf(entry.Target, entry.ActorName, "unknown")}
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
