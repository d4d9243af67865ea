package outline

import (
	"bytes"
	"path"
	"strings"

	"ken/internal/repo"
)

// A Language is a language that outlines support. The zero value is Unknown.
type Language string

// The languages.
const (
	Unknown    Language = ""
	Bash       Language = "shell"
	C          Language = "c"
	CPP        Language = "c++"
	CSharp     Language = "c#"
	Go         Language = "go"
	Java       Language = "java"
	JavaScript Language = "javascript" // and JSX
	Markdown   Language = "markdown"
	PHP        Language = "php"
	Python     Language = "python"
	Ruby       Language = "ruby"
	Rust       Language = "rust"
	TSX        Language = "tsx"
	TypeScript Language = "typescript"
)

// LanguageOf returns the language of a file by its name, or by the program in its first line.
func LanguageOf(p repo.Path, content []byte) Language {
	base := strings.ToLower(p.Base())
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		ext := base[i+1:]
		if p.Base() != base && strings.HasSuffix(p.Base(), ".C") { // by convention C++
			return CPP
		}
		if lang := languageOfExt(ext); lang != Unknown {
			return lang
		}
	}
	switch base {
	case "rakefile", "gemfile", "guardfile", "vagrantfile", "podfile", "brewfile", "capfile", "fastfile", "config.ru":
		return Ruby
	case "sconstruct", "sconscript", "wscript":
		return Python
	case ".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".envrc", "pkgbuild", "apkbuild":
		return Bash
	}
	return languageOfShebang(content)
}

// MayHaveOutline reports whether a file may have an outline, by its name alone. A file without an extension may
// name its language in its first line.
func MayHaveOutline(p repo.Path) bool {
	return LanguageOf(p, nil) != Unknown || path.Ext(p.Base()) == ""
}

func languageOfExt(ext string) Language {
	switch ext {
	case "go":
		return Go
	case "py", "pyi", "pyw":
		return Python
	case "js", "jsx", "mjs", "cjs":
		return JavaScript
	case "ts", "mts", "cts", "svelte", "vue", "astro": // see component.go
		return TypeScript
	case "tsx":
		return TSX
	case "rs":
		return Rust
	case "java":
		return Java
	case "c", "h":
		return C
	case "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "ixx", "cppm", "tcc", "tpp":
		return CPP
	case "cs", "csx":
		return CSharp
	case "rb", "rake", "gemspec", "ru", "podspec":
		return Ruby
	case "php", "phtml", "php5", "php7":
		return PHP
	case "sh", "bash", "ksh", "zsh", "bats", "ebuild":
		return Bash
	case "md", "markdown", "mdown", "mkd":
		return Markdown
	}
	return Unknown
}

// languageOfShebang returns the language of a script by its #! line.
func languageOfShebang(content []byte) Language {
	line, _, _ := bytes.Cut(content[:min(len(content), 256)], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return Unknown
	}
	words := strings.Fields(string(rest))
	for i, word := range words {
		name := strings.TrimRight(word[strings.LastIndexByte(word, '/')+1:], "0123456789.")
		switch name {
		case "sh", "bash", "dash", "ash", "ksh", "zsh", "bats":
			return Bash
		case "python", "pypy":
			return Python
		case "ruby", "jruby":
			return Ruby
		case "node", "nodejs", "bun":
			return JavaScript
		case "deno", "ts-node", "tsx":
			return TypeScript
		case "php":
			return PHP
		case "env":
			continue
		}
		if i > 0 && (strings.HasPrefix(word, "-") || strings.ContainsRune(word, '=')) {
			continue // an option of env, or a variable
		}
		break
	}
	return Unknown
}
