package uses_test

import (
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/uses"
)

// readEdges compares the edges of a file of real sources, and the names that are open.
func readEdges(t *testing.T, c resolveCase, open ...string) {
	t.Helper()
	t.Run(c.name, func(t *testing.T) {
		tr := readTree(t, c.archive)
		compareEdges(t, c, tr.edgesOf(t, c.from))
		found, err := newResolver(t, tr).Edges(tr.files[c.from], tr.refs[c.from])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range open {
			if !isOpen(found.Open, name) {
				t.Errorf("%s of %s is settled, it should be open", name, c.from)
			}
		}
	})
}

func newResolver(t *testing.T, tr *tree) *uses.Resolver {
	t.Helper()
	r, err := uses.NewResolver(tr)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func isOpen(list []outline.Use, name string) bool {
	for _, u := range list {
		if u.Name == name {
			return true
		}
	}
	return false
}

func TestPythonSubmoduleBehindStar(t *testing.T) {
	const pkg = `
-- pkg/__init__.py --
from pkg.a import *
-- pkg/a.py --
from pkg import errors

__all__ = ["f"]

def f():
    errors.helper()
-- pkg/b.py --
from pkg import errors

def g():
    errors.helper()
-- pkg/errors.py --
def helper():
    pass
`
	for _, from := range []repo.Path{"pkg/a.py", "pkg/b.py"} {
		readEdges(t, resolveCase{name: string(from), archive: pkg, from: from, want: `pkg/errors.py#helper`})
	}
}

func TestPythonAll(t *testing.T) {
	const pkg = `
-- pkg/__init__.py --
from .shapes import *
from .colors import *

__all__ = ["Circle", "red"]
-- pkg/shapes.py --
from .base import Shape, area

__all__ = ["Circle"]
__all__ += ["_hidden"]

class Circle(Shape):
    pass

class Square(Shape):
    pass

def _hidden():
    pass
-- pkg/colors.py --
from .names import names

__all__ = names + ["red"]

def red():
    pass
-- pkg/names.py --
names = []
-- pkg/base.py --
class Shape:
    pass

def area():
    pass
`
	readEdges(t, resolveCase{name: "a name in __all__ is a use", archive: pkg, from: "pkg/__init__.py", want: `
		pkg/colors.py
		pkg/colors.py#red
		pkg/shapes.py
		pkg/shapes.py#Circle
	`})
	readEdges(t, resolveCase{name: "only names in __all__ pass", archive: pkg + `
-- main.py --
from pkg.shapes import *

Circle()
Square()
_hidden()
area()
`, from: "main.py", want: `
		pkg/shapes.py
		pkg/shapes.py#Circle
		pkg/shapes.py#_hidden
	`})
	readEdges(t, resolveCase{name: "names of an __all__ that is computed", archive: pkg + `
-- main.py --
from pkg import red, names, Square

red()
names.sort()
Square()
`, from: "main.py", want: `
		pkg/__init__.py
		pkg/colors.py#red via pkg/__init__.py
		pkg/names.py#names via pkg/__init__.py
	`}, "Square")
}

func TestPythonModuleGetattr(t *testing.T) {
	const pkg = `
-- pkg/__init__.py --
import importlib

def __getattr__(name):
    return getattr(importlib.import_module(".impl", __name__), name)
-- pkg/impl.py --
class Engine:
    pass
-- pkg/api.py --
from pkg import Engine
`
	readEdges(t, resolveCase{name: "imported", archive: pkg + `
-- main.py --
from pkg import Engine

Engine()
`, from: "main.py", want: `pkg/__init__.py`}, "Engine")
	readEdges(t, resolveCase{name: "through another module", archive: pkg + `
-- main.py --
from pkg.api import Engine

Engine()
`, from: "main.py", want: `
		pkg/__init__.py via pkg/api.py
		pkg/api.py
	`}, "Engine")
	readEdges(t, resolveCase{name: "attribute", archive: pkg + `
-- main.py --
import pkg

pkg.Engine()
`, from: "main.py", want: `pkg/__init__.py`}, "Engine")
	readEdges(t, resolveCase{name: "all names", archive: pkg + `
-- pkg/all.py --
from pkg.impl import *
from pkg import Engine as Motor
-- main.py --
from pkg.all import *

Motor()
`, from: "main.py", want: `
		pkg/__init__.py via pkg/all.py
		pkg/all.py
	`}, "Motor")
}
