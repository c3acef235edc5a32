// Package pages checks what the repository's pages and package documentation promise.
//
// Every relative link of a Markdown file leads to a file and, where it names one, to a
// heading in it. Go code that is shown there parses, and names what the public packages
// export. Every make and go command there, and in a doc.go, names a target or package
// that there is, and flags that its program has.
package pages
