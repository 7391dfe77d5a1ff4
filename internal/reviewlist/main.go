// Reviewlist counts what a review of the guarantee must read: the packages that hold rows, answer
// questions about them, draw noise and account for it, and all packages of this module that these
// import. Files count whole, tests and generated assembly aside; blank lines and comments don't.
//
//	go run ./internal/reviewlist           prints the table of docs/PRIVACY.md
//	go run ./internal/reviewlist -days     prints that of docs/AUDIT.md, in the order of reading
//	go run ./internal/reviewlist -write    puts both there
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	page  = "docs/PRIVACY.md"
	guide = "docs/AUDIT.md"
	begin = "<!-- go run ./internal/reviewlist -write -->\n"
	end   = "<!-- end -->\n"
)

// doors are the packages that rows, answers and messages about rows pass.
var doors = []string{"./internal/release", "./internal/curator/...", "./mechanisms", "./table/party"}

// only says for what use alone a package must be read.
var only = map[string]string{
	"internal/rowfile":        "rows in files",
	"internal/curator/worker": "rows that workers read",
	"table/party":             "rows of several parties",
}

// days are in which order packages are best read, each once.
var days = [][]string{
	{"internal/release", "mechanisms", "internal/digits"},
	{"internal/accounting", "internal/check", "losses"},
	{"internal/curator/internal/encoding", "internal/curator/internal/blocks", "internal/curator/internal/rows", "internal/kernel", "internal/vector"},
	{"internal/curator/internal/questions"},
	{"internal/curator", "internal/curator/internal/solve", "internal/sketch", "internal/rowfile", "internal/curator/worker", "table/party"},
}

func main() {
	log.SetFlags(0)
	write, byDay := flag.Bool("write", false, "put the tables into "+page+" and "+guide), flag.Bool("days", false, "print the table of "+guide)
	flag.Parse()
	table, lines, err := tableOf()
	if err != nil {
		log.Fatal("reviewlist: ", err)
	}
	read, err := daysOf(lines)
	if err != nil {
		log.Fatal("reviewlist: ", err)
	}
	switch {
	case *write:
		if err := errors.Join(replace(page, table), replace(guide, read)); err != nil {
			log.Fatal("reviewlist: ", err)
		}
	case *byDay:
		fmt.Print(read)
	default:
		fmt.Print(table)
	}
}

// daysOf is a line for each day, with its lines of Go.
func daysOf(lines map[string]int) (string, error) {
	var out strings.Builder
	out.WriteString("| day | packages | lines |\n|---|---|---|\n")
	left := maps.Clone(lines)
	for i, day := range days {
		sum, names := 0, make([]string, len(day))
		for k, name := range day {
			if _, there := left[name]; !there {
				return "", fmt.Errorf("%s isn't to be read, or twice", name)
			}
			sum += left[name]
			names[k] = fmt.Sprintf("`%s` (%s)", name, thousands(left[name]))
			delete(left, name)
		}
		fmt.Fprintf(&out, "| %d | %s | %s |\n", i+1, strings.Join(names, ", "), thousands(sum))
	}
	if len(left) > 0 {
		return "", fmt.Errorf("no day has %v", slices.Sorted(maps.Keys(left)))
	}
	return out.String(), nil
}

// tableOf is a line for each package, with its lines of Go, and their sum; and the lines by package.
func tableOf() (string, map[string]int, error) {
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}\t{{.Path}}\t{{$.Dir}}\t{{$.Doc}}{{end}}{{end}}"}, doors...)
	listed, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", nil, fmt.Errorf("go list: %w", err)
	}
	rows, total, always, all := strings.Split(strings.TrimSpace(string(listed)), "\n"), 0, 0, map[string]int{}
	slices.Sort(rows)
	var out strings.Builder
	out.WriteString("| package | | only for | lines |\n|---|---|---|---|\n")
	for _, row := range rows {
		f := strings.SplitN(row, "\t", 4)
		if len(f) < 4 {
			return "", nil, fmt.Errorf("go list: %q", row)
		}
		lines, err := linesIn(f[2])
		if err != nil {
			return "", nil, err
		}
		total += lines
		name := strings.TrimPrefix(f[0], f[1]+"/")
		all[name] = lines
		if only[name] == "" {
			always += lines
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", name, about(f[3]), only[name], thousands(lines))
	}
	fmt.Fprintf(&out, "| all | | | %s |\n| all but what is for some rows only | | | %s |\n", thousands(total), thousands(always))
	return out.String(), all, nil
}

// about is what a package's synopsis says behind the package's name, up to a pause.
func about(synopsis string) string {
	words := strings.Fields(synopsis)
	if len(words) < 3 {
		return ""
	}
	said := strings.TrimSuffix(strings.Join(words[2:], " "), ".")
	for _, pause := range []string{",", ":", ";", " ("} {
		said, _, _ = strings.Cut(said, pause)
	}
	return said
}

// linesIn counts the lines of a directory's Go files that have anything but comments.
func linesIn(dir string) (int, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return 0, err
	}
	total := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		total += codeLines(source)
	}
	return total, nil
}

func codeLines(source []byte) int {
	set := token.NewFileSet()
	place := set.AddFile("", set.Base(), len(source))
	var s scanner.Scanner
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

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// replace puts a table into a page, between the lines around it.
func replace(page, table string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, also := bytes.Cut(rest, []byte(end))
	if !found || !also {
		return fmt.Errorf("%s lacks the lines around the table", page)
	}
	return os.WriteFile(page, slices.Concat(before, []byte(begin), []byte(table), []byte(end), after), 0o644)
}
