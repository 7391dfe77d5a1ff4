package door_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// snake writes StepSize as step_size.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Configurations are parts of stored plans and of files that people write: each field of
// each of them has a name in JSON, all in one style.
func TestConfigsHaveNamesInJSON(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() || !strings.HasSuffix(spec.Name.Name, "Config") {
				return true
			}
			structure, ok := spec.Type.(*ast.StructType)
			if !ok { // the interface of predictors' configurations
				return false
			}
			fields := structure.Fields.List
			found[spec.Name.Name] = len(fields)
			for _, f := range fields {
				var tag string
				if f.Tag != nil {
					tag, err = strconv.Unquote(f.Tag.Value)
				}
				if err != nil || len(f.Names) != 1 || reflect.StructTag(tag).Get("json") != snake(f.Names[0].Name) {
					t.Errorf("%s.%v has the tag %q (%v)", spec.Name.Name, f.Names, tag, err)
				}
			}
			return true
		})
	}
	if len(found) != 18 || found["EvaluateConfig"] != 2 || found["NoisyGDConfig"] != 5 {
		t.Errorf("configurations and their numbers of fields are %v", found)
	}
}
