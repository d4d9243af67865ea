package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"testing"
	"time"

	"ken/internal/fault"
)

// childEnv makes the test binary a child process that uses the given directory.
const childEnv = "KEN_STATE_CHILD"

func TestMain(m *testing.M) {
	if act := os.Getenv(childEnv); act != "" {
		if err := child(act, os.Args[1]); err != nil {
			fmt.Println(err)
			fmt.Println("hint:", fault.HintOf(err))
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child runs one action in the child process.
func child(act, path string) error {
	ctx := context.Background()
	d, err := Open(path, Options{Names: testNames, Wait: 5 * time.Minute})
	if err != nil {
		return err
	}
	switch act {
	case "count": // one more
		h, err := d.Lock(ctx, "count")
		if err != nil {
			return err
		}
		b, err := d.Read("counter")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		n, _ := strconv.Atoi(string(b))
		return errors.Join(h.Replace("counter", []byte(strconv.Itoa(n+1))), h.Unlock())
	case "hold": // until stdin ends
		h, err := d.Lock(ctx, "hold on")
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, err = io.Copy(io.Discard, os.Stdin)
		return errors.Join(err, h.Unlock())
	case "churn": // until it is killed: everything out, and everything back
		for {
			h, err := d.Lock(ctx, "churn")
			if err != nil {
				return err
			}
			all, err := d.Snapshots(ctx)
			if err != nil {
				return err
			}
			c := Change{Verb: "reset", Time: time.Now(), Keep: 5, Moves: moves(churned...)}
			if len(all) > 0 {
				c = Change{Verb: "restore", Restore: all[0].Name, Keep: 5}
			}
			if _, err := h.Apply(ctx, c); err != nil {
				return err
			}
			fmt.Println("done")
			if err := h.Unlock(); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("unknown act %q", act)
}

// churned are the files that a churning child moves.
var churned = []string{"a", "b", "c", "d", "e", "f"}
