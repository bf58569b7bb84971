package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const (
	storePath = Module + "/internal/store"
	dbgenPath = storePath + "/dbgen"
)

// writingSQL matches statements that write or lock: they belong to a transaction that is no snapshot.
var writingSQL = regexp.MustCompile(`(?i)\b(insert into|delete from|update \w+\s+set|for (no key )?(update|share)|for key share|pg_advisory\w*|nextval|set_config)\b`)

// handleMethod matches the methods of the store's entry points to rows, and of their parts.
var handleMethod = regexp.MustCompile(`^\((\*` + regexp.QuoteMeta(storePath) + `\.(Tenant|Vault|System)|` + regexp.QuoteMeta(storePath) + `\.\w+)\)\.[A-Z]`)

// LoadTyped type-checks packages of the module at root, without their tests. It needs what go build compiles.
func LoadTyped(root string, paths ...string) ([]*packages.Package, error) {
	patterns := make([]string, len(paths))
	for i, path := range paths {
		patterns[i] = "./" + path
	}
	loaded, err := packages.Load(&packages.Config{
		Dir: root, Env: append(os.Environ(), "GOPROXY=off", "GOWORK=off"),
		Mode: packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.PkgPath, e))
		}
	}
	return loaded, err
}

// Reads counts the reads of functions above the store.
type Reads struct {
	Store       map[string]bool        // methods of the store that run SQL; whether they only read
	independent map[string]string      // functions with reads that are combined with none
	funcs       map[string]*storeUse   // by full name
	sums        map[string]*sumOfReads // likewise
}

// storeUse is what one function does with the store.
type storeUse struct{ steps []readStep }

// readStep is a call of a method of the store, or of a function of ours.
type readStep struct {
	callee string
	scope  handleScope // through which handle it reads
	looped bool
	writes bool // it is a write of the store
	within bool // it is in a function that runs in a snapshot or a transaction
}

// handleScope is what opens the transaction of a read.
type handleScope int

const (
	ownScope    handleScope = iota // the function itself: each read is a transaction
	callerScope                    // the caller, which passed the handle
	lateScope                      // the function literal's caller: a snapshot or a transaction
)

// sumOfReads are the reads of a function and of what it calls.
type sumOfReads struct {
	Own    []string // each at its own moment
	Caller []string // in the caller's scope
	Beside []string // on a second connection, within a snapshot or a transaction
	Writes bool
}

// ScanReads reads the store's methods and the functions of other packages.
func ScanReads(loaded []*packages.Package, independent map[string]string) Reads {
	r := Reads{independent: independent, Store: map[string]bool{}, funcs: map[string]*storeUse{}, sums: map[string]*sumOfReads{}}
	queries := map[string]bool{}
	for _, p := range loaded {
		if p.PkgPath == dbgenPath {
			eachFunc(p, func(name string, f *ast.FuncDecl) {
				if sql := sqlOf(p, f); sql != "" {
					queries[name] = writingSQL.MatchString(sql)
				}
			})
		}
	}
	for _, p := range loaded {
		if p.PkgPath == storePath {
			r.scanStore(p, queries)
		}
	}
	for _, p := range loaded {
		if p.PkgPath != storePath && p.PkgPath != dbgenPath {
			eachFunc(p, func(name string, f *ast.FuncDecl) { r.funcs[name] = r.scanFunc(p, f) })
		}
	}
	return r
}

func eachFunc(p *packages.Package, do func(name string, f *ast.FuncDecl)) {
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				do(p.TypesInfo.Defs[f.Name].(*types.Func).FullName(), f)
			}
		}
	}
}

// sqlOf is the statement of a generated query.
func sqlOf(p *packages.Package, f *ast.FuncDecl) string {
	var sql string
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if c, ok := p.TypesInfo.Uses[id].(*types.Const); ok && c.Val().Kind() == constant.String && strings.HasPrefix(constant.StringVal(c.Val()), "-- name:") {
				sql = constant.StringVal(c.Val())
			}
		}
		return true
	})
	return sql
}

// scanStore finds the methods of the store that run queries, themselves or through others.
func (r Reads) scanStore(p *packages.Package, queries map[string]bool) {
	calls := map[string][]string{}
	eachFunc(p, func(name string, f *ast.FuncDecl) {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if fn, ok := p.TypesInfo.Uses[id].(*types.Func); ok {
					calls[name] = append(calls[name], fn.Origin().FullName())
				}
			}
			return true
		})
	})
	var runs func(name string, seen map[string]bool) (some, write bool)
	runs = func(name string, seen map[string]bool) (some, write bool) {
		if seen[name] {
			return false, false
		}
		seen[name] = true
		if w, ok := queries[name]; ok {
			return true, w
		}
		for _, c := range calls[name] {
			s, w := runs(c, seen)
			some, write = some || s, write || w
		}
		return some, write
	}
	r.Store["(*"+storePath+".Tenant).Snapshot"] = true // one moment
	for name := range calls {
		if !handleMethod.MatchString(name) {
			continue
		}
		if some, write := runs(name, map[string]bool{}); some {
			r.Store[name] = !write
		}
	}
}

// isHandle reports whether a type is an entry point of the store to rows, or a part of one.
func isHandle(t types.Type) bool {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == storePath && (named.Obj().Name() == "Vault" || embedsHandle(named))
}

// embedsHandle reports whether a type is a struct with nothing but what the parts of an entry point share.
func embedsHandle(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 1 && s.Field(0).Embedded() && slices.Contains([]string{"tenant", "system"}, s.Field(0).Name())
}

// scanFunc records what a function reads.
func (r Reads) scanFunc(p *packages.Package, f *ast.FuncDecl) *storeUse {
	s := funcScan{reads: r, info: p.TypesInfo, found: &storeUse{}, handles: map[types.Object]handleScope{}}
	s.addHandles(f.Type, callerScope)
	s.walkNode(f.Body, false)
	return s.found
}

type funcScan struct {
	reads   Reads
	info    *types.Info
	found   *storeUse
	handles map[types.Object]handleScope // parameters that are handles
	within  bool
}

// addHandles records the handles among a function's parameters, and reports whether there are any.
func (s *funcScan) addHandles(t *ast.FuncType, scope handleScope) (some bool) {
	for _, field := range t.Params.List {
		for _, name := range field.Names {
			if o := s.info.Defs[name]; o != nil && isHandle(o.Type()) {
				s.handles[o], some = scope, true
			}
		}
	}
	return some
}

func (s *funcScan) walkNode(body ast.Node, looped bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if s.addHandles(n.Type, lateScope) {
				in := *s
				in.within = true
				in.walkNode(n.Body, false)
				return false
			}
		case *ast.ForStmt:
			s.walkNodes(looped, n.Init)
			s.walkNodes(true, n.Cond, n.Post, n.Body)
			return false
		case *ast.RangeStmt:
			s.walkNodes(looped, n.X)
			s.walkNodes(true, n.Body)
			return false
		case *ast.CallExpr:
			s.addCall(n, looped)
		case *ast.SelectorExpr:
			s.addMethodUse(n, looped)
		}
		return true
	})
}

func (s *funcScan) walkNodes(looped bool, nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil && n != ast.Node((*ast.BlockStmt)(nil)) {
			s.walkNode(n, looped)
		}
	}
}

// addMethodUse records the use of a method of the store.
func (s *funcScan) addMethodUse(n *ast.SelectorExpr, looped bool) {
	fn, ok := s.info.Uses[n.Sel].(*types.Func)
	if !ok {
		return
	}
	name := fn.Origin().FullName()
	if only, ok := s.reads.Store[name]; ok {
		s.found.steps = append(s.found.steps, readStep{callee: name, scope: s.scopeOf(n.X), looped: looped, writes: !only, within: s.within})
	}
}

// addCall records the call of a function of ours.
func (s *funcScan) addCall(n *ast.CallExpr, looped bool) {
	var id *ast.Ident
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return
	}
	fn, ok := s.info.Uses[id].(*types.Func)
	if !ok || fn.Pkg() == nil || !strings.HasPrefix(fn.Pkg().Path(), Module+"/") || fn.Pkg().Path() == storePath {
		return
	}
	scope := ownScope
	for _, arg := range n.Args {
		if t := s.info.Types[arg].Type; t != nil && isHandle(t) {
			scope = s.scopeOf(arg)
		}
	}
	s.found.steps = append(s.found.steps, readStep{callee: fn.Origin().FullName(), scope: scope, looped: looped, within: s.within})
}

// scopeOf is the scope of a handle.
func (s *funcScan) scopeOf(e ast.Expr) handleScope {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if scope, ok := s.handles[s.info.Uses[e]]; ok {
			return scope
		}
	case *ast.CallExpr: // a part of a handle
		if of, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) == 0 && s.info.Types[of.X].Type != nil && isHandle(s.info.Types[of.X].Type) {
			return s.scopeOf(of.X)
		}
	}
	return ownScope
}

// sumReads adds up what a function reads, with the functions that it calls.
func (r Reads) sumReads(name string, above map[string]bool) sumOfReads {
	if s := r.sums[name]; s != nil {
		return *s
	}
	f := r.funcs[name]
	if f == nil || above[name] {
		return sumOfReads{}
	}
	above[name] = true
	defer delete(above, name)
	var s sumOfReads
	add := func(to *[]string, looped bool, reads ...string) {
		*to = append(*to, reads...)
		if looped {
			*to = append(*to, reads...)
		}
	}
	for _, step := range f.steps {
		if r.independent[shortName(step.callee)] != "" {
			continue
		}
		own, inCaller, callee := []string{shortName(step.callee)}, []string(nil), sumOfReads{}
		if _, ok := r.Store[step.callee]; ok {
			s.Writes = s.Writes || step.writes
			if step.writes {
				continue
			}
			if step.scope != ownScope {
				own, inCaller = nil, own
			}
		} else {
			callee = r.sumReads(step.callee, above)
			s.Writes = s.Writes || callee.Writes
			inCaller = callee.Caller
			if len(callee.Own) == 0 {
				own = nil
			}
		}
		switch {
		case step.within && len(own) > 0:
			s.Beside = append(s.Beside, own...)
		default:
			add(&s.Own, step.looped, own...)
		}
		switch step.scope {
		case ownScope:
			add(&s.Own, step.looped, inCaller...)
		case callerScope:
			add(&s.Caller, step.looped, inCaller...)
		}
	}
	r.sums[name] = &s
	return s
}

func shortName(name string) string {
	name = strings.TrimPrefix(strings.TrimLeft(strings.ReplaceAll(name, ")", ""), "(*"), Module+"/")
	return strings.TrimPrefix(name, "internal/")
}

// The tree has more of each.
const (
	minStoreReads = 200
	minReaders    = 1500
)

// CheckReads reports the functions above the store that combine reads of different moments, and those that read on
// a second connection within a snapshot or a transaction. A function that also writes is left out: its transaction
// decides. independent and separate are as [IndependentReads] and [SeparateReads].
func CheckReads(loaded []*packages.Package, independent, separate map[string]string) []string {
	r := ScanReads(loaded, independent)
	var wrong []string
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r.funcs)) {
		s, name := r.sumReads(name, map[string]bool{}), shortName(name)
		if separate[name] != "" {
			used[name] = s.isSeparate() || len(s.Beside) > 0
			continue
		}
		if s.isSeparate() {
			wrong = append(wrong, fmt.Sprintf("%s reads at different moments: %s. Use Tenant.Snapshot, or give the reason in SeparateReads", name, strings.Join(s.Own, ", ")))
		}
		if len(s.Beside) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s reads beside its snapshot or transaction, on a second connection: %s", name, strings.Join(s.Beside, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(separate)) {
		if !used[name] {
			wrong = append(wrong, name+" does not read at different moments: take it out of SeparateReads")
		}
	}
	return wrong
}

// CheckReadsSeen reports a scan that found too little to judge.
func CheckReadsSeen(r Reads) []string {
	if len(r.Store) >= minStoreReads && len(r.funcs) >= minReaders {
		return nil
	}
	return []string{fmt.Sprintf("%d methods of the store and %d functions above it are seen, and %d and %d are the least", len(r.Store), len(r.funcs), minStoreReads, minReaders)}
}

func (s sumOfReads) isSeparate() bool { return len(s.Own) >= 2 && !s.Writes }
