package settings

import (
	"patchbay/internal/admin/shell"
	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/manage"
	"patchbay/internal/publicregistry"
	"patchbay/internal/scim"
	"patchbay/internal/sso"
	"patchbay/internal/webhooks"
)

// Handler serves the pages of settings, webhooks, registries, API keys, single sign-on and the audit log. All fields are required.
type Handler struct {
	*shell.Shell

	Auth         *auth.Service
	AuditStreams *auditstreams.Service
	Connect      *connect.Broker
	Registries   *publicregistry.Service
	SCIM         *scim.Service
	Registry     *manage.Registry
	SSO          *sso.Service
	Version      string // of the program
	Webhooks     *webhooks.Post
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Admins.Get(shell.FilePrefix+"/webhooks/{id}", h.deliveryFile)
	r.Admins.Get(shell.FilePrefix+"/webhooks", h.webhookFile)
	r.Admins.Get("/webhooks", h.webhookList)
	r.Admins.Post("/webhooks", h.webhookCreate)
	r.Admins.Get("/webhooks/new", h.webhookNew)
	r.Admins.Get("/webhooks/{id}", h.webhookShow)
	r.Admins.Post("/webhooks/{id}", h.webhookSave)
	r.Admins.Post("/webhooks/{id}/test", h.webhookTest)
	r.Admins.Post("/webhooks/{id}/rotate", h.webhookRotate)
	r.Admins.Post("/webhooks/{id}/delete", h.webhookDelete)
	r.Admins.Post("/webhooks/{id}/deliveries/{delivery}/redeliver", h.webhookRedeliver)
	r.Admins.Get(shell.FilePrefix+"/registries", h.registryFile)
	r.Admins.Get("/registries", h.registryList)
	r.Admins.Post("/registries", h.registryCreate)
	r.Admins.Get("/registries/new", h.registryNew)
	r.Admins.Get("/registries/{id}", h.registryShow)
	r.Admins.Post("/registries/{id}", h.registrySave)
	r.Admins.Post("/registries/{id}/rotate", h.registryRotate)
	r.Admins.Post("/registries/{id}/delete", h.registryDelete)
	r.Admins.Get("/audit/streams", h.auditStreamList)
	r.Admins.Post("/audit/streams", h.auditStreamCreate)
	r.Admins.Get("/audit/streams/{id}", h.auditStreamShow)
	r.Admins.Post("/audit/streams/{id}", h.auditStreamSave)
	r.Admins.Post("/audit/streams/{id}/test", h.auditStreamTest)
	r.Admins.Post("/audit/streams/{id}/delete", h.auditStreamDelete)
	r.Auditors.Get("/audit", h.auditList)
	r.Auditors.Post("/audit/verify", h.auditVerify)
	r.Auditors.Get("/audit/export.jsonl", h.auditExport)
	r.Auditors.Get("/audit/export.sig", h.auditSignature)
	r.Auditors.Get(shell.FilePrefix+"/audit", h.auditFile)
	r.Owners.Get("/api-keys", h.keyList)
	r.Owners.Post("/api-keys", h.keyCreate)
	r.Owners.Post("/api-keys/{id}/revoke", h.keyRevoke)
	r.Owners.Get(shell.FilePrefix+"/api-keys", h.keyFile)
	r.Owners.Get("/settings", h.settingsShow)
	r.Owners.PostUnless("/settings", h.onlyRenames, h.settingsSave)
	r.Owners.Get("/settings/sso", h.ssoShow)
	r.Owners.Post("/settings/sso", h.ssoSave)
	r.Owners.Post("/settings/sso/test", h.ssoTest)
	r.Owners.Post("/settings/sso/delete", h.ssoForget)
	r.Owners.Post("/settings/sso/domains", h.ssoClaim)
	r.Owners.Post("/settings/sso/domains/verify", h.ssoVerify)
	r.Owners.Post("/settings/sso/domains/release", h.ssoRelease)
	r.Owners.Get("/settings/scim", h.scimShow)
	r.Owners.Post("/settings/scim", h.scimEnable)
	r.Owners.Post("/settings/scim/rotate", h.scimRotate)
	r.Owners.Post("/settings/scim/disable", h.scimDisable)
}
