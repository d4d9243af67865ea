package state

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"ken/internal/fault"
)

func TestDiskHint(t *testing.T) {
	d := openDir(t, t.TempDir(), Options{})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("write x: %w", syscall.ENOSPC), "df -h " + fault.Quote(d.path)},
		{fmt.Errorf("write x: %w", syscall.EDQUOT), "df -h " + fault.Quote(d.path)},
		{fmt.Errorf("write x: %w", syscall.EROFS), "read-only"},
		{fmt.Errorf("write x: %w", syscall.EACCES), "ls -la " + fault.Quote(d.path)},
		{fmt.Errorf("write x: %w", syscall.EPERM), "ls -la " + fault.Quote(d.path)},
		{&fault.Error{Hint: "its own", Err: syscall.EACCES}, "its own"},
	} {
		got := d.WithDiskHint(tt.err)
		if hint := fault.HintOf(got); !strings.Contains(hint, tt.want) || !errors.Is(got, tt.err) {
			t.Errorf("the hint of %v is %q; want one with %q", tt.err, hint, tt.want)
		}
	}
	for _, err := range []error{nil, fs.ErrNotExist, errors.New("x")} {
		if got := d.WithDiskHint(err); got != err { //nolint:errorlint // the same error
			t.Errorf("%v became %v; want it unchanged", err, got)
		}
	}
	busy := d.WithDiskHint(&fault.Error{Kind: fault.Locked, Err: syscall.EACCES})
	if fault.KindOf(busy) != fault.Locked {
		t.Errorf("the kind is %v; want Locked", fault.KindOf(busy))
	}
}
