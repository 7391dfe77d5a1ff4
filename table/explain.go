package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// explainNumber says why a text is not a number, and what to write.
func explainNumber(c *Column, text string) error {
	switch shown := quote(text); {
	case isFloat(text) && !(c.decimalComma && strings.Contains(text, ".")):
		return valueError(c.Name, `%s is not a finite number; list it under the schema's "missing" if it stands for a missing value, or write a finite number`, shown)
	case tooLarge(text):
		return valueError(c.Name, `%s is larger than any number of 64 bits; write a finite number (it will be clamped to the range)`, shown)
	case !utf8.ValidString(text):
		return valueError(c.Name, "%s is not a number, and not UTF-8; save the file as UTF-8", shown)
	case dateLayout(text) != "":
		return valueError(c.Name, `%s is a date, not a number; declare the column's kind as "date"`, shown)
	}
	if plain := plainNumber(text); plain != "" {
		if c.decimalComma {
			plain = strings.Replace(plain, ".", ",", 1)
		} else if thousands(text) {
			plain += ", or " + strings.Replace(text, ",", ".", 1) + " if that is what its comma means"
		}
		e := valueError(c.Name, "%s is not a number; write %s", quote(text), plain)
		if _, err := parseNumber(text, true); err == nil && !c.decimalComma {
			e.message += `, or declare what all numbers of the file have: "decimal": ","`
		}
		point := "."
		if c.decimalComma {
			point = comma
		}
		if s := separator(text, point); s != "" && c.Thousands == "" {
			e.separated = true
			e.message += `, or declare the separator of all of them: "thousands": ` + quote(s)
		}
		return e
	}
	if c.Above != nil {
		return valueError(c.Name, `%s is not a number; write one such as 12.5, or give the label "positive" and "negative" texts in the place of "above"`, quote(text))
	}
	return valueError(c.Name, `%s is not a number; write one such as 12.5, list it under the schema's "missing" if it stands for a missing value, or declare the column's kind as "categorical"`, quote(text))
}

// plainNumber is a number that was written for people to read: with a currency, a
// unit, separators of thousands or a decimal comma, or in parentheses as a negative one.
// It is empty for other texts, and for those that say something else by the same signs:
// "<5", "#1", "12k".
func plainNumber(text string) string {
	if inside, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inside, ")") && !strings.ContainsAny(inside, "-−") {
		text = "-" + strings.TrimLeftFunc(inside[:len(inside)-1], func(r rune) bool { return !unicode.IsDigit(r) })
	}
	if len(text) > maxQuoted || strings.ContainsAny(text, "<>≤≥~#/=*?@&|^:;()[]") {
		return ""
	}
	s := strings.TrimFunc(text, func(r rune) bool {
		return !unicode.IsDigit(r) && !strings.ContainsRune(".,-+−", r)
	})
	before, after, _ := strings.Cut(text, s)
	if multiple(after) || letters(before) == 1 || letters(before) > 3 {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\'', r == '’', r == '_':
			return -1
		case r == '−':
			return '-'
		}
		return r
	}, s)
	negative := strings.HasSuffix(s, "-") && !strings.HasPrefix(s, "-") && !strings.HasSuffix(s, ".-") && !strings.HasSuffix(s, ",-") // 12.- is a price
	if s = strings.TrimRight(s, ".,-+"); negative {
		s = "-" + s
	}
	comma, dot := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.')
	switch {
	case comma < 0 && strings.Count(s, ".") < 2:
	case comma > dot && (dot >= 0 || strings.Count(s, ",") == 1 && len(s)-comma != 4): // a decimal comma
		s = strings.ReplaceAll(s[:comma], ".", "") + "." + s[comma+1:]
	case dot > comma && comma < 0:
		s = strings.ReplaceAll(s, ".", "")
	default:
		s = strings.ReplaceAll(s, ",", "")
	}
	if !isFloat(s) {
		return ""
	}
	return s
}

// multiple reports whether what follows a number multiplies it.
func multiple(unit string) bool {
	return slices.Contains([]string{"k", "t", "m", "b", "bn", "mio", "mrd", "tsd", "thousand", "million", "billion"}, skeleton(unit))
}

// letters is how many there are: two or three may be a currency.
func letters(s string) int { return len([]rune(skeleton(s))) }

// separator is what separates the thousands of a number, which has groups of three digits before
// a point, or a comma in its place; empty for other texts.
func separator(text, point string) string {
	text = plainSeparators(text)
	for _, s := range separators {
		if withoutThousands(text, s, point) != text {
			return s
		}
	}
	return ""
}

// thousands reports whether a comma may as well be a decimal one.
func thousands(text string) bool {
	whole, digits, _ := strings.Cut(text, ",")
	return len(digits) == 3 && isFloat(digits) && isFloat(whole) && !strings.Contains(whole, ".")
}

// layouts are common ways to write a date, for suggestions.
var layouts = []string{
	isoDay, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.RFC3339, "2006/01/02", "20060102", "02.01.2006", "2.1.2006",
	"02/01/2006", "01/02/2006", "1/2/2006", "2/1/2006", "02-01-2006", "01-02-2006", "2 Jan 2006", "Jan 2, 2006", "2 January 2006", "January 2, 2006",
}

// dateLayout returns the layout of a text that looks like a date, empty for others.
func dateLayout(text string) string {
	for _, l := range layouts {
		if _, err := time.Parse(l, text); err == nil {
			return l
		}
	}
	return ""
}

// sorted says what sort of wrong date an error is about.
func (e *Error) sorted(sort string) *Error {
	e.sort = sort
	return e
}

// explainDate says why a text is not a date.
func explainDate(c *Column, declared []string, text string) error {
	if l := dateLayout(text); l != "" {
		with, what := withLayout(declared, l), fmt.Sprintf("add %s to them", quote(l))
		if len(with) <= len(declared) {
			gone := slices.DeleteFunc(slices.Clone(declared), func(other string) bool { return slices.Contains(with, other) })
			what = fmt.Sprintf("write %s in the place of %s, by which other texts of that form are read as other days,", quote(l), list(quoted(gone), "and"))
		}
		return valueError(c.Name, `%s is not a date as the schema's "layouts" write it, %s; %s if that is what it means: the column then has "layouts": %s`, quote(text), list(quoted(declared), "or"), what, compact(with)).sorted(l)
	}
	for _, l := range declared {
		var wrong *time.ParseError
		if _, err := time.Parse(l, text); errors.As(err, &wrong) && strings.Contains(wrong.Message, "out of range") {
			return valueError(c.Name, `%s is a date that the calendar doesn't have; correct it, or list it under the schema's "missing" if it stands for a missing value`, quote(text)).sorted("out of range")
		}
	}
	return valueError(c.Name, `%s is not a date; write one as %s, or list it under the schema's "missing" if it stands for a missing value`, quote(text), list(quoted(declared), "or")).sorted("no date")
}

// explainLevel says why a text is no level, and which level is near.
func explainLevel(c *Column, text string) error {
	e := levelError(c, text)
	e.unlisted = text
	return e
}

func levelError(c *Column, text string) *Error {
	levels, what := c.Levels, "one of the column's levels"
	remedy := `correct it, add it to the schema's "levels", or let one of them stand for it by "other"`
	if c.Kind == Binary {
		levels = slices.Concat(c.Positive, c.Negative)
		what = "among the column's positive or negative texts"
		remedy = `correct it, or add it to the schema's "positive" or "negative"`
	}
	if name, how := nearest(text, levels); name != "" {
		if !c.FoldCase && how == inAnotherCase {
			remedy += `; or give the column "fold_case": true`
		}
		return valueError(c.Name, "%s is not %s; the nearest is %s (%s): %s", quote(text), what, quote(name), how, remedy)
	}
	if !utf8.ValidString(text) {
		return valueError(c.Name, "%s is not UTF-8, and not %s; save the file as UTF-8", quote(text), what)
	}
	return valueError(c.Name, "%s is not %s, %s: %s", quote(text), what, list(quoted(levels), "and"), remedy)
}
