// Package ajv judges whether Ajv compiles a JSON Schema.
//
// The client of the TypeScript SDK v1 compiles the output schemas of all tools with Ajv 8 (draft-07, strict: false) when it reads a tool
// list, and refuses the list where one does not compile. The judgement is on the safe side: a schema that it accepts compiles; one that it
// refuses may compile all the same.
package ajv
