// Package settings serves the pages of a tenant's settings, single sign-on, API keys, webhooks, registries and the audit log.
package settings
