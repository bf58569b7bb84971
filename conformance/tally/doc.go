// Command tally counts the passed scenarios of an MCP revision in a run of the official conformance suite, and
// fails if there are too few.
//
//	tally RESULTS REQUIREMENTS client|server LEAST [EXPECTED]
//
// RESULTS is the suite's output directory. REQUIREMENTS is the suite's own list for the revision (a file of its
// package). LEAST is the number of its scenarios that must pass. A scenario passes if it has checks, no failure
// and no warning. One that did not run does not pass. Other scenarios are not counted.
//
// EXPECTED lists checks that need not pass, as scenario:check, in the form of REQUIREMENTS.
// conformance/run starts everything.
package main
