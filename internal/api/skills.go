package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

// SkillPath is the path of a connector's skill.
type SkillPath struct {
	ConnectorPath
	URI string `path:"uri" doc:"URI of its SKILL.md, encoded as one path segment."`
}

type skillHistoryInput struct {
	SkillPath
	Paging
}

type skillVerdictInput struct {
	SkillPath
	JSON optionalBody[toolVerdictJSON]
}

type restoreSkillInput struct {
	SkillPath
	JSON requestBody[earlierVersionJSON]
}

// SkillSummary is a skill of a connector.
type SkillSummary struct {
	URI         string     `json:"uri" doc:"Of its SKILL.md. Untrusted."`
	Name        string     `json:"name"`
	Description string     `json:"description" doc:"Of the server's current definition. Untrusted."`
	Review      string     `json:"review" enum:"accepted,changed,new,rejected" doc:"accepted: agents get the current definition. changed, rejected: they get the accepted one, if there is one. new: none."`
	Hash        string     `json:"hash" doc:"Hash of the current definition, for accept or reject."`
	Accepted    *string    `json:"accepted_hash" doc:"Hash of the definition that agents get. Null if none."`
	Files       int        `json:"files"`
	Bytes       int64      `json:"bytes" doc:"Of all files."`
	FirstSeenAt time.Time  `json:"first_seen_at"`
	ChangedAt   time.Time  `json:"changed_at"`
	RemovedAt   *time.Time `json:"removed_at" doc:"When the server stopped to list it. Null if it is listed."`
}

// skillFileJSON is a file of a skill.
type skillFileJSON struct {
	URI    string `json:"uri"`
	Digest string `json:"digest" doc:"sha256: and 64 hexadecimal digits, of the file's bytes."`
	Size   int64  `json:"size" doc:"In bytes."`
}

// skillDefinitionJSON is what a reviewer accepts of a skill.
type skillDefinitionJSON struct {
	Frontmatter map[string]any  `json:"frontmatter" doc:"Untrusted."`
	Files       []skillFileJSON `json:"files" nullable:"false"`
}

// shownSkillJSON is a skill with its definitions.
type shownSkillJSON struct {
	SkillSummary
	Current skillDefinitionJSON  `json:"current" doc:"As the server last listed it."`
	Given   *skillDefinitionJSON `json:"accepted" doc:"What agents get. Null if none."`
}

func (h *Handler) mountSkills() {
	const tag, path = "Tool changes", "/api/v1/connectors/{id}/skills"
	registerOperation(h, operation{
		method: http.MethodGet, path: path, id: "listSkills", tag: tag,
		summary: "List the skills of a connector's server", permission: connectors.PermRead,
	}, h.listSkills)
	registerOperation(h, operation{
		method: http.MethodGet, path: path + "/{uri}", id: "getSkill", tag: tag,
		summary: "Get a skill with its files, current and accepted", permission: connectors.PermRead,
	}, h.getSkill)
	registerOperation(h, operation{
		method: http.MethodGet, path: path + "/{uri}/changes", id: "listChangesOfSkill", tag: tag,
		summary: "List a skill's changes with differences, newest first", permission: connectors.PermRead,
	}, h.listChangesOfSkill)
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/{uri}/accept", id: "acceptSkill", tag: tag,
		summary: "Accept a skill's current definition", permission: connectors.PermManage, status: http.StatusOK,
		description: "Agents get a file only with an accepted digest and size.",
	}, func(ctx context.Context, actor auth.Actor, in *skillVerdictInput) (*response[shownSkillJSON], error) {
		return h.decideSkill(ctx, actor, in, true)
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/{uri}/reject", id: "rejectSkill", tag: tag,
		summary: "Reject a skill's current definition; agents keep the accepted one", permission: connectors.PermManage, status: http.StatusOK,
		description: "To reject the accepted definition withdraws it: agents no longer get the skill.",
	}, func(ctx context.Context, actor auth.Actor, in *skillVerdictInput) (*response[shownSkillJSON], error) {
		return h.decideSkill(ctx, actor, in, false)
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/{uri}/restore", id: "restoreSkill", tag: tag,
		summary: "Restore an earlier definition of a skill", permission: connectors.PermManage, status: http.StatusOK,
	}, h.restoreSkill)
}

func (h *Handler) listSkills(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*response[list[SkillSummary]], error) {
	_, skills, err := h.registry.Skills(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	out := list[SkillSummary]{Items: make([]SkillSummary, len(skills))}
	for i, s := range skills {
		out.Items[i] = viewSkill(s)
	}
	return &response[list[SkillSummary]]{Body: out}, nil
}

func (h *Handler) getSkill(ctx context.Context, actor auth.Actor, in *SkillPath) (*response[shownSkillJSON], error) {
	skill, err := h.registry.Skill(ctx, actor.Tenant.ID, in.ref(), in.URI)
	if err != nil {
		return nil, err
	}
	return &response[shownSkillJSON]{Body: viewShownSkill(skill)}, nil
}

func (h *Handler) listChangesOfSkill(ctx context.Context, actor auth.Actor, in *skillHistoryInput) (*response[list[shownChangeJSON]], error) {
	page, err := h.registry.ToolHistory(ctx, actor.Tenant.ID, in.ref(), connectors.SkillTool(in.URI), in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewShownChange), nil
}

func (h *Handler) decideSkill(ctx context.Context, actor auth.Actor, in *skillVerdictInput, accept bool) (*response[shownSkillJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	hash, err := definitionHash(doc.Hash)
	if err != nil {
		return nil, err
	}
	skill, err := h.registry.DecideSkill(ctx, actor, in.ref(), in.URI, manage.ToolVerdict{Accept: accept, Hash: hash})
	if err != nil {
		return nil, err
	}
	return &response[shownSkillJSON]{Body: viewShownSkill(skill)}, nil
}

func (h *Handler) restoreSkill(ctx context.Context, actor auth.Actor, in *restoreSkillInput) (*response[shownSkillJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	hash, err := definitionHash(&doc.Hash)
	if err != nil {
		return nil, err
	}
	if err := h.registry.RestoreTool(ctx, actor, in.ref(), connectors.SkillTool(in.URI), *hash); err != nil {
		return nil, err
	}
	return h.getSkill(ctx, actor, &in.SkillPath)
}

func viewSkill(s connectors.Skill) SkillSummary {
	entry := connectors.DecodeSkill(s.Current.Raw)
	out := SkillSummary{
		URI: s.URI, Name: s.Name(), Description: entry.Description(), Review: string(s.Review), Hash: s.Current.Hash.String(),
		Files: len(entry.Files), Bytes: entry.Bytes(), FirstSeenAt: s.FirstSeenAt, ChangedAt: s.ChangedAt, RemovedAt: s.RemovedAt,
	}
	if s.Accepted != nil {
		out.Accepted = hashText(&s.Accepted.Hash)
	}
	return out
}

func viewShownSkill(s connectors.Skill) shownSkillJSON {
	out := shownSkillJSON{SkillSummary: viewSkill(s), Current: viewSkillDefinition(s.Current)}
	if s.Accepted != nil {
		out.Given = new(viewSkillDefinition(*s.Accepted))
	}
	return out
}

func viewSkillDefinition(d connectors.Definition) skillDefinitionJSON {
	entry := connectors.DecodeSkill(d.Raw)
	out := skillDefinitionJSON{Frontmatter: entry.Fields(), Files: make([]skillFileJSON, len(entry.Files))}
	for i, f := range entry.Files {
		out.Files[i] = skillFileJSON(f)
	}
	return out
}
