package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// separateReads are the functions that read at different moments, each with the reason.
var separateReads = map[string]string{
	"tenant.computeAudit":      "entries are only added: the chain is followed to the end that was read first, and read again where its beginning was cut off meanwhile",
	"tenant.computeOutcomes":   "links are only added: the chain is followed to the end that was read first, and read again where its beginning was cut off meanwhile",
	"tenant.walkOutcomes":      "as computeOutcomes; a snapshot of minutes would keep the database from removing dead rows",
	"tenant.followOutcomes":    "as computeOutcomes",
	"Audit.Export":             "entries are only added, and the export ends where its caller says",
	"tenant.lastCut":           "a cut is only added, and the entry that tells of it before the links go",
	"tenant.outcomeHead":       "the second statement only explains that the first found no row",
	"Audit.OutcomeState":       "as outcomeHead",
	"tenant.pendingEvents":     "its caller has the snapshot",
	"tenant.pendingCalls":      "its caller has the snapshot",
	"tenant.chooseAccountName": "a trigger decides; the reads give its refusal early",
	"Accounts.FullName":        "as chooseAccountName",
	"Syncs.ChooseForSyncs":     "as chooseAccountName",
	"Vault.SyncSecret":         "the second statement is only for a connector without a chosen account",
	"Vault.SyncGrant":          "as SyncSecret",
	"Vault.syncAccount":        "as SyncSecret",
	"People.Sessions":          "the second statement only explains that the first found no row",
	"SSO.MemberBySubject":      "the second statement reads what the first names, or finds no member",
	"Agents.List":              "as findAgents",
	"tenant.findAgents":        "only one of the two runs",
	"Lists.CallParts":          "only one of the two runs",
	"System.TenantByRef":       "only one of the two runs",
	".KMSKey":                  "at the start of the program: the second statement only explains that the first found no row",

	".ConnectorState": "in the transaction of an act, which has locked out the tenant's other acts",

	"tenant.toolsOrdered": "its caller has the snapshot", "tenant.connectorsOrdered": "its caller has the snapshot",
}

// One moment for all statements of a read: either one query, or runReadBatch, Snapshot, or the transaction of an act.
func TestReadsOfManyStatementsAreSnapshots(t *testing.T) {
	t.Parallel()
	s := scanStore(t)
	if len(s.reads) < 100 || len(s.funcs) < 400 {
		t.Fatalf("only %d queries that read and %d functions are seen", len(s.reads), len(s.funcs))
	}
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.funcs)) {
		reads, writes := s.queriesOf(name, map[string]bool{})
		if writes || len(reads) < 2 {
			continue
		}
		if separateReads[name] != "" {
			used[name] = true
			continue
		}
		t.Errorf("%s reads %s at different moments: use runReadBatch or Snapshot, or give the reason in separateReads", name, strings.Join(reads, ", "))
	}
	for name := range separateReads {
		if !used[name] {
			t.Errorf("separateReads names %s, which has not two reads outside of a snapshot", name)
		}
	}
	if users := s.usersOf("runBatch"); !slices.Equal(users, []string{"SystemSyncs.ClaimDue", "scope.runReadBatch"}) {
		t.Errorf("runBatch is used by %v: reads use runReadBatch", users)
	}
}

// storeScan is the source of package store, as far as its queries are concerned.
type storeScan struct {
	reads map[string]bool       // queries of dbgen, by their methods; whether they only read
	funcs map[string]*storeFunc // by receiver and name
}

type storeFunc struct {
	queries []string // that it runs outside of a transaction
	calls   []string // functions of the package that it may call
	users   []string // scope methods that it uses
}

// enclosing are the functions that run what they are given in one transaction, or see to one moment.
var enclosing = []string{"Tx", "inTx", "ensureTx", "inTx", "inSnapshot", "Snapshot", "runReadBatch", "runBatch", "runPipeline"}

func scanStore(t *testing.T) storeScan {
	t.Helper()
	s := storeScan{reads: map[string]bool{}, funcs: map[string]*storeFunc{}}
	query := regexp.MustCompile("(?s)-- name: (\\w+) :\\w+\n(.*?)`")
	writes := regexp.MustCompile(`(?i)\b(insert into|delete from|update \w+\s+set|for (no key )?(update|share)|for key share|pg_advisory\w*|nextval|set_config)\b`)
	generated, err := filepath.Glob("dbgen/*.sql.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range generated {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range query.FindAllSubmatch(text, -1) {
			s.reads[string(q[1])] = !writes.Match(q[2])
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
				s.scanFunc(f)
			}
		}
	}
	return s
}

func (s storeScan) scanFunc(f *ast.FuncDecl) {
	door, self := receiver(f)
	found := &storeFunc{}
	s.funcs[door+"."+f.Name.Name] = found
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		if name, is := call.Fun.(*ast.Ident); is {
			found.calls = append(found.calls, "."+name.Name)
			return true
		}
		called, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		if slices.Contains(enclosing, called.Sel.Name) {
			found.users = append(found.users, called.Sel.Name)
			return false
		}
		switch of := called.X.(type) {
		case *ast.SelectorExpr:
			if of.Sel.Name == "q" {
				found.queries = append(found.queries, called.Sel.Name)
			}
		case *ast.Ident:
			if of.Name == "q" {
				found.queries = append(found.queries, called.Sel.Name)
			}
			if of.Name == self {
				found.calls = append(found.calls, door+"."+called.Sel.Name, "tenant."+called.Sel.Name, "system."+called.Sel.Name)
			}
		case *ast.CallExpr:
			if part := partOfSelf(of, self); part != "" {
				found.calls = append(found.calls, part+"."+called.Sel.Name, "System"+part+"."+called.Sel.Name)
			}
		}
		return true
	})
}

// partOfSelf is the part of an entry point that a method gets from its own receiver: "Calls" of t.asTenant().Calls().
func partOfSelf(call *ast.CallExpr, self string) string {
	part, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	of := part.X
	if entry, is := of.(*ast.CallExpr); is {
		if as, is := entry.Fun.(*ast.SelectorExpr); is && strings.HasPrefix(as.Sel.Name, "as") {
			of = as.X
		}
	}
	if name, is := of.(*ast.Ident); !is || name.Name != self {
		return ""
	}
	return part.Sel.Name
}

// receiver is the type of a method's receiver, and its name; both empty of a function.
func receiver(f *ast.FuncDecl) (door, self string) {
	if f.Recv == nil {
		return "", ""
	}
	of := f.Recv.List[0]
	typ := of.Type
	if pointer, is := typ.(*ast.StarExpr); is {
		typ = pointer.X
	}
	if name, is := typ.(*ast.Ident); is {
		door = name.Name
	}
	if len(of.Names) > 0 {
		self = of.Names[0].Name
	}
	return door, self
}

// queriesOf are the queries that a function runs outside of a transaction, with those of the functions that it calls.
func (s storeScan) queriesOf(name string, seen map[string]bool) (reads []string, writes bool) {
	f := s.funcs[name]
	if f == nil || seen[name] {
		return nil, false
	}
	seen[name] = true
	defer delete(seen, name)
	for _, q := range f.queries {
		read, known := s.reads[q]
		writes = writes || known && !read
		reads = append(reads, q)
	}
	for _, c := range f.calls { // of a method, also under the name of what its type embeds
		more, w := s.queriesOf(c, seen)
		reads, writes = append(reads, more...), writes || w
	}
	return reads, writes
}

func (s storeScan) usersOf(method string) (users []string) {
	for name, f := range s.funcs {
		if slices.Contains(f.users, method) {
			users = append(users, name)
		}
	}
	slices.Sort(users)
	return users
}
