package dpglm_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostToRead is how many lines a review may have to read.
const mostToRead = 6600

// docs/PRIVACY.md lists the files that a review must read, package by package, and methods
// that it needn't. The list names files and methods that exist, in all packages that the
// root's guarantee rests on, and says how many lines are left.
func TestReviewList(t *testing.T) {
	page, err := os.ReadFile("docs/PRIVACY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "**What a review must read.**")
	if !found {
		t.Fatal("the page has no such list")
	}
	list, _, _ = strings.Cut(list, "\n## ")
	list, more, _ := strings.Cut(list, "**For answers to queries**")
	queries, more, _ := strings.Cut(more, "**For several classes**")
	classes, more, found := strings.Cut(more, "**With persons, weights or offsets**")
	details, more, _ := strings.Cut(more, "**With the losses of other families**")
	families, more, also := strings.Cut(more, "**For candidates that train together**")
	together, more, _ := strings.Cut(more, "**For rows of up to 16 columns**")
	narrow, more, _ := strings.Cut(more, "**For rows in files**")
	files, more, last := strings.Cut(more, "**For rows that workers read**")
	workers, parties, several := strings.Cut(more, "**For rows of several parties**")
	classes, selections, apart := strings.Cut(classes, "**For sparse selection**")
	if !found || !also || !last || !apart || !several {
		t.Fatal("the page doesn't say what more there is to read")
	}
	packages, total := countedIn(t, list)
	if packages < 9 {
		t.Errorf("the list has %d packages only", packages)
	}
	if total >= mostToRead {
		t.Errorf("a review must read %d lines, and should be spared from %d on", total, mostToRead)
	}
	if says := fmt.Sprintf("%d,%03d lines without comments", total/1000, total%1000); !strings.Contains(list, says) {
		t.Errorf("the page should say %q", says)
	}
	for _, part := range []string{queries, classes, selections, details, families, together, narrow, files, workers, parties} {
		if _, lines := countedIn(t, part); !strings.Contains(part, fmt.Sprintf("%d lines more", lines)) {
			t.Errorf("the page should say \"%d lines more\" in%s", lines, part)
		}
	}
}

// countedIn counts the packages of a list and the lines to read.
func countedIn(t *testing.T, list string) (packages, total int) {
	t.Helper()
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$").FindAllStringSubmatch(list, -1) {
		packages++
		var named, methods []string
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			if strings.HasSuffix(name[1], ".go") {
				named = append(named, name[1])
			} else {
				methods = append(methods, name[1])
			}
		}
		total += linesToRead(t, row[1], named, methods, strings.HasPrefix(row[2], "all"))
	}
	return packages, total
}

// linesToRead counts the lines of a package's files, all but the named ones or these
// alone, without the methods that are called as methods says. Nothing that is counted may
// call one of these.
func linesToRead(t *testing.T, dir string, named, methods []string, allBut bool) int {
	t.Helper()
	for _, name := range named {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the page names %s of %s: %v", name, dir, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files (%v)", dir, err)
	}
	total, seen := 0, map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(named, filepath.Base(file)) == allBut {
			continue
		}
		lines := codeLines(t, file)
		for name, spans := range spared(t, file, methods) {
			seen[name] = true
			for _, s := range spans {
				for line := s[0]; line <= s[1]; line++ {
					delete(lines, line)
				}
			}
		}
		total += len(lines)
	}
	for _, name := range methods {
		if !seen[name] {
			t.Errorf("the page names methods %s of %s: there are none", name, dir)
		}
	}
	return total
}

// spared finds the methods of a file that are called as names says: their first and last
// lines. What else is declared there must call none.
func spared(t *testing.T, file string, names []string) map[string][][2]int {
	t.Helper()
	set, found := token.NewFileSet(), map[string][][2]int{}
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && slices.Contains(names, f.Name.Name) {
			found[f.Name.Name] = append(found[f.Name.Name], [2]int{set.Position(f.Pos()).Line, set.Position(f.End()).Line})
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) {
				t.Errorf("%s calls %s, which the page says needn't be read", set.Position(call.Pos()), s.Sel.Name)
			}
			return true
		})
	}
	return found
}

// codeLines are the lines of a file that have anything but comments.
func codeLines(t *testing.T, file string) map[int]bool {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	if _, err := parser.ParseFile(set, file, source, parser.PackageClauseOnly); err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	place := set.AddFile(file, set.Base(), len(source))
	s.Init(place, source, nil, 0)
	lines := map[int]bool{}
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind != token.SEMICOLON || text == ";" {
			lines[place.Line(at)] = true
		}
	}
}
