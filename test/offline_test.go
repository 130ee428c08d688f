//go:build offline

package test

const vendorsBuiltIn = false
