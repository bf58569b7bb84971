package archtest

import (
	"go/ast"
	"slices"
)

// calls is the package whose orders and queries are put on record as calls.
const calls = Module + "/internal/toolcall"

// orders refuses a call that does not say which request brings it: it would be on record without an address.
func (s *scan) orders() {
	local := s.localName(calls)
	ast.Inspect(s.file, func(n ast.Node) bool {
		made, ok := n.(*ast.CompositeLit)
		if !ok || len(made.Elts) == 0 || !isSelector(made.Type, local, "CallRequest") && !isSelector(made.Type, local, "UpstreamRequest") {
			return true
		}
		s.seen.orders++
		if !slices.ContainsFunc(made.Elts, saysFrom) {
			s.complain(made.Pos(), "a call says where it comes from: Origin")
		}
		return true
	})
}

func saysFrom(e ast.Expr) bool {
	pair, ok := e.(*ast.KeyValueExpr)
	if !ok {
		return false
	}
	key, ok := pair.Key.(*ast.Ident)
	return ok && key.Name == "Origin"
}
