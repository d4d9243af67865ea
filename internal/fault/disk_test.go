package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ken/internal/fault"
)

func TestDiskHint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("write x: %w", syscall.ENOSPC), "df -h /s"},
		{fmt.Errorf("write x: %w", syscall.EDQUOT), "df -h /s"},
		{fmt.Errorf("write x: %w", syscall.EROFS), "read-only"},
		{fmt.Errorf("write x: %w", syscall.EACCES), "ls -la /s"},
		{fmt.Errorf("write x: %w", syscall.EPERM), "ls -la /s"},
		{errors.Join(nil, &fs.PathError{Op: "open", Path: file, Err: syscall.EACCES}), "ls -la " + fault.Quote(file)},
		{&fs.PathError{Op: "open", Path: "relative", Err: syscall.ENOSPC}, "df -h /s"},
		{&fault.Error{Hint: "its own", Err: syscall.EACCES}, "its own"},
	} {
		got := fault.WithDiskHint(tt.err, "/s")
		if hint := fault.HintOf(got); !strings.Contains(hint, tt.want) || !errors.Is(got, tt.err) {
			t.Errorf("the hint of %v is %q; want one with %q", tt.err, hint, tt.want)
		}
	}
	for _, err := range []error{nil, fs.ErrNotExist, errors.New("x")} {
		if got := fault.WithDiskHint(err, "/s"); got != err { //nolint:errorlint // the same error
			t.Errorf("%v became %v; want it unchanged", err, got)
		}
	}
	busy := fault.WithDiskHint(&fault.Error{Kind: fault.Locked, Err: syscall.EACCES}, "/s")
	if fault.KindOf(busy) != fault.Locked {
		t.Errorf("the kind is %v; want Locked", fault.KindOf(busy))
	}
}
