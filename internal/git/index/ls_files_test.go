package index

import "testing"

const one = "1111111111111111111111111111111111111111"

// Entries of output that the parser accepts have valid paths in order.
func FuzzLsFiles(f *testing.F) {
	const stat = "  ctime: 1:2\n  mtime: 3:4\n  dev: 5\tino: 6\n  uid: 7\tgid: 8\n  size: 9\tflags: 0\n"
	f.Add("H 100644 " + one + " 0\ta\x00" + stat + "s 100755 " + one + " 0\tb/c\x00" + stat)
	f.Add("M 100644 " + one + " 1\ta\x00M 100644 " + one + " 2\ta\x00M 100644 " + one + " 3\ta\x00")
	f.Add("H 160000 " + one + " 0\t../a\x00")
	f.Add("H 040000 " + one + " 0\ta/\x00")
	f.Add("H 100644")
	f.Fuzz(func(t *testing.T, out string) {
		entries, err := ParseLsFiles(out)
		if err != nil {
			return
		}
		for i, e := range entries {
			if !ValidPath([]byte(e.Path)) || i > 0 && entries[i-1].Path >= e.Path {
				t.Fatalf("invalid path or wrong order: %+v", entries)
			}
		}
	})
}
