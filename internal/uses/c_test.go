package uses_test

import "testing"

func TestC(t *testing.T) {
	runCases(t, []resolveCase{
		{
			name: "includes, declarations in headers and their definitions",
			archive: `
				-- src/net.h --
				import base/types.h
				decl func net_open
				decl struct conn
				decl field conn.fd
				-- src/net.c --
				import net.h
				decl func net_open
				-- include/base/types.h --
				decl type u32
				-- src/string.h --
				decl func own
				-- src/main.c --
				import net.h
				import stdio.h
				import string.h
				import ../missing.h
				call net_open
				use u32
				use conn.fd
				call printf
				use own
			`,
			from: "src/main.c",
			want: `
				include/base/types.h#u32
				likely src/net.c#net_open
				src/net.h
				src/net.h#conn.fd
				src/net.h#net_open
			`,
		},
		{
			name: "headers for different systems declare one name",
			archive: `
				-- uv.h --
				import win.h
				decl func uv_run
				-- win.h --
				decl struct uv_buf
				decl struct uv_req.connect
				-- unix.h --
				decl struct uv_buf
				-- main.c --
				import uv.h
				use uv_buf
				call uv_run
				call connect
			`,
			from: "main.c",
			want: `
				uv.h
				uv.h#uv_run
				likely win.h#uv_buf
			`,
		},
		{
			name: "a header whose path several files end with is ambiguous",
			archive: `
				-- a/config.h --
				-- b/config.h --
				-- b/util/util.h --
				-- src/main.cpp --
				import config.h
				import util/util.h
			`,
			from: "src/main.cpp",
			want: `
				b/util/util.h
				ambiguous 1
			`,
		},
		{
			name: "namespaces, and headers that include each other",
			archive: `
				-- lib/a.hpp --
				import b.hpp
				decl class ns.Widget
				decl method ns.Widget.draw
				-- lib/b.hpp --
				import a.hpp
				decl func ns.helper
				-- lib/a.cpp --
				decl method ns.Widget.draw
				-- main.cpp --
				import lib/a.hpp
				call ns::helper
				call Widget::draw
				use Widget
			`,
			from: "main.cpp",
			want: `
				likely lib/a.cpp#ns.Widget.draw
				lib/a.hpp
				lib/a.hpp#ns.Widget
				lib/a.hpp#ns.Widget.draw
				lib/b.hpp#ns.helper
			`,
		},
	})
}
