package agents

import (
	"context"
	"encoding/json"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// githubIssuer is the issuer of GitHub Actions outside of GitHub Enterprise.
const githubIssuer = "https://token.actions.githubusercontent.com"

// workloadAdd lets a workload act as an agent.
func (h *Handler) workloadAdd(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	added := connectors.Workload{Name: f.Text("name"), Issuer: f.Text("issuer"), Subject: f.Text("subject"), Keys: json.RawMessage(f.Text("keys"))}
	if added.Issuer == "" && f.Text("kind") == "github" {
		added.Issuer = githubIssuer
	}
	made, err := h.AuthServer.AddWorkload(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), added)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.agentConnectPage(w, r, respond.Status(problem.Kind), connectForms{workload: f.ToForm(problem)}, nil)
	}
	if err != nil {
		return err
	}
	return h.backToConnect(w, r, i18n.T(r.Context(), "Workload “%s” added.", made.Name))
}

// workloadRemove ends a workload's access.
func (h *Handler) workloadRemove(w http.ResponseWriter, r *http.Request) error {
	id, ok := shell.PathRef(r, "workload").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "No such workload.")
	}
	if err := h.AuthServer.RemoveWorkload(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), connectors.AgentWorkloadID{UUID: id}); err != nil {
		return err
	}
	return h.backToConnect(w, r, i18n.T(r.Context(), "Workload removed."))
}

func (h *Handler) backToConnect(w http.ResponseWriter, r *http.Request, done string) error {
	return h.Respond.Back(w, r, shell.AgentPath(string(shell.PathRef(r, "id")))+"/connect", respond.Flash{Kind: respond.Notice, Text: done})
}

// addWorkloads adds an agent's workloads to the page.
func (h *Handler) addWorkloads(ctx context.Context, page *templates.AgentConnectPage, a connectors.Agent, all []connectors.Workload, f templates.Form) {
	page.WorkloadForm = f
	page.WorkloadKinds = []templates.Option{
		{Value: "github", Label: "GitHub Actions"}, {Value: "kubernetes", Label: "Kubernetes"}, {Value: "other", Label: i18n.T(ctx, "Other")},
	}
	for _, w := range all {
		page.Workloads = append(page.Workloads, templates.WorkloadRow{
			Name: w.Name, Issuer: w.Issuer, Subject: w.Subject, ClientID: w.ID.String(), LastUsed: shell.NewWhenOrNever(ctx, w.LastUsedAt, h.Now()),
			Remove: shell.AgentPath(a.Slug) + "/workloads/" + w.ID.String() + "/remove",
		})
	}
	if len(all) > 0 {
		page.TokenRequest = "curl " + h.BaseURL + "/oauth/token \\\n  -d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer \\\n  -d client_id=" + all[0].ID.String() + " \\\n  -d assertion=\"$TOKEN\""
	}
}
