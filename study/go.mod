module ken/study

go 1.26.0

// A study may import what ken does not export.
replace ken => ../

require golang.org/x/tools v0.52.0

require (
	github.com/bmatcuk/doublestar/v4 v4.10.4 // indirect
	github.com/odvcencio/gotreesitter v0.24.0 // indirect
)

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	ken v0.0.0
)
