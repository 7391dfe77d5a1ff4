//go:build !amd64 || purego

package main

func addParts(s *[32]float64, x []float64) { addPartsGo(s, x) }
