package page

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Read returns the facts that a page states, by their names: "protects", "date", "library", "data",
// "program", "commit", "schema", "command", "ledger", those of the tiles as "ε", and "total", "left"
// and "entry" where there was a budget's file. It fails for what Write hasn't written.
func Read(r io.Reader) (map[string]string, error) {
	d := xml.NewDecoder(r)
	d.Entity = xml.HTMLEntity
	facts := map[string]string{}
	name, depth := "", 0 // of the fact that is read, and of elements in it
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("this is no page that csvfit fit -report wrote: %w", err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			if name != "" {
				depth++
				continue
			}
			for _, a := range v.Attr {
				if a.Name.Local == "data-fact" {
					if _, twice := facts[a.Value]; twice {
						return nil, fmt.Errorf("the page states %q twice", a.Value)
					}
					name, facts[a.Value] = a.Value, ""
				}
			}
		case xml.EndElement:
			if depth--; name != "" && depth < 0 {
				facts[name] = strings.TrimSpace(facts[name])
				name = ""
			}
			depth = max(depth, 0)
		case xml.CharData:
			if name != "" {
				facts[name] += string(v)
			}
		}
	}
	if facts["ledger"] == "" {
		return nil, errors.New("this is no page that csvfit fit -report wrote: it has no ledger")
	}
	return facts, nil
}
