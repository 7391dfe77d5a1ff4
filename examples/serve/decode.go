package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// wanted is what the body of a request should be.
const wanted = `give a record such as {"age": 64, "ward": "icu"}, or a list of records`

// decode reads a record or a list of records, whose fields are texts, numbers, or null for
// a missing value, and calls add with each, which the next one replaces. A number's fraction comes after what stands for a point in the
// schema's texts.
func decode(body io.Reader, point string, add func(record map[string]string) error) error {
	d := json.NewDecoder(body)
	d.UseNumber()
	first, err := d.Token()
	if err == io.EOF {
		return errors.New("the body is empty: " + wanted)
	}
	if err != nil {
		return cut(err)
	}
	r := records{d, map[string]string{}, 0, point, add}
	switch first {
	case json.Delim('{'):
		err = r.record()
	case json.Delim('['):
		err = r.list()
	default:
		return errors.New(wanted)
	}
	if err != nil {
		return cut(err)
	}
	if _, err := d.Token(); err != io.EOF {
		var syntax *json.SyntaxError
		if err != nil && !errors.As(err, &syntax) {
			return err
		}
		return errors.New("something follows the record; put records into a list")
	}
	if r.count == 0 {
		return errors.New("there must be at least 1 record: " + wanted)
	}
	return nil
}

// cut says of a body that ends too early what it should be.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the body ends before its JSON does: %s (%w)", wanted, err)
	}
	return err
}

// records reads them one by one.
type records struct {
	*json.Decoder
	last  map[string]string
	count int
	point string
	add   func(record map[string]string) error
}

// list reads records up to the list's end.
func (r *records) list() error {
	for r.More() {
		if t, err := r.token(); err != nil {
			return err
		} else if t != json.Delim('{') {
			return fmt.Errorf("record %d is none: %s", r.count+1, wanted)
		}
		if err := r.record(); err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// record reads the fields of a record up to its end.
func (r *records) record() error {
	clear(r.last)
	r.count++
	for r.More() {
		name, err := r.token()
		if err != nil {
			return err
		}
		value, err := r.token()
		if err != nil {
			return err
		}
		switch v := value.(type) {
		case nil:
			r.last[name.(string)] = ""
		case string:
			r.last[name.(string)] = v
		case json.Number:
			r.last[name.(string)] = strings.Replace(v.String(), ".", r.point, 1)
		default:
			return fmt.Errorf("record %d, column %q: a field must be a text, a number or null", r.count, name)
		}
	}
	if _, err := r.token(); err != nil {
		return err
	}
	return r.add(r.last)
}

// token is the next one, where the body mustn't end.
func (r *records) token() (json.Token, error) {
	t, err := r.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}
