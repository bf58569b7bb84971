package archtest

import (
	"go/ast"
	"go/types"
	"slices"
)

// harmless are functions that do not panic, whatever they are called with: builtins, clocks, atomic values, timers and flags.
var harmless = []string{
	"append", "cap", "clear", "close", "copy", "delete", "len", "make", "max", "min", "new",
	"time.Now", "time.Since", "time.Until",
	"bool", "byte", "int", "int32", "int64", "string", "uint32", "uint64", "float64",
}

// harmlessMethods are likewise methods: of time.Time, time.Timer, sync/atomic and sync.Cond.
var harmlessMethods = []string{"Add", "After", "Before", "Broadcast", "CompareAndSwap", "IsZero", "Load", "Signal", "Stop", "Store", "Sub"}

// checkMutexes refuses a call between the Lock of a mutex and its Unlock, unless the Unlock is deferred.
func (s *scan) checkMutexes() {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		h := holder{scan: s, function: f.Name.Name}
		h.walkStatements(f.Body.List, nil)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				h.walkStatements(lit.Body.List, nil)
			}
			return true
		})
	}
}

// holder follows one function. A set of held mutexes is a list of expressions, such as "c.mu".
type holder struct {
	*scan
	function string
}

// walkStatements follows statements with the mutexes that are held before them, and returns those that are held after them.
func (h *holder) walkStatements(list []ast.Stmt, held []string) []string {
	for _, stmt := range list {
		held = h.stepOver(stmt, held)
	}
	return held
}

func (h *holder) stepOver(stmt ast.Stmt, held []string) []string {
	switch stmt := stmt.(type) {
	case *ast.ExprStmt:
		if mutex, name := mutexCall(stmt.X); mutex != "" {
			h.seen.mutexes++
			if name == "Lock" || name == "RLock" {
				return append(slices.Clone(held), mutex)
			}
			return withoutMutex(held, mutex)
		}
	case *ast.DeferStmt:
		for mutex := range deferredUnlocks(stmt) {
			held = withoutMutex(held, mutex)
		}
	case *ast.BlockStmt:
		return h.walkStatements(stmt.List, held)
	case *ast.LabeledStmt:
		return h.stepOver(stmt.Stmt, held)
	}
	if len(held) > 0 {
		h.refuseCalls(stmt, held)
	}
	return h.followBranches(stmt, held)
}

// followBranches follows the bodies of a statement. A body that does not end in return or break may leave a mutex held.
func (h *holder) followBranches(stmt ast.Stmt, held []string) []string {
	after := held
	for _, body := range innerBlocks(stmt) {
		left := h.walkStatements(body, held)
		if !endsInJump(body) {
			for _, mutex := range left {
				if !slices.Contains(after, mutex) {
					after = append(slices.Clone(after), mutex)
				}
			}
		}
	}
	return after
}

// refuseCalls complains of the calls of a statement outside of its bodies.
func (h *holder) refuseCalls(stmt ast.Stmt, held []string) {
	inner := innerBlocks(stmt)
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case ast.Stmt:
			if slices.ContainsFunc(inner, func(body []ast.Stmt) bool { return slices.Contains(body, n) }) {
				return false
			}
		case *ast.CallExpr:
			if mutex, _ := mutexCall(n); mutex == "" && !isHarmless(n.Fun) {
				h.complain(n.Pos(), "%s calls %s with %s locked, and its Unlock is not deferred: a panic would leave it locked",
					h.function, types.ExprString(n.Fun), held[0])
			}
		}
		return true
	})
}

// innerBlocks are the blocks of a statement.
func innerBlocks(stmt ast.Stmt) (all [][]ast.Stmt) {
	switch stmt := stmt.(type) {
	case *ast.IfStmt:
		all = append(all, stmt.Body.List)
		if stmt.Else != nil {
			all = append(all, []ast.Stmt{stmt.Else})
		}
	case *ast.ForStmt:
		all = append(all, stmt.Body.List)
	case *ast.RangeStmt:
		all = append(all, stmt.Body.List)
	case *ast.SwitchStmt:
		return clauseBodies(stmt.Body)
	case *ast.TypeSwitchStmt:
		return clauseBodies(stmt.Body)
	case *ast.SelectStmt:
		return clauseBodies(stmt.Body)
	}
	return all
}

func clauseBodies(body *ast.BlockStmt) (all [][]ast.Stmt) {
	for _, clause := range body.List {
		switch clause := clause.(type) {
		case *ast.CaseClause:
			all = append(all, clause.Body)
		case *ast.CommClause:
			all = append(all, clause.Body)
		}
	}
	return all
}

// endsInJump reports whether a block ends in a statement after which nothing of the function follows in order.
func endsInJump(body []ast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch body[len(body)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// mutexCall returns the mutex that a call locks or unlocks, and the method; "": it is another call.
func mutexCall(e ast.Expr) (mutex, method string) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return "", ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Lock", "RLock", "Unlock", "RUnlock"}, sel.Sel.Name) {
		return "", ""
	}
	return types.ExprString(sel.X), sel.Sel.Name
}

// deferredUnlocks are the mutexes that a deferred call unlocks, by itself or in a function literal.
func deferredUnlocks(d *ast.DeferStmt) map[string]bool {
	all := map[string]bool{}
	ast.Inspect(d.Call, func(n ast.Node) bool {
		if e, ok := n.(*ast.CallExpr); ok {
			if mutex, name := mutexCall(e); name == "Unlock" || name == "RUnlock" {
				all[mutex] = true
			}
		}
		return true
	})
	return all
}

func withoutMutex(held []string, mutex string) []string {
	return slices.DeleteFunc(slices.Clone(held), func(m string) bool { return m == mutex })
}

// isHarmless reports whether a function cannot panic, or is a conversion to a type that is written out.
func isHarmless(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ParenExpr:
		return true
	case *ast.SelectorExpr:
		return slices.Contains(harmless, types.ExprString(f)) || slices.Contains(harmlessMethods, f.Sel.Name)
	}
	return slices.Contains(harmless, types.ExprString(f))
}
