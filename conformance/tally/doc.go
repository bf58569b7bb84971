// Command tally counts what of a revision of MCP passed in a run of the official conformance suite, and fails where that is too little.
//
//	tally RESULTS REQUIREMENTS client|server LEAST
//
// RESULTS is the directory that the suite wrote into, REQUIREMENTS the suite's own list of what the revision requires (a file of its
// package), LEAST how many scenarios of that list have to pass. A scenario passes where the suite looked at something and found neither a
// failure nor a warning; one that did not run does not pass. What the list does not score is not counted.
//
// Use conformance/run, which starts everything.
package main
