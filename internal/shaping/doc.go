// Package shaping shortens results of tools for models, and reads what was left out. It is pure.
//
//	Rule.Shape ─► fields (a jq filter) ─► budget (fit.go) ─► head, one sentence with counts, resource link (notice.go)
//	Read       ─► a part of the original result by jq, by lines that match a pattern, or by bytes (read.go)
//
// Nothing is shortened that could not be read back: the caller keeps the original result, and Read returns any of its bytes.
//
// Texts and structured content are shortened. The budget holds for all texts together, and for the structured content
// alone, because a client shows a model one of both. It also holds for all links together: the others are left out, and so are
// blocks after the first 1,000. Images, audio and files stay whole: their size in a model's context is not that of their bytes.
// An error stays whole up to [ErrorBudget]. With two members of one name, a block or a result stays whole, because readers differ
// in which of both they take.
//
// JSON stays valid: of an array the first rows stay, and a member of an object that is too long is shortened within. Of
// other text the first lines stay. Tokens are estimated with toolfmt.Tokens.
package shaping
