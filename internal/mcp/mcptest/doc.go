// Package mcptest is a scripted MCP server for tests: it behaves well by default, and as badly as a test asks.
//
//	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(20), Stream: true})
//	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": mcptest.Hang}})
//
// It keeps every call that it received, so that a test can say what was sent. It is for tests only.
package mcptest
