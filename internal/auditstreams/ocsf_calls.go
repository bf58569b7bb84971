package auditstreams

import (
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// newCallEvent maps how a call ended, or changed after its end.
func (m mapper) newCallEvent(r store.StreamRecord) event {
	c := r.Call
	a := activity{activityOther, "Call"}
	if k := connectors.CallKind(c.Type); k == connectors.CallResource || k == connectors.CallPrompt {
		a = activity{2, "Read"}
	}
	e := m.baseEvent(classAPI, a, c.CompletedAt, r, newCallDetails(c))
	e.Metadata.UID, e.Metadata.CorrelationUID = m.recordUID(r), c.RequestID
	e.StartTime, e.EndTime = c.StartedAt.UnixMilli(), c.CompletedAt.UnixMilli()
	if c.DurationUS != nil {
		e.Duration = new(*c.DurationUS / 1000)
	}
	e.StatusCode = c.Outcome
	e.setStatus(statusSuccess)
	if c.Outcome != string(connectors.OutcomeOK) || c.ErrorCode != "" {
		e.setStatus(statusFailure)
		e.StatusDetail = c.ErrorCode
	}
	e.Message = fmt.Sprintf("%s called %s of %s: %s", firstOf(c.Agent, "unknown"), firstOf(c.Tool, "unknown"), firstOf(c.Connector, "unknown"), firstOf(c.Outcome, c.Status))
	e.Actor = &actor{User: &user{Name: firstOf(c.Agent, "unknown"), UID: idText(c.AgentID), TypeID: userTypeOther, Type: "Agent"}, AppName: c.Caller}
	e.SrcEndpoint = newEndpoint(c.Address, c.Source)
	e.DstEndpoint = newEndpoint("", c.Connector)
	e.API = &apiCall{
		Operation: firstOf(c.Tool, "unknown"), Service: &named{Name: firstOf(c.Connector, "unknown"), UID: idText(c.ConnectorID)}, Request: &apiRequest{UID: c.ID.String()},
	}
	if c.ErrorCode != "" {
		e.API.Response = &apiResponse{Error: c.ErrorCode}
	}
	if c.Tool != "" {
		e.Resources = []resource{{Name: c.Tool, Type: c.Type}}
	}
	return e
}

// newCallDetails returns what OCSF has no attribute for. It has no arguments and no results.
func newCallDetails(c *store.RecordedCall) map[string]any {
	own := map[string]any{"kind": c.Kind, "call_id": c.ID.String(), "type": c.Type, "status": c.Status, "outcome": c.Outcome, "is_error": c.IsError}
	for name, value := range map[string]string{
		"approved_by": c.ApprovedBy, "token_id": idText(c.TokenID), "credential_id": idText(c.CredentialID), "definition_hash": hex.EncodeToString(c.DefinitionHash),
	} {
		if value != "" {
			own[name] = value
		}
	}
	for name, value := range map[string]*int64{"request_bytes": c.RequestBytes, "response_bytes": c.ResponseBytes} {
		if value != nil {
			own[name] = *value
		}
	}
	return own
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}
