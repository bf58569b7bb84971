package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// workloadJSON is a workload of an agent.
type workloadJSON struct {
	ID         string     `json:"id" format:"uuid" doc:"Its client_id at the token endpoint."`
	AgentID    string     `json:"agent_id" format:"uuid"`
	Name       string     `json:"name"`
	Issuer     string     `json:"issuer" doc:"The iss of its JWTs."`
	Subject    string     `json:"subject" doc:"The sub of its JWTs."`
	HasKeys    bool       `json:"has_keys" doc:"false: the keys are read at the issuer."`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"When it last got a token. Null if never."`
}

func viewWorkload(w connectors.Workload) workloadJSON {
	return workloadJSON{
		ID: w.ID.String(), AgentID: w.AgentID.String(), Name: w.Name, Issuer: w.Issuer, Subject: w.Subject, HasKeys: w.Keys != nil,
		CreatedAt: w.CreatedAt.UTC(), LastUsedAt: toUTC(w.LastUsedAt),
	}
}

// jwkSetJSON is a JWK Set (RFC 7517 section 5).
type jwkSetJSON struct {
	Keys []map[string]any `json:"keys" nullable:"false"`
}

type workloadCreate struct {
	Name    string      `json:"name"`
	Issuer  string      `json:"issuer" doc:"The iss of its JWTs. Its keys are read at {issuer}/.well-known/openid-configuration."`
	Subject string      `json:"subject" doc:"The sub of its JWTs, compared exactly."`
	Keys    *jwkSetJSON `json:"keys,omitempty" doc:"The issuer's public keys as a JWK Set, if Patchbay can't reach the issuer. At most 20 keys and 64 KiB."`
}

type createWorkloadInput struct {
	AgentPath
	JSON requestBody[workloadCreate]
}

type workloadPath struct {
	AgentPath
	Workload string `path:"workload" doc:"A workload's id."`
}

func (h *Handler) mountAgentWorkloads() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/workloads", id: "listAgentWorkloads", tag: tag,
		summary: "List an agent's workloads, newest first", permission: connectors.PermRead,
	}, h.listAgentWorkloads)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/agents/{id}/workloads", id: "createAgentWorkload", tag: tag,
		summary: "Let a workload act as the agent, without a stored secret", permission: connectors.PermManage, status: http.StatusCreated,
		description: "The workload sends a JWT of its issuer to /oauth/token as grant_type " +
			"urn:ietf:params:oauth:grant-type:jwt-bearer, with its id as client_id. The JWT's aud is the URL of this Patchbay.",
	}, h.createAgentWorkload)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}/workloads/{workload}", id: "deleteAgentWorkload", tag: tag,
		summary: "Remove a workload; its tokens stop working within a second", permission: connectors.PermManage,
	}, h.deleteAgentWorkload)
}

func (h *Handler) listAgentWorkloads(ctx context.Context, actor auth.Actor, in *AgentPath) (*response[list[workloadJSON]], error) {
	all, err := h.programs.Workloads(ctx, actor, in.ref())
	if err != nil {
		return nil, err
	}
	return newListResponse(store.List[connectors.Workload]{Items: all}, viewWorkload), nil
}

func (h *Handler) createAgentWorkload(ctx context.Context, actor auth.Actor, in *createWorkloadInput) (*response[workloadJSON], error) {
	if _, err := h.store.Tenant(actor.Tenant.ID).Agents().Get(ctx, in.ref()); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	w := connectors.Workload{Name: doc.Name, Issuer: doc.Issuer, Subject: doc.Subject}
	if doc.Keys != nil {
		if w.Keys, err = json.Marshal(doc.Keys); err != nil {
			return nil, err
		}
	}
	made, err := h.programs.AddWorkload(ctx, actor, in.ref(), w)
	if err != nil {
		return nil, err
	}
	return &response[workloadJSON]{Body: viewWorkload(made)}, nil
}

func (h *Handler) deleteAgentWorkload(ctx context.Context, actor auth.Actor, in *workloadPath) (*noContent, error) {
	id, ok := connectors.Ref(in.Workload).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such workload.")
	}
	return nil, h.programs.RemoveWorkload(ctx, actor, in.ref(), connectors.AgentWorkloadID{UUID: id})
}
