package archtest_test

import (
	"strings"
	"testing"
)

// limits are the rows of the table of limits in docs/operations.md, with the tests that show each, in the form of docs/security.md.
var limits = map[string]string{
	"requests of the JSON API":                                         "`internal/api` TestAnAPIKeyThatAsksTooOftenIsToldWhenToComeAgain, TestATenantsKeysShareItsLimit",
	"requests without a sign-in or a key":                              "`internal/middleware` TestAnAddressThatIsNotSignedInMayAskSoOften, TestAnIPv6NetworkIsOneAddress, TestBehindATrustedProxyTheAddressIsWhatItSays, TestWhoeverIsSignedInIsLetThroughWhateverElseComesFromTheirAddress; `cmd/server` TestWhoeverIsNotSignedInMayAskSoOftenAtEveryDoor",
	"requests of `/mcp/admin`, and what its tools ask of the JSON API": "`internal/mcpadmin` TestAnAssistantThatAsksTooOftenIsToldWhenToComeAgain",
	"sign-ins that begin at a provider":                                "`internal/admin` TestSoManySignInsBeginFromAnAddress",
	"wrong passwords, and codes of second factors":                     "`internal/auth` TestEleventhAttemptFromAnAddressIsRefusedForEveryAccount, TestReplicasTogetherCheckNoMoreThanTenGuesses, TestWrongCodesCountAsWrongPasswordsDo",
	"links of invitations that were never made":                        "`internal/auth` TestTokensThatWereNeverMadeAreCountedByAddress",
	"passwords that are being checked":                                 "`internal/auth` TestSixtyFourPasswordsWaitToBeCheckedAndNoMore",
	"tokens of agents that nobody knows":                               "`internal/gateway` TestAnAddressThatTriesTokensIsMadeToWait",
	"renewals of tokens at `/oauth/token`":                             "`internal/authserver` TestAProgramRenewsItsTokensSoOftenAMinute, TestGuessesTakeNothingOfAProgramsRenewals",
	"requests of the gateway, of any kind":                             "`internal/gateway` TestAnAgentThatAsksTooOftenIsToldWhenToComeAgain, TestATenantsAgentsShareTheirAddress, TestAnAgentThatMayCallMoreMayAskMore, TestEachMessageOfABatchIsARequest, TestABatchOfWhoOwesForAnotherIsRefusedWhole",
	"calls":                                                            "`internal/toolcall` TestTooManyCallsAreRefused, TestALimitIsForAllProcessesTogether",
	"calls of a tool":                                                  "`internal/toolcall` TestAToolIsCalledSoOftenADayAndGoesOnTheNextDay, TestADaysQuotaIsForAllProcessesTogether, TestADaysQuotaGoesOnAfterARestart; `internal/api` TestAToolsQuotaIsAnsweredWith429",
	"calls of all tools":                                               "`internal/toolcall` TestATenantsCallsStayBelowWhatTheOperatorAllows; `internal/auth` TestAnOwnersQuotaIsBelowTheOperators",
	"calls under way":                                                  "`internal/toolcall` TestAnAgentHasSoManyCallsUnderWay",
	"requests that wait for the database":                              "`internal/store` TestWaitQueue_RefusesWhenFull",
	"the same, with a token that the process has not seen":             "`internal/store` TestWaitQueue_RefusesWhenFull",
	"calls that wait for a person":                                     "`internal/toolcall` TestAnAgentAsksAboutSoManyCalls",
	"calls that wait for an account":                                   "`internal/store` TestAnAgentHasSoManyRequestsForAccountsOpen",
	"requests that wait with the same state for an account":            "`internal/toolcall` TestOneRequestWaitsForAnAccountAndASecondIsToldToComeBack",
	"tests of a connection under way":                                  "`internal/toolsync` TestFewProbesOfATenantRunAtOnce",
	"looks for unused tools under way":                                 "`internal/access` TestATenantsLooksForUnusedToolsAreInNobodyElsesWay",
	"all of an agent's tools in one answer":                            "`internal/api` TestOnlyAFewAnswersOfAllAnAgentsToolsAreMadeAtOnce",
	"pages that hear news":                                             "`internal/admin` TestAPersonHasTenStreamsAtOnce, TestAProcessHasSoManyStreamsAtOnce",
	"a request's body":                                                 "`internal/api` TestBodiesHaveAtMostFourMebibytes; `internal/middleware` TestBodiesAreLimited",
	"a request's headers":                                              "`cmd/server` TestAHeadThatIsTooLongIsRefused",
	"the head of a request":                                            "`cmd/server` TestAHeadThatDripsIsNotWaitedFor",
	"a client that sends or takes no byte":                             "`cmd/server` TestABodyThatStallsIsNotWaitedFor, TestDeadlinesMoveWithEachReadAndWrite",
	"a connection that asks for nothing":                               "`cmd/server` TestAConnectionThatAsksForNothingIsClosed",
	"connectors; webhooks":                                             "`internal/registry` TestATenantHasOnlySoManyConnectors; `internal/webhooks` TestATenantHasTwentyWebhooks",
	"a file of servers":                                                "`internal/mcpjson` TestWhatIsNoDocumentIsRefusedWithItsLine",
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
