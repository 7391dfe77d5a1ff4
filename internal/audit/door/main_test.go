package door_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain runs the tests in the module's root, as their paths and lists begin there. It looks
// at every source: that tells the go command when a cached result is stale, as none of what is
// tested here is compiled into the test.
func TestMain(m *testing.M) {
	if err := toRoot(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func toRoot() error {
	dir, err := os.Getwd()
	for err == nil {
		if _, e := os.Stat(filepath.Join(dir, "go.mod")); e == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return fmt.Errorf("no go.mod above")
		}
		dir = filepath.Dir(dir)
	}
	if err != nil {
		return err
	}
	sources := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); ext == ".go" || ext == ".s" || ext == ".mod" {
			sources++
			_, err = os.Stat(path)
		}
		return err
	})
	if err == nil && sources < 100 {
		err = fmt.Errorf("only %d sources were found below %s", sources, dir)
	}
	if err != nil {
		return err
	}
	return os.Chdir(dir)
}
