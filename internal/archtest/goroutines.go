package archtest

import (
	"go/ast"
	"slices"
)

// safely is the package that starts goroutines.
const safely = Module + "/internal/safe"

// recovering are functions that timers and contexts call as they are: a context's cancel function, or one that defers safe.Recover.
var recovering = []string{"cancel", "stop", "end", "ends", "strike", "breathe", "forget", "sweepIdle", "yield"}

// goroutines refuses a goroutine or a timer whose panic would end the process.
func (s *scan) goroutines(room string) {
	if Module+"/"+room == safely {
		return
	}
	local := s.localName(safely)
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.complain(n.Pos(), "a goroutine is started by safe.Go, so that its panic does not end the process")
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 {
				break
			}
			if local != "" && isSelector(sel, local, sel.Sel.Name) {
				s.seen.safe++
				break
			}
			last := n.Args[len(n.Args)-1]
			timer := isSelector(sel, s.localName("time"), "AfterFunc") || isSelector(sel, s.localName("context"), "AfterFunc")
			group := sel.Sel.Name == "Go" && len(n.Args) == 1
			flight := sel.Sel.Name == "DoChan" && len(n.Args) == 2
			if (timer || group || flight) && !s.recovers(local, last, timer) {
				s.complain(n.Pos(), "%s calls a function that does not recover: use package safe", sel.Sel.Name)
			}
		}
		return true
	})
}

// recovers reports whether a function is wrapped by package safe, or defers its Recover first. named: those of recovering do, too.
func (s *scan) recovers(local string, f ast.Expr, named bool) bool {
	switch f := f.(type) {
	case *ast.CallExpr:
		return isSelector(f.Fun, local, "Func") || isSelector(f.Fun, local, "Try")
	case *ast.FuncLit:
		return slices.ContainsFunc(f.Body.List, func(stmt ast.Stmt) bool {
			d, ok := stmt.(*ast.DeferStmt)
			return ok && (isSelector(d.Call.Fun, local, "Recover") || isSelector(d.Call.Fun, local, "RecoverTo"))
		})
	case *ast.Ident:
		return named && slices.Contains(recovering, f.Name)
	case *ast.SelectorExpr:
		return named && slices.Contains(recovering, f.Sel.Name)
	}
	return false
}
