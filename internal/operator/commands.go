package operator

// TenantCommands are those of tenants.
type TenantCommands struct {
	Create tenantCreateCommand `cmd:"" help:"Create a tenant and print its slug."`
	Limit  tenantLimitCommand  `cmd:"" help:"Set or print a tenant's tool call limits."`
	Delete tenantDeleteCommand `cmd:"" help:"Delete a tenant, its data and its encryption key."`
}

// UserCommands are those of people.
type UserCommands struct {
	Create       userCreateCommand       `cmd:"" help:"Create a user, or add one to a tenant."`
	ForgetFactor userForgetFactorCommand `cmd:"" name:"forget-factor" help:"Remove a member's second factor."`
}

// APIKeyCommands are those of API keys.
type APIKeyCommands struct {
	Create apikeyCreateCommand `cmd:"" help:"Create an API key and print it once."`
}

// SSOCommands are those of single sign-on.
type SSOCommands struct {
	VerifyDomain  ssoVerifyDomainCommand  `cmd:"" name:"verify-domain" help:"Verify an email domain for a tenant."`
	ReleaseDomain ssoReleaseDomainCommand `cmd:"" name:"release-domain" help:"Release a tenant's email domain."`
}

// KeysCommands are those of the keys that seal secrets.
type KeysCommands struct {
	New    keysNewCommand    `cmd:"" help:"Print a new value for PATCHBAY_KEYSET."`
	Rotate keysRotateCommand `cmd:"" help:"Rotate encryption keys without downtime."`
	Rewrap keysRewrapCommand `cmd:"" help:"Move to another PATCHBAY_KEYSET, such as a KMS."`
}

// AuditCommands are those of the audit log.
type AuditCommands struct {
	Verify auditVerifyCommand   `cmd:"" help:"Verify the audit logs' hash chains."`
	Cut    auditTruncateCommand `cmd:"" help:"Remove old months of the audit logs and sign the removal."`
	Export auditExportCommand   `cmd:"" help:"Export a tenant's audit log with a signature."`
}
