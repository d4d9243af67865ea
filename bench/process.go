package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A command is one side of a comparison.
type command struct {
	args []string
	dir  string
	env  []string
}

// A result is the cost of one run of a command.
type result struct {
	wall   time.Duration
	cpu    time.Duration // of the process and the ones that it started, on all cores
	stdout []byte
}

// run runs the command and reads its output through a pipe. An exit status other than 0 is an error.
func (c command) run(ctx context.Context) (result, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = c.dir
	cmd.Env = c.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, tail(stderr.Bytes()))
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return result{wall: wall, cpu: cpu, stdout: stdout.Bytes()}, nil
}

// alone runs the command and returns its peak memory in bytes, without its child processes; 0 if the system does not
// tell.
func (c command) alone(ctx context.Context) (int64, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = c.dir
	cmd.Env = c.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	stop := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	peak := stop()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, tail(stderr.Bytes()))
	}
	return peak, nil
}

func tail(b []byte) []byte {
	const most = 2000
	return bytes.TrimSpace(b[max(0, len(b)-most):])
}

// A prepare is what is done around a round. It is not timed.
type prepare func(ctx context.Context, round int) error

// A comparison measures two commands against each other.
type comparison struct {
	ken, other command
	rounds     int
	processor  bool // compare processor time: a busy machine changes it less than wall time
	// before prepares each round, and after cleans up. They may be nil.
	before, after prepare
	// beforeKen prepares each run of ken alone, beforeOther each of the other side. They may be nil.
	beforeKen, beforeOther prepare
	// check returns an error if the output of ken is wrong. It may be nil.
	check func(round int, stdout []byte) error
}

// measure runs the two sides alternately: one round that does not count, then the given rounds. It returns the median
// wall or processor times.
func (d comparison) measure(ctx context.Context) (ken, other time.Duration, err error) {
	var kens, others []time.Duration
	for round := range d.rounds + 1 {
		k, o, err := d.round(ctx, round)
		if err != nil {
			return 0, 0, err
		}
		switch {
		case round == 0:
		case d.processor:
			kens = append(kens, k.cpu)
			others = append(others, o.cpu)
		default:
			kens = append(kens, k.wall)
			others = append(others, o.wall)
		}
	}
	return median(kens), median(others), nil
}

func (d comparison) round(ctx context.Context, n int) (ken, other result, err error) {
	if d.before != nil {
		if err := d.before(ctx, n); err != nil {
			return ken, other, err
		}
	}
	sides := []func() error{
		func() (err error) {
			ken, err = side(ctx, n, d.ken, d.beforeKen)
			if err == nil && d.check != nil {
				err = d.check(n, ken.stdout)
			}
			return err
		},
		func() (err error) {
			other, err = side(ctx, n, d.other, d.beforeOther)
			return err
		},
	}
	if n%2 == 1 {
		slices.Reverse(sides)
	}
	for _, side := range sides {
		if err := side(); err != nil {
			return ken, other, err
		}
	}
	if d.after != nil {
		err = d.after(ctx, n)
	}
	return ken, other, err
}

func side(ctx context.Context, n int, c command, before prepare) (result, error) {
	if before != nil {
		if err := before(ctx, n); err != nil {
			return result{}, err
		}
	}
	return c.run(ctx)
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	n := len(ds)
	return (ds[(n-1)/2] + ds[n/2]) / 2
}
