package project

import (
	"path"
	"strings"

	"ken/internal/repo"
)

// dotnetProject returns the solution or project file of a directory, "" for none.
func (p *Project) dotnetProject(dir repo.Path) repo.Path {
	for _, pattern := range []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"} {
		if file := p.manifest(dir, pattern); file != "" {
			return file
		}
	}
	return ""
}

// dotnetCommands adds the commands of the dotnet tool with a solution or project.
func (p *Project) dotnetCommands(dir repo.Path, add func(candidate)) {
	file := p.dotnetProject(dir)
	if file == "" {
		return
	}
	offer := func(use purpose, run, key string) {
		add(candidate{
			Command: Command{Run: run, Source: file},
			purpose: use, lang: "dotnet", key: key, order: orderImplied,
		})
	}
	offer(forBuild, "dotnet build "+quotePath(file), "dotnet build")
	text := string(p.text(file))
	solution := strings.HasPrefix(path.Ext(file.Base()), ".sln")
	if solution || strings.Contains(text, "Microsoft.NET.Test.Sdk") {
		offer(forTest, "dotnet test "+quotePath(file), "dotnet test")
	}
	if !solution && (strings.Contains(text, "<OutputType>Exe") || strings.Contains(text, "Microsoft.NET.Sdk.Web")) {
		offer(forRun, "dotnet run --project "+quotePath(file), "dotnet run")
	}
}

// dotnetTest returns the command that runs one test class.
func (p *Project) dotnetTest(test repo.Path) (Command, bool, string) {
	class := strings.TrimSuffix(test.Base(), path.Ext(test.Base()))
	for d := range test.Dir().Upward() {
		for _, pattern := range []string{"*.csproj", "*.fsproj", "*.vbproj"} {
			file := p.manifest(d, pattern)
			if file == "" || !isVariable(class) {
				continue
			}
			run := "dotnet test " + quotePath(file) + " --filter FullyQualifiedName~" + class
			return Command{Run: run, Dir: d, Source: file}, true, ""
		}
	}
	return Command{}, false, "no project file above it"
}
