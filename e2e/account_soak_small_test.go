//go:build e2e && !soak

package e2e_test

// Size of TestAccounts_NoCallUsesAnother in each run of the tests.
const (
	soakCalls     = 2_000
	soakKills     = 3  // each replica once
	soakOAuthEach = 10 // one of so many agents has OAuth accounts of its own
)
