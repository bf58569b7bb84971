package archtest

import (
	"go/ast"
	"go/types"
	"slices"
)

// safely is the package that starts goroutines.
const safely = Module + "/internal/safe"

// callers are functions that call a function of ours in a goroutine of their own, and which argument it is.
var callers = []struct {
	path, name string
	argument   int
}{
	{"time", "AfterFunc", 1},
	{"context", "AfterFunc", 1},
	{"runtime", "AddCleanup", 1},
	{"runtime", "SetFinalizer", 1},
	{"github.com/prometheus/client_golang/prometheus", "NewCounterFunc", 1}, // of each scrape
	{"github.com/prometheus/client_golang/prometheus", "NewGaugeFunc", 1},
	{"github.com/prometheus/client_golang/prometheus", "NewUntypedFunc", 1},
	{"github.com/riverqueue/river", "NewPeriodicJob", 1},
}

// callerMethods are likewise methods, with how many arguments they have. The function is the last one.
var callerMethods = map[string]int{"Go": 1, "TryGo": 1, "DoChan": 2, "RegisterOnShutdown": 1}

// hooks are fields of libraries' types whose functions are called in goroutines that do not recover: of net, net/http, pgxpool and pgconn.
var hooks = []string{
	"Control", "ControlContext", "DialContext", "DialTLSContext", "ConnContext", "ConnState",
	"AfterConnect", "BeforeConnect", "BeforeAcquire", "PrepareConn", "AfterRelease", "BeforeClose", "OnNotice", "OnNotification",
}

// declared is what the files of one package declare.
type declared struct {
	functions map[string]bool // whether it recovers
	methods   map[string]bool // by "type.name" likewise; by name whether those of all types do
	fields    map[string]bool
}

func declarations(files ...*ast.File) declared {
	d := declared{functions: map[string]bool{}, methods: map[string]bool{}, fields: map[string]bool{}}
	for _, file := range files {
		s := scan{file: file}
		local := s.localName(safely)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				recovers := beginsWithRecover(local, n.Body)
				if n.Recv == nil {
					d.functions[n.Name.Name] = recovers
					break
				}
				known, again := d.methods[n.Name.Name]
				d.methods[n.Name.Name] = recovers && (known || !again)
				d.methods[receiver(n)+"."+n.Name.Name] = recovers
			case *ast.StructType:
				for _, f := range n.Fields.List {
					for _, name := range f.Names {
						d.fields[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return d
}

// beginsWithRecover reports whether the first statement of a function is the deferred recover of package safe. What is deferred before it
// would run after it, and could panic.
func beginsWithRecover(local string, body *ast.BlockStmt) bool {
	if local == "" || body == nil || len(body.List) == 0 {
		return false
	}
	d, ok := body.List[0].(*ast.DeferStmt)
	return ok && (isSelector(d.Call.Fun, local, "Recover") || isSelector(d.Call.Fun, local, "RecoverTo"))
}

// goroutines refuses a goroutine, a timer or a library's callback whose panic would end the process.
func (s *scan) goroutines(room string, of declared) {
	if Module+"/"+room == safely {
		return
	}
	for _, f := range callers {
		if s.localName(f.path) == "." {
			s.complain(s.file.Package, "%s is imported without a name, so that its calls are not seen", f.path)
		}
	}
	for _, d := range s.file.Decls {
		c := callbacks{scan: s, local: s.localName(safely), declared: of, called: map[ast.Node]bool{}}
		if f, ok := d.(*ast.FuncDecl); ok {
			c.within = f
			c.collector(f)
		}
		ast.Inspect(d, c.judge)
	}
}

// callbacks judges the functions that one declaration passes to others.
type callbacks struct {
	*scan
	declared

	local  string        // what the file calls package safe; empty: it does not import it
	within *ast.FuncDecl // nil: outside of functions
	called map[ast.Node]bool
}

func (c *callbacks) judge(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.complain(n.Pos(), "a goroutine is started by safe.Go, so that its panic does not end the process")
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
			c.call(n, sel)
		}
	case *ast.SelectorExpr:
		for _, f := range callers {
			if !c.called[n] && isSelector(n, c.localName(f.path), f.name) {
				c.complain(n.Pos(), "%s.%s is called where it is named", f.path, f.name)
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			c.hook(key, n.Value)
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if sel, ok := to.(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) {
				c.hook(sel.Sel, n.Rhs[i])
			}
		}
	}
	return true
}

// call judges one call by its arguments.
func (c *callbacks) call(n *ast.CallExpr, sel *ast.SelectorExpr) {
	if c.local != "" && isSelector(sel, c.local, sel.Sel.Name) {
		c.seen.safe++
		return
	}
	for _, f := range callers {
		if isSelector(sel, c.localName(f.path), f.name) && len(n.Args) > f.argument {
			c.called[sel] = true
			c.demand(n.Args[f.argument], sel.Sel)
			return
		}
	}
	if arguments, ok := callerMethods[sel.Sel.Name]; ok && len(n.Args) == arguments {
		c.demand(n.Args[arguments-1], sel.Sel)
	}
}

func (c *callbacks) hook(field *ast.Ident, f ast.Expr) {
	if slices.Contains(hooks, field.Name) {
		c.demand(f, field)
	}
}

func (c *callbacks) demand(f ast.Expr, by *ast.Ident) {
	c.seen.callbacks++
	if !c.recovers(f) {
		c.complain(by.Pos(), "%s calls a function that does not recover: use package safe", by.Name)
	}
}

// recovers reports whether a function is wrapped by package safe, begins with its Recover, or is a context's cancel function.
func (c *callbacks) recovers(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.CallExpr:
		return isSelector(f.Fun, c.local, "Func") || isSelector(f.Fun, c.local, "Try")
	case *ast.FuncLit:
		return beginsWithRecover(c.local, f.Body)
	case *ast.Ident:
		assigned, all := c.assigned(f)
		return f.Name == "nil" || all || !assigned && !c.isLocal(f.Name) && c.functions[f.Name]
	case *ast.SelectorExpr:
		assigned, all := c.assigned(f)
		return all || !assigned && c.methodRecovers(f)
	}
	return false
}

// methodRecovers reports whether the method of a value recovers, where nothing else of that name can be meant.
func (c *callbacks) methodRecovers(f *ast.SelectorExpr) bool {
	if id, ok := f.X.(*ast.Ident); ok && c.within != nil && c.within.Recv != nil && len(c.within.Recv.List[0].Names) == 1 &&
		c.within.Recv.List[0].Names[0].Name == id.Name {
		if recovers, ok := c.methods[receiver(c.within)+"."+f.Sel.Name]; ok {
			return recovers
		}
	}
	return !c.fields[f.Sel.Name] && !c.isImport(f.X) && c.methods[f.Sel.Name]
}

// receiver names the type of a method's receiver.
func receiver(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return types.ExprString(of)
}

// assigned reports whether the function around gives a variable or a field a value, and whether all of those recover.
func (c *callbacks) assigned(to ast.Expr) (assigned, all bool) {
	if c.within == nil {
		return false, false
	}
	all = true
	ast.Inspect(c.within, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, left := range a.Lhs {
			if types.ExprString(left) != types.ExprString(to) {
				continue
			}
			assigned = true
			switch {
			case len(a.Lhs) == 2 && len(a.Rhs) == 1:
				all = all && i == 1 && c.makesCancel(a.Rhs[0])
			case len(a.Lhs) == len(a.Rhs):
				lit, _ := a.Rhs[i].(*ast.FuncLit)
				all = all && (lit != nil && beginsWithRecover(c.local, lit.Body) || isSelector(callee(a.Rhs[i]), c.local, "Func"))
			default:
				all = false
			}
		}
		return true
	})
	return assigned, assigned && all
}

// makesCancel reports whether a call returns a context and its cancel function.
func (c *callbacks) makesCancel(e ast.Expr) bool {
	context := c.localName("context")
	return slices.ContainsFunc([]string{"WithCancel", "WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"}, func(name string) bool {
		return isSelector(callee(e), context, name)
	})
}

func callee(e ast.Expr) ast.Node {
	if call, ok := e.(*ast.CallExpr); ok {
		return call.Fun
	}
	return nil
}

// isLocal reports whether the function around has a parameter or a declared variable of that name.
func (c *callbacks) isLocal(name string) (is bool) {
	if c.within == nil {
		return false
	}
	ast.Inspect(c.within, func(n ast.Node) bool {
		var names []*ast.Ident
		switch n := n.(type) {
		case *ast.Field:
			names = n.Names
		case *ast.ValueSpec:
			names = n.Names
		}
		is = is || slices.ContainsFunc(names, func(id *ast.Ident) bool { return id.Name == name })
		return true
	})
	return is
}

func (c *callbacks) isImport(of ast.Expr) bool {
	id, ok := of.(*ast.Ident)
	return ok && slices.ContainsFunc(c.file.Imports, func(spec *ast.ImportSpec) bool {
		return c.localName(importPath(spec)) == id.Name
	})
}

// collector refuses a collector of metrics whose panic would fail the whole scrape.
func (c *callbacks) collector(f *ast.FuncDecl) {
	prometheus := c.localName("github.com/prometheus/client_golang/prometheus")
	if f.Recv == nil || f.Name.Name != "Collect" || len(f.Type.Params.List) != 1 {
		return
	}
	if ch, ok := f.Type.Params.List[0].Type.(*ast.ChanType); ok && isSelector(ch.Value, prometheus, "Metric") {
		c.seen.callbacks++
		if !beginsWithRecover(c.local, f.Body) {
			c.complain(f.Pos(), "Collect begins with safe.Recover: the registry calls it in a goroutine of its own")
		}
	}
}
