package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Mutant is a file of a package with one change.
type Mutant struct {
	ID       string `json:"id"` // of the text that changes, and where in a function it is the how-manieth
	Package  string `json:"package"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Func     string `json:"func"`
	Operator string `json:"operator"`
	Before   string `json:"before"` // the lines that change, and what they become
	After    string `json:"after"`

	from, to int // what of the file is replaced
	text     string
}

// swapped are the operators that take each other's place.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.QUO, token.QUO: token.MUL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
}

// functions are those that take each other's place.
var functions = map[string]string{
	"min": "max", "max": "min", "math.Min": "math.Max", "math.Max": "math.Min",
	"math.Floor": "math.Ceil", "math.Ceil": "math.Floor",
}

// dropped are functions that are left out of what they are applied to.
var dropped = map[string]bool{"math.Sqrt": true, "math.Abs": true}

// collector makes the mutants of a file.
type collector struct {
	fset *token.FileSet
	src  []byte
	of   Mutant // what all of a function have in common
	list []Mutant
	seen map[string]int
}

// mutantsOf are the mutants of a package's files, tests and generated ones aside, in their order.
func mutantsOf(pkg string) (list []Mutant, err error) {
	names, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c := &collector{fset: token.NewFileSet(), src: src, seen: map[string]int{}}
		f, err := parser.ParseFile(c.fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			c.of = Mutant{Package: pkg, File: filepath.ToSlash(name), Func: "(none)"}
			switch d := d.(type) {
			case *ast.FuncDecl:
				c.of.Func = funcName(d)
				if d.Body != nil && !quiet[d.Name.Name] {
					ast.Inspect(d.Body, c.visit)
				}
			case *ast.GenDecl:
				if d.Tok == token.CONST || d.Tok == token.VAR {
					ast.Inspect(d, c.visit)
				}
			}
		}
		list = append(list, c.list...)
	}
	return list, nil
}

// quiet are methods that are for readers alone.
var quiet = map[string]bool{"String": true, "GoString": true, "Format": true}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	if g, ok := of.(*ast.IndexExpr); ok {
		of = g.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

func (c *collector) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok && !isText(n.X) && !isText(n.Y) {
			c.add(n.Op.String(), n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String())
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			c.add("first condition dropped", n.X.Pos(), n.Y.Pos(), "")
			c.add("last condition dropped", n.X.End(), n.Y.End(), "")
		}
	case *ast.CompositeLit:
		c.literalOf(n)
	case *ast.BasicLit:
		c.literal(n)
	case *ast.CallExpr:
		if name := c.text(n.Fun); name == "math.Inf" || name == "math.IsInf" { // of whose number the sign alone counts
			return false
		}
		c.call(n)
	case *ast.IfStmt:
		c.add("if negated", n.Cond.Pos(), n.Cond.End(), "!("+c.text(n.Cond)+")")
		if n.Else == nil && n.Init == nil {
			c.add("if deleted", n.Cond.Pos(), n.Cond.End(), "false && ("+c.text(n.Cond)+")")
		}
	case *ast.AssignStmt:
		if to, ok := swapped[n.Tok]; ok {
			c.add(n.Tok.String(), n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), to.String())
		}
		if n.Tok != token.DEFINE {
			c.add("statement deleted", n.Pos(), n.End(), blanked(n.Lhs, c))
		}
	case *ast.ExprStmt:
		c.add("statement deleted", n.Pos(), n.End(), "")
	case *ast.DeferStmt:
		c.add("statement deleted", n.Pos(), n.End(), "")
	case *ast.IncDecStmt:
		c.add("statement deleted", n.Pos(), n.End(), blanked([]ast.Expr{n.X}, c))
	case *ast.ReturnStmt:
		c.returned(n)
	case *ast.RangeStmt:
		if n.Value == nil {
			c.add("one round fewer", n.X.Pos(), n.X.End(), "("+c.text(n.X)+")-1")
		}
	}
	return true
}

// blanked uses what a deleted statement set, so that what is left compiles.
func blanked(lhs []ast.Expr, c *collector) string {
	var used []string
	for _, x := range lhs {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
			used = append(used, "_ = "+c.text(x))
		}
	}
	return strings.Join(used, "; ")
}

func isText(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	if b, more := e.(*ast.BinaryExpr); more {
		return isText(b.X) || isText(b.Y)
	}
	return ok && l.Kind == token.STRING
}

func (c *collector) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		c.add("constant + 1", n.Pos(), n.End(), "("+n.Value+"+1)")
		if n.Value != "0" && n.Value != "1" {
			c.add("constant − 1", n.Pos(), n.End(), "("+n.Value+"-1)")
		}
	case token.FLOAT:
		if strings.Trim(n.Value, "0.") == "" { // twice 0 is 0
			return
		}
		c.add("constant doubled", n.Pos(), n.End(), "(2*"+n.Value+")")
	}
}

// literalOf leaves out what a literal gives a name to, one at a time: a field, which then is zero.
func (c *collector) literalOf(n *ast.CompositeLit) {
	for k, e := range n.Elts {
		e, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		if _, named := e.Key.(*ast.Ident); !named {
			return
		}
		if k == 0 && len(n.Elts) > 1 {
			c.add("field left out", e.Pos(), n.Elts[1].Pos(), "")
		} else if k == 0 {
			c.add("field left out", e.Pos(), e.End(), "")
		} else {
			c.add("field left out", n.Elts[k-1].End(), e.End(), "")
		}
	}
}

func (c *collector) call(n *ast.CallExpr) {
	name := c.text(n.Fun)
	if to, ok := functions[name]; ok {
		c.add(name, n.Fun.Pos(), n.Fun.End(), to)
	}
	if dropped[name] {
		c.add(name+" dropped", n.Fun.Pos(), n.Fun.End(), "")
	}
}

// returned makes an error that is returned nil.
func (c *collector) returned(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	failed := false
	switch x := last.(type) {
	case *ast.Ident:
		failed = x.Name == "err" || strings.HasPrefix(x.Name, "err") || strings.HasPrefix(x.Name, "Err")
	case *ast.CallExpr:
		name := c.text(x.Fun)
		failed = name == "check.Fail" || name == "refused" || name == "fmt.Errorf" || name == "errors.Join" || strings.HasSuffix(name, ".refuse") || strings.HasPrefix(name, "check.")
	}
	if failed {
		c.add("error dropped", last.Pos(), last.End(), "nil")
	}
}

func (c *collector) text(n ast.Node) string {
	return string(c.src[c.offset(n.Pos()):c.offset(n.End())])
}

func (c *collector) offset(p token.Pos) int { return c.fset.Position(p).Offset }

// add adds a mutant in which the text from one place to another is another one.
func (c *collector) add(operator string, from, to token.Pos, text string) {
	m := c.of
	m.Operator, m.from, m.to, m.text = operator, c.offset(from), c.offset(to), text
	m.Line = c.fset.Position(from).Line
	first := strings.LastIndexByte(string(c.src[:m.from]), '\n') + 1
	last := m.to + strings.IndexByte(string(c.src[m.to:])+"\n", '\n')
	m.Before = strings.TrimSpace(string(c.src[first:last]))
	m.After = strings.TrimSpace(string(c.src[first:m.from]) + text + string(c.src[m.to:last]))
	key := strings.Join([]string{m.Package, m.Func, operator, m.Before, m.After}, "\x00")
	c.seen[key]++
	sum := sha256.Sum256(fmt.Append(nil, key, c.seen[key]))
	m.ID = hex.EncodeToString(sum[:6])
	c.list = append(c.list, m)
}

// mutated is the file with the change.
func (m *Mutant) mutated() ([]byte, error) {
	src, err := os.ReadFile(filepath.FromSlash(m.File))
	if err != nil {
		return nil, err
	}
	return append(append(append([]byte{}, src[:m.from]...), m.text...), src[m.to:]...), nil
}
