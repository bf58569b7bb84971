package operator

// TenantCommands are those of tenants.
type TenantCommands struct {
	Create tenantCreateCommand `cmd:"" help:"Make a tenant and print its slug."`
	Limit  tenantLimitCommand  `cmd:"" help:"Say how many tools a tenant's agents may call at most."`
	Delete tenantDeleteCommand `cmd:"" help:"Delete a tenant, all that is its own, and the key that opens its secrets."`
}

// UserCommands are those of people.
type UserCommands struct {
	Create       userCreateCommand       `cmd:"" help:"Make a person a member of a tenant."`
	ForgetFactor userForgetFactorCommand `cmd:"" name:"forget-factor" help:"Remove a member's lost second factor."`
}

// APIKeyCommands are those of API keys.
type APIKeyCommands struct {
	Create apikeyCreateCommand `cmd:"" help:"Make an API key and print it, once."`
}

// SSOCommands are those of single sign-on.
type SSOCommands struct {
	VerifyDomain  ssoVerifyDomainCommand  `cmd:"" name:"verify-domain" help:"Say that an e-mail domain is a tenant's."`
	ReleaseDomain ssoReleaseDomainCommand `cmd:"" name:"release-domain" help:"Take an e-mail domain from a tenant."`
}

// KeysCommands are those of the keys that seal secrets.
type KeysCommands struct {
	New    keysNewCommand    `cmd:"" help:"Print a new value for PATCHBAY_KEYSET."`
	Rotate keysRotateCommand `cmd:"" help:"Replace the key that seals stored secrets, while servers go on serving."`
	Rewrap keysRewrapCommand `cmd:"" help:"Move from one PATCHBAY_KEYSET to another, as into a KMS."`
}

// AuditCommands are those of the audit log.
type AuditCommands struct {
	Verify auditVerifyCommand   `cmd:"" help:"Compute the chains of the audit logs anew, and tell whether every entry is as it was recorded."`
	Cut    auditTruncateCommand `cmd:"" help:"Remove the months of the audit logs that are old enough, and sign what is gone."`
	Export auditExportCommand   `cmd:"" help:"Write a tenant's audit log to a file, with a signature."`
}
