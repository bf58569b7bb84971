package archtest_test

import (
	"strings"
	"testing"
)

// limits are the rows of the table of limits in docs/operations.md, with the tests that show each, in the form of docs/security.md.
var limits = map[string]string{
	"requests of the JSON API":                                         "`internal/api` TestRateLimit_KeyGetsRetryAfter, TestATenantsKeysShareItsLimit",
	"requests without a sign-in or a key":                              "`internal/middleware` TestUnauthenticatedLimit_PerAddress, TestClientNetwork_IPv6Prefix, TestClientAddress_BehindTrustedProxy, TestUnauthenticatedLimit_PassesKnownCredentials; `cmd/server` TestUnauthenticated_RateLimitedAtEveryRoute",
	"requests of `/mcp/admin`, and what its tools ask of the JSON API": "`internal/mcpadmin` TestRateLimit_HasRetryAfter",
	"sign-ins that begin at a provider":                                "`internal/admin` TestSSOStart_IsRateLimitedByAddress",
	"wrong passwords, and codes of second factors":                     "`internal/auth` TestSignIn_EleventhFromAddressIsRefused, TestSignIn_ReplicasShareLimit, TestWrongCodesCountAsWrongPasswordsDo",
	"links of invitations that were never made":                        "`internal/auth` TestInvitation_UnknownTokensAreLimited",
	"passwords that are being checked":                                 "`internal/auth` TestHasher_BoundsWaiters",
	"tokens of agents that nobody knows":                               "`internal/gateway` TestUnknownTokens_AreLimitedPerAddress",
	"renewals of tokens at `/oauth/token`":                             "`internal/authserver` TestAProgramRenewsItsTokensSoOftenAMinute, TestGuessesTakeNothingOfAProgramsRenewals",
	"requests of the gateway, of any kind":                             "`internal/gateway` TestRateLimit_SetsRetryAfter, TestRateLimit_AddressIsSharedByTenant, TestRateLimit_FollowsAgentCallLimit, TestRateLimit_CountsBatchMessages, TestRateLimit_RefusesBatchWhileInDebt",
	"calls":                                                            "`internal/toolcall` TestLimit_RefusesTooManyCalls, TestLimit_SpansProcesses",
	"calls of a tool":                                                  "`internal/toolcall` TestQuota_DayLimitResetsNextDay, TestQuota_DayLimitSpansProcesses, TestQuota_DayCountSurvivesRestart; `internal/api` TestAToolsQuotaIsAnsweredWith429",
	"calls of all tools":                                               "`internal/toolcall` TestQuota_TenantDayLimit; `internal/auth` TestAnOwnersQuotaIsBelowTheOperators",
	"calls under way":                                                  "`internal/toolcall` TestCall_InFlightLimitPerAgent",
	"requests that wait for the database":                              "`internal/store` TestWaitQueue_RefusesWhenFull",
	"the same, with a token that the process has not seen":             "`internal/store` TestWaitQueue_RefusesWhenFull",
	"calls that wait for a person":                                     "`internal/toolcall` TestApproval_OpenCallsPerAgentAreBounded",
	"calls that wait for an account":                                   "`internal/store` TestRequestAccount_RefusesAboveMax",
	"requests that wait with the same state for an account":            "`internal/toolcall` TestAccount_SecondWaiterIsRateLimited",
	"tests of a connection under way":                                  "`internal/toolsync` TestProbe_LimitsProbesPerTenant",
	"looks for unused tools under way":                                 "`internal/agentview` TestUnused_GateIsPerTenant",
	"all of an agent's tools in one answer":                            "`internal/api` TestResponseGate_BoundsConcurrentResponses",
	"pages that hear news":                                             "`internal/admin` TestAPersonHasTenStreamsAtOnce, TestAProcessHasSoManyStreamsAtOnce",
	"a request's body":                                                 "`internal/api` TestBodiesHaveAtMostFourMebibytes; `internal/middleware` TestLimitBody",
	"a request's headers":                                              "`cmd/server` TestLongHead_IsRefused",
	"the head of a request":                                            "`cmd/server` TestSlowHead_ClosedAfterTimeout",
	"a client that sends or takes no byte":                             "`cmd/server` TestStalledBody_ClosedAfterTimeout, TestDeadlines_MoveWithReadsAndWrites",
	"a connection that asks for nothing":                               "`cmd/server` TestIdleConnection_ClosedAfterTimeout",
	"connectors; webhooks":                                             "`internal/manage` TestCreateConnector_EnforcesLimit; `internal/webhooks` TestCreate_LimitsWebhooksPerTenant",
	"a file of servers":                                                "`internal/clientconfig` TestRead_InvalidDocumentHasLine",
}

func TestEveryLimitOfTheTableIsShown(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(read(t, "../../docs/operations.md"), "\n## Limits\n")
	section, _, more := strings.Cut(section, "\n## ")
	if !ok || !more {
		t.Fatal("there is no section of limits")
	}
	told := map[string]bool{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[1]) == "what" {
			continue
		}
		what := strings.TrimSpace(cells[1])
		told[what] = true
		if limits[what] == "" {
			t.Errorf("no test shows the limit of %q: it needs a row here", what)
		}
	}
	if len(told) < 20 {
		t.Errorf("%d rows can be read", len(told))
	}
	for what, shown := range limits {
		if !told[what] {
			t.Errorf("the table does not tell of %q", what)
		}
		for part := range strings.SplitSeq(shown, "; ") {
			pkg := namedPackage.FindStringSubmatch(part)
			tests := namedTest.FindAllString(part, -1)
			if pkg == nil || len(tests) == 0 {
				t.Errorf("%q: %q is no package with its tests", what, part)
				continue
			}
			for _, name := range tests {
				if !hasTest(t, pkg[1], name) {
					t.Errorf("%q: there is no %s in %s", what, name, pkg[1])
				}
			}
		}
	}
}
