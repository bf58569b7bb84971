// Package ajv decides whether Ajv compiles a JSON Schema.
//
// The TypeScript SDK v1 compiles the output schemas of a tool list with Ajv 8 (draft-07, strict: false), and
// refuses the list if one fails. The decision is conservative: an accepted schema compiles; a refused one may
// compile too.
package ajv
