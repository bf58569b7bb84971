// Package connectors holds the words and the rules of the product, and nothing else: no I/O, no clock, no randomness.
//
//	Tenant ─┬─ Connector ─┬─ Tool          what the upstream offers: a definition, byte for byte, and its dates
//	        │             ├─ Credential    how we authenticate: one shared, or one per agent; never its secret
//	        │             └─ SyncRun       one attempt to read the tool list
//	        ├─ Agent                       who uses the tools
//	        ├─ Member                      a person with a role in this tenant
//	        └─ APIKey                      a program with a role in this tenant
//
// What belongs here: typed ids and states, which input is legal ([Draft.Validate]), how two tool lists differ
// ([Diff]), how a tool is named towards agents ([ExposedNames]). What does not: anything that needs a context.Context.
package connectors
