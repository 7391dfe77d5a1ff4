// Package words holds identifiers to one word for one idea.
package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// barred are words of identifiers, and of names of files, with what is said for each.
var barred = map[string]string{
	"reach":   "feature bound, weight bound, or what it comes to",
	"bend":    "smoothness, curvature",
	"bent":    "smoothness, curvature",
	"longest": "norm bound, weight bound, or largest",
	"shard":   "party",
	"shards":  "parties",
}

// theirs are names that another library has, by the file which uses one: it can't be called otherwise.
var theirs = map[string]string{"prio/party.go": "Shard"} // circl's, of splitting a measurement

// wordsOf splits a name at capitals, digits, underscores and dots.
func wordsOf(name string) (list []string) {
	start := 0
	cut := func(i int) {
		if i > start {
			list = append(list, strings.ToLower(name[start:i]))
		}
		start = i
	}
	for i, r := range name {
		if !unicode.IsLower(r) {
			cut(i)
		}
		if !unicode.IsLetter(r) {
			start = i + len(string(r))
		}
	}
	cut(len(name))
	return list
}

// found is the first barred word of a name, and what is said for it.
func found(name string) (word, instead string) {
	for _, w := range wordsOf(name) {
		if barred[w] != "" {
			return w, barred[w]
		}
	}
	return "", ""
}

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"openShards": "shards", "shard_test.go": "shard", "Longest": "longest", "reach": "reach", "maxReach2": "reach",
		"unreached": "", "sharded": "", "Reachable": "", "parties": "", "x": "", "ΔReach": "reach",
	} {
		if got, _ := found(name); got != want {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
}

var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]`) // sentences, with verbs

// Identifiers declared anywhere in the repository, and its files, have no barred word.
func TestIdentifiersUseOneWordForOneIdea(t *testing.T) {
	root := os.DirFS("../../..")
	set, files := token.NewFileSet(), 0
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // of a linked worktree
		}
		if word, instead := found(strings.ToLower(d.Name())); word != "" {
			t.Errorf("%s: say %s in place of %q", path, instead, word)
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(set, path, src, 0)
		if err != nil {
			return err
		}
		files++
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !testName.MatchString(id.Name) && theirs[path] != id.Name {
				if word, instead := found(id.Name); word != "" {
					t.Errorf("%v: %s: say %s in place of %q", set.Position(id.Pos()), id.Name, instead, word)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 { // so many there are, and more
		t.Errorf("only %d files were read", files)
	}
}
