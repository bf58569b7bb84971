// Command tasks is an MCP server of 2026-07-28 with the tools that the tasks scenarios of the official conformance suite
// call (SEP-2663), and a skill. It stands behind Patchbay's gateway in conformance/run. Tasks live in memory.
//
//	tasks -http 127.0.0.1:8000
package main
