// Package access keeps in memory what each agent may see and call, so that a request at the gateway asks the database nothing.
//
//	token's text ──sha256──► token ──► seat of the agent ──► View: connectors, tools, prompts, resources, whole lists ready to send
//	                                      ▲
//	notices of the database (Keeper.Hear) ┘ drop what is not true any more
//
// A [View] never changes: it is loaded whole, by one flight for all who wait, and is dropped whole. What makes that safe:
//
//  1. every change that matters says so on a channel of the database, in the transaction that makes it (db/migrations/00009)
//  2. a load that met such a notice on its way is repeated
//  3. while nobody listens, nothing is trusted for longer than a second ([Keeper.Connected])
//
// so that a revoked token and a taken grant are out within a second, in every process. Definitions and lists are shared between the
// agents that have the same.
//
// What it is not for: whose credential a call carries (package credentials), and whether a call goes ahead (package toolcall).
package access
