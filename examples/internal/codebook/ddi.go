package codebook

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ddi is what is read of a DDI Codebook. Names are of any namespace.
type ddi struct {
	XMLName xml.Name
	Vars    []ddiVar `xml:"dataDscr>var"`
}

type ddiVar struct {
	Name   string `xml:"name,attr"`
	Weight string `xml:"wgt,attr"`
	Label  string `xml:"labl"`
	Valid  []struct {
		Range []struct {
			Min string `xml:"min,attr"`
			Max string `xml:"max,attr"`
		} `xml:"range"`
		Item []ddiItem `xml:"item"`
	} `xml:"valrng"`
	Invalid []struct {
		Item []ddiItem `xml:"item"`
	} `xml:"invalrng"`
	Categories []struct {
		Missing string `xml:"missing,attr"`
		Value   string `xml:"catValu"`
	} `xml:"catgry"`
	Format struct {
		Type     string `xml:"type,attr"`
		Category string `xml:"category,attr"`
	} `xml:"varFormat"`
}

type ddiItem struct {
	Value string `xml:"VALUE,attr"`
}

func parseDDI(text []byte) (*Book, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("it is %s; save it as UTF-8", charset)
	}
	var book ddi
	if err := d.Decode(&book); err != nil {
		line, _ := d.InputPos()
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("line %d: not XML: %s", syntax.Line, syntax.Msg)
		}
		return nil, fmt.Errorf("line %d: not XML: %w", line, err)
	}
	if book.XMLName.Local != "codeBook" {
		return nil, fmt.Errorf("it is XML with the root %q; a DDI Codebook has codeBook, with dataDscr and var (that of DDI Lifecycle isn't read)", book.XMLName.Local)
	}
	b, missing := new(Book), []string(nil)
	for _, of := range book.Vars {
		v, codes, err := of.variable()
		if err != nil {
			return nil, err
		}
		b.Variables = append(b.Variables, v)
		missing = append(missing, codes...)
	}
	b.addMissing(missing)
	return b, nil
}

// variable is what DDI says of one, with its codes of missing values.
func (of ddiVar) variable() (v Variable, missing []string, err error) {
	v.Name, v.Label = strings.TrimSpace(of.Name), strings.Join(strings.Fields(of.Label), " ")
	if of.Weight != "" {
		v.Role = "weight"
	}
	for _, c := range of.Categories {
		value := strings.TrimSpace(c.Value)
		if strings.EqualFold(c.Missing, "Y") {
			missing = append(missing, value)
		} else {
			v.Levels = append(v.Levels, value)
		}
	}
	for _, r := range of.Invalid {
		for _, item := range r.Item {
			missing = append(missing, strings.TrimSpace(item.Value))
		}
	}
	for _, valid := range of.Valid {
		if len(valid.Range) > 0 {
			if err := v.bounds(valid.Range[0].Min, valid.Range[0].Max); err != nil {
				return v, nil, err
			}
		}
		for _, item := range valid.Item {
			if len(of.Categories) == 0 {
				v.Levels = append(v.Levels, strings.TrimSpace(item.Value))
			}
		}
	}
	if len(v.Levels) == 0 || v.Role != "" {
		v.Kind = typed(of.Format.Type) // codes of categories are numeric, too
	}
	if typed(of.Format.Category) != "" {
		v.Kind = typed(of.Format.Category)
	}
	v.settle()
	return v, missing, nil
}
