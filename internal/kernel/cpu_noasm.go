//go:build !amd64 || purego

package kernel

func detect() level { return portable }
