package dpglm_test

import (
	"fmt"
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
const mostToRead = 6200

// docs/PRIVACY.md lists the files that a review must read, package by package. The list
// names files that exist, in all packages that the root's guarantee rests on, and says
// how many lines they have.
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
	packages, total := 0, 0
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$").FindAllStringSubmatch(list, -1) {
		packages++
		var named []string
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			named = append(named, name[1])
		}
		total += linesToRead(t, row[1], named, strings.HasPrefix(row[2], "all"))
	}
	if packages < 9 {
		t.Errorf("the list has %d packages only", packages)
	}
	if total >= mostToRead {
		t.Errorf("a review must read %d lines, and should be spared from %d on", total, mostToRead)
	}
	if says := fmt.Sprintf("%d,%03d lines without comments", total/1000, total%1000); !strings.Contains(list, says) {
		t.Errorf("the page should say %q", says)
	}
}

// linesToRead counts the lines of a package's files: all but the named ones, or these
// alone.
func linesToRead(t *testing.T, dir string, named []string, allBut bool) int {
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
	total := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(named, filepath.Base(file)) == allBut {
			continue
		}
		total += codeLines(t, file)
	}
	return total
}

// codeLines counts the lines of a file that have anything but comments.
func codeLines(t *testing.T, file string) int {
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
			return len(lines)
		}
		if kind != token.SEMICOLON || text == ";" {
			lines[place.Line(at)] = true
		}
	}
}
