// Package inference holds intervals against known truth: how often they cover, what they say of
// little data, of rare levels and of nothing.
package inference
